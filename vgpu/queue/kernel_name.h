// The name of a kernel that is only known by its address, for reports.
#pragma once

#include <cstdint>
#include <string>

#include "vgpu/isa/memory.h"

namespace halyard::vgpu::queue {

// The name of the kernel whose descriptor lies at `kernel_object`, or empty.
//
// ROCR copies a code object's segments to where they run, and lld puts the ELF header and the
// dynamic symbol table into the first of them: so the symbol can usually be read from the GPU's
// memory itself. Nothing in there is trusted; every read stays within the mapped range.
std::string kernel_name(uint64_t kernel_object, const isa::AddressSpace& memory);

}  // namespace halyard::vgpu::queue
