// Where the files lie that belong to the running program: plugins, and the virtual GPU.
//
// The build tree and the install tree have one shape, and nothing is compiled in, so both may be
// moved:
//
//     PREFIX/bin/halyard
//     PREFIX/lib/halyard/plugins/libhalyard_driver_*.so
//     PREFIX/lib/halyard/vgpu/libhalyard-kfd.so.0
#pragma once

#include <string>
#include <vector>

namespace halyard {

// The prefix that a program or library was installed under, by its path: the folder above the
// nearest one that is called bin, sbin, lib, lib32, lib64 or libexec (/usr for /usr/bin/halyard,
// for /usr/lib/x86_64-linux-gnu/libhalyard.so.0 and for a Python module below /usr/lib); where none
// is called so, the one above the file's own folder. Empty if there is none. Looks at nothing on
// disk.
std::string installation_prefix_of(const std::string& file);

// The prefixes that the running program may have been installed under, most likely first, without
// duplicates: its own (/proc/self/exe) and, where this code is in a shared library, as for a
// program of somebody else's or a Python module, that library's. If `override` is not empty, it
// alone.
std::vector<std::string> installation_prefixes(const std::string& override = {});

// An environment variable, or empty; also empty where the program runs with more rights than its
// caller (set-user-ID), because these variables name code to load.
std::string trusted_environment(const char* name);

}  // namespace halyard
