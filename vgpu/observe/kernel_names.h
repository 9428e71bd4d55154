// How observers name what they saw.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "vgpu/isa/work_group.h"

namespace halyard::vgpu::observe {

// The name of the kernel whose descriptor lies at an address, or empty. Any thread.
using KernelNames = std::function<std::string(uint64_t kernel_object)>;

// "kernel vadd" or "kernel of unknown name (0x7f…)".
std::string kernel_text(const KernelNames& names, uint64_t kernel_object);

// The distance from the kernel's entry: "+0x0040", "-0x0010".
std::string offset_text(const isa::GroupContext& context, uint64_t pc);

// "(1, 0, 0)"
std::string group_text(const isa::WorkGroup& group);

}  // namespace halyard::vgpu::observe
