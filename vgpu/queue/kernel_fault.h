// What queues say of a kernel that has failed.
#pragma once

#include <cstdint>
#include <string>

#include "vgpu/isa/engine.h"

namespace halyard::vgpu::queue {

// "illegal instruction"
const char* fault_name(isa::Fault::Kind kind);

// "vadd (entry 0x7f…)" and the engine's report. `object` is the kernel's, and `kind` says what that
// is.
std::string failed_kernel(const isa::DispatchResult& result, uint64_t object,
                          const isa::AddressSpace& memory, const char* kind);

}  // namespace halyard::vgpu::queue
