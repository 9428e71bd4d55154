// The places of the running program's files: plugins, and the virtual GPU.
//
// The build tree and the install tree have the same layout, and no path is compiled in, so both
// are relocatable:
//
//     PREFIX/bin/halyard
//     PREFIX/lib/halyard/plugins/libhalyard_driver_*.so
//     PREFIX/lib/halyard/vgpu/libhalyard-kfd.so.0
#pragma once

#include <string>
#include <vector>

namespace halyard {

// The installation prefix of a program or library, from its path: the folder above the
// nearest one named bin, sbin, lib, lib32, lib64 or libexec (/usr for /usr/bin/halyard,
// /usr/lib/x86_64-linux-gnu/libhalyard.so.0 and a Python module below /usr/lib). If there is
// none, the one above the file's own folder. Empty if there is none. Does not access the
// disk.
std::string installation_prefix_of(const std::string& file);

// The possible installation prefixes of the running program, most likely first, without
// duplicates: its own (/proc/self/exe) and, if this code is in a shared library (for
// another program or a Python module), that library's. If `override` is not empty, only
// that.
std::vector<std::string> installation_prefixes(const std::string& override = {});

// An environment variable, or empty. Also empty if the program has more privileges than its caller
// (set-user-ID), because these variables name code to load.
std::string trusted_environment(const char* name);

}  // namespace halyard
