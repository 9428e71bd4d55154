// Which processors the vendor's runtimes of this process know. Each has their names in a table of
// its own, and leaves out a GPU whose processor is not there.
#pragma once

#include <cstdint>
#include <string>

#include "vgpu/machine/profile.h"

namespace halyard::vgpu::kfd {

enum class Runtime : uint8_t { kHsa, kHip };

// The file of the runtime that this process has loaded; empty: none, or it is linked statically.
std::string loaded_runtime(Runtime runtime);

// What is to be said of a profile whose GPUs the runtime in that file does not know; empty: it
// knows them all, or the file cannot be read. `usable`: whether it knows one of them.
std::string unknown_processors(const machine::Profile& profile, Runtime runtime,
                               const std::string& file, bool& usable);

}  // namespace halyard::vgpu::kfd
