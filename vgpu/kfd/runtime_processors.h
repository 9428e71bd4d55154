// Which processors the vendor's runtime of this process knows. It has their names in a table of its
// own, and leaves out a GPU whose processor is not there.
#pragma once

#include <string>

#include "vgpu/machine/profile.h"

namespace halyard::vgpu::kfd {

// The file of the HSA runtime that this process has loaded; empty: none, or it is linked
// statically.
std::string loaded_runtime();

// What is to be said of a profile whose GPUs the runtime in that file does not know; empty: it
// knows them all, or the file cannot be read. `usable`: whether it knows one of them.
std::string unknown_processors(const machine::Profile& profile, const std::string& runtime,
                               bool& usable);

}  // namespace halyard::vgpu::kfd
