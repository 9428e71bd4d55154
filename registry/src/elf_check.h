// Checks a file before the dynamic loader.
//
// The loader's messages for a file of the wrong kind are poor ("invalid ELF header"), and it cannot
// handle some files: opening a FIFO hangs, and a truncated library is mapped without an error and
// ends the process with SIGBUS when it is accessed.
#pragma once

#include <string>

namespace halyard {

// Empty if the file may be given to dlopen; otherwise the sentence that says why not.
std::string why_not_loadable(const std::string& path);

}  // namespace halyard
