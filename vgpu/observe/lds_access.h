// The bytes of LDS that an instruction accesses.
//
// Derived from the row and the registers before the instruction is executed, not by the
// handlers that execute it (vgpu/isa/lds.cpp, flat.cpp, lds_direct.cpp). So the check does not
// share the handlers' mistakes, and the handlers contain no checks.
#pragma once

#include <cstdint>
#include <functional>

#include "vgpu/isa/wave.h"

namespace halyard::vgpu::observe {

enum class LdsUse : uint8_t { kRead, kWrite, kAtomic };
// "reads", "writes" or "updates".
const char* verb(LdsUse use);

// One lane's access.
struct LdsAccess {
  LdsUse use = LdsUse::kRead;
  unsigned lane = 0;
  uint64_t offset = 0;  // bytes from the start of the work-group's LDS; may lie outside
  unsigned bytes = 0;
};

// A buffer, global or scratch load whose result goes to LDS: the LDS bit says so, or (from gfx942
// on) the instruction itself.
bool loads_to_lds(const isa::Instruction& instruction);

// Calls `visit` for each access of each active lane, in the order of lanes. For none if the
// instruction does not use LDS memory (permutes and swizzles do not).
void for_each_lds_access(const isa::Wave& wave, const isa::Instruction& instruction,
                         const std::function<void(const LdsAccess&)>& visit);

}  // namespace halyard::vgpu::observe
