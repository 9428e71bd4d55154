// How a handler stops a wave.
#pragma once

#include <string>

#include "vgpu/isa/wave.h"

namespace halyard::vgpu::isa {

// An instruction that cannot be executed. `why` finishes the sentence "<mnemonic> …".
[[gnu::cold]] Outcome fault_illegal(Wave& wave, const Instruction& instruction,
                                    const std::string& why);

// An access to memory that is not mapped, or beyond a wave's private segment.
[[gnu::cold]] Outcome fault_memory(Wave& wave, const Instruction& instruction, uint64_t address,
                                   uint64_t size, bool is_write, int lane);

}  // namespace halyard::vgpu::isa
