// The GPUs that variables of the environment hide, and which of the variables does.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "registry/registry.h"

namespace halyard::cli {

struct HiddenGpu {
  std::string driver;    // that does not list it
  std::string gpu;       // "AMD Instinct MI210, gfx90a, GPU-…, 0000:c1:00.0"
  std::string variable;  // "ROCR_VISIBLE_DEVICES"
  std::string value;
};

// The vendor's runtimes read the variables and say nothing of what they hide. So child processes
// list the devices: without any of the variables, then with one more of them each time, in the
// order in which the runtimes apply them. None, and at no cost, where no variable is set; a child
// that takes longer than `timeout` has listed nothing. Call it before the program loads drivers or
// starts threads, whose locks a child would inherit.
std::vector<HiddenGpu> find_hidden_gpus(Registry& registry, std::chrono::seconds timeout);

}  // namespace halyard::cli
