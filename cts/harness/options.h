// The command line of halyard-cts: which device, from which plugins, on which GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace halyard::cts {

struct Options {
  std::string device;                     // --device=URI
  std::optional<std::string> vgpu;        // --vgpu[=PROFILE]; empty: the default profile
  std::vector<std::string> plugin_paths;  // --plugin-path=PATH, --plugin=FILE
  std::string kernels;                    // --kernels=FOLDER; empty: beside the program
  uint64_t seed = 20261120;               // --seed=N
  bool lists_tests = false;               // --gtest_list_tests: needs no device
  bool help = false;                      // --help
};

extern const char kUsage[];

// Takes the flags that are the suite's own out of argv and leaves the rest to gtest. Returns false,
// with a sentence in `problem`, for what makes no sense.
bool parse_options(int* argc, char** argv, Options* options, std::string* problem);

// What is left when gtest has taken its flags must be nothing.
bool check_rest(int argc, char** argv, std::string* problem);

}  // namespace halyard::cts
