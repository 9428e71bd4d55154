// How a handler stops a wave.
#pragma once

#include <string>

#include "vgpu/host_guard.h"
#include "vgpu/isa/wave.h"

namespace halyard::vgpu::isa {

// An instruction that cannot be executed. `why` finishes the sentence "<mnemonic> …".
[[gnu::cold]] Outcome fault_illegal(Wave& wave, const Instruction& instruction,
                                    const std::string& why);

// An access to memory that is not mapped.
[[gnu::cold]] Outcome fault_memory(Wave& wave, const Instruction& instruction, uint64_t address,
                                   uint64_t size, bool is_write, int lane);

// An access at `offset` of a lane's private segment, which is too small for it.
[[gnu::cold]] Outcome fault_private(Wave& wave, const Instruction& instruction, uint64_t offset,
                                    uint64_t size, bool is_write, int lane);

// The host does not have memory that an instruction of `wave`, at its pc, touched (host_guard.h).
[[gnu::cold]] void fault_unmapped(Wave& wave, const char* mnemonic, const HostFault& fault);

}  // namespace halyard::vgpu::isa
