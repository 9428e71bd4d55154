// Where the files lie that belong to the running program: plugins, and the virtual GPU.
//
// The build tree and the install tree have one shape, and nothing is compiled in, so both may be
// moved:
//
//     PREFIX/bin/halyard
//     PREFIX/lib/halyard/plugins/libhalyard_driver_*.so
//     PREFIX/lib/halyard/vgpu/libhsakmt.so.1
#pragma once

#include <string>
#include <vector>

namespace halyard {

// The prefixes that the running program may have been installed under, most likely first, without
// duplicates: the one above its own folder (/proc/self/exe, …/bin/x → …), and, where this code is
// in a shared library (as for a Python module), the one above that library's (…/lib/x.so → …).
// If `override` is not empty, it alone.
std::vector<std::string> installation_prefixes(const std::string& override = {});

// An environment variable, or empty; also empty where the program runs with more rights than its
// caller (set-user-ID), because these variables name code to load.
std::string trusted_environment(const char* name);

}  // namespace halyard
