// A device's partitions: GPUs of their own with a share of its dies (Linux, aqua_vanjaram.c and
// amdkfd's kfd_device.c).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/machine/profile.h"

namespace halyard::vgpu::machine {

// How many GPUs the profile's partition makes of its device.
uint32_t partitions_of(const GpuProfile& device);

// They. Each has its share of dies, memory and SDMA engines.
std::vector<GpuProfile> split_device(const GpuProfile& device);

// What is wrong with the dies, as a sentence that begins with a key; empty: nothing.
std::string wrong_dies(const GpuProfile& device);

}  // namespace halyard::vgpu::machine
