// Looks at a file before the dynamic loader does.
//
// The loader's own words for a file of the wrong kind are poor ("invalid ELF header"), and some
// files it must not be given at all: opening a FIFO hangs, and a library that was cut short while
// it was copied is mapped without complaint and kills the process with SIGBUS when it is touched.
#pragma once

#include <string>

namespace halyard {

// Empty if the file may be given to dlopen; otherwise the sentence that says why not.
std::string why_not_loadable(const std::string& path);

}  // namespace halyard
