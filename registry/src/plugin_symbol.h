// Looks for a plugin's entry point before the file is opened, because to open a library is to run
// its constructors: a file that cannot be a plugin is not worth that.
#pragma once

#include <string>

namespace halyard {

// Empty if the library exports a function halyard_plugin, or has no section headers and so does not
// say before it is opened; otherwise the sentence that says why not. `path` is a file that
// why_not_loadable() has nothing against.
std::string why_no_entry(const std::string& path);

// The same for what dlsym has found, which is what the dynamic loader believes.
std::string why_not_callable(void* symbol);

}  // namespace halyard
