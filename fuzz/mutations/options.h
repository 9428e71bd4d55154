// The command line of halyard-mutations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace halyard::mutations {

struct Options {
  std::string device;       // a URI: "amdgpu"
  std::string vgpu;         // a profile of the virtual GPU
  std::string target;       // of the device: "gfx900:xnack-"
  uint64_t seed = 1;        // of the run
  uint64_t first = 0;       // mutation
  uint64_t count = 2000;    // of mutations
  uint64_t batch = 5000;    // mutations in one process
  uint64_t processes = 1;   // at once
  uint64_t timeout = 60;    // seconds that one load may take
  std::string found = ".";  // folder for the files that ended a process
  std::string write;        // a file: writes mutation `first` there and loads nothing
  std::vector<std::string> folders;
};

// Exits with a message if the arguments are wrong, and after --help.
Options parse_options(int argc, char** argv);

}  // namespace halyard::mutations
