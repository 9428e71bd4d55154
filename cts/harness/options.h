// The command line of halyard-cts: which device, from which plugins, on which GPU, which tests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cts/harness/selection.h"

namespace halyard::cts {

struct Options {
  std::string device;                       // --device=URI
  std::optional<std::string> vgpu;          // --vgpu[=PROFILE]; empty: load_virtual_gpu's choice
  std::vector<std::string> plugin_paths;    // --plugin-path=PATH, --plugin=FILE
  std::vector<std::string> configs;         // --config=FILE
  std::string kernels;                      // --kernels=FOLDER; empty: beside the program
  std::optional<std::string> expectations;  // --expectations=FILE; empty: none at all

  bool list = false;                 // --list
  std::string filter;                // --filter=GLOBS; empty: everything
  Shard shard;                       // --shard=I/N
  uint32_t repeat = 1;               // --repeat=N
  std::optional<std::string> check;  // --check[=NAMES]: of the virtual GPU; empty: all
  std::string schedule;        // --schedule: the virtual GPU's order of waves; empty: the profile's
  std::optional<int> shuffle;  // --shuffle[=SEED]; 0: a seed of gtest's choice
  uint64_t seed = 20261120;    // --seed=N
  uint64_t timeout_seconds = 60;  // --timeout=SECONDS

  std::string junit;  // --junit=FILE
  std::string json;   // --json=FILE
  // --fidelity=FILE: of the virtual GPU. Tests' child processes add to it and do not get the
  // option.
  std::string fidelity;

  std::string help;                // what --help prints; empty if it was not asked for
  bool gtest_lists_tests = false;  // --gtest_list_tests, as build systems ask for it
};

// Takes the flags that are the suite's own out of argv and leaves the rest to gtest. Returns false,
// with a sentence in `problem`, for what makes no sense.
bool parse_options(int* argc, char** argv, Options* options, std::string* problem);

// After gtest has taken its flags, no argument may remain.
bool check_rest(int argc, char** argv, std::string* problem);

}  // namespace halyard::cts
