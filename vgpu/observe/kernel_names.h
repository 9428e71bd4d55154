// How observers name what they saw.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "vgpu/isa/place_text.h"

namespace halyard::vgpu::observe {

// The name of the kernel whose descriptor lies at an address, or empty. Any thread.
using KernelNames = std::function<std::string(uint64_t kernel_object)>;

// "kernel vadd" or "kernel of unknown name (0x7f…)".
std::string kernel_text(const KernelNames& names, uint64_t kernel_object);

using isa::group_text;
using isa::offset_text;

}  // namespace halyard::vgpu::observe
