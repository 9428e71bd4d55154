#pragma once

#include <cstdint>

namespace halyard::vgpu::isa {

// s_waitcnt's operand on gfx9 (Vega ISA 4.4). A count that is the highest of its field waits for
// nothing.
struct WaitCounts {
  static constexpr unsigned kMostVm = 63, kMostLgkm = 15, kMostExp = 7;

  unsigned vm, lgkm, exp;

  static constexpr WaitCounts decode(uint32_t simm16) {
    return {(simm16 & 15) | (simm16 >> 10 & 0x30), simm16 >> 8 & 15, simm16 >> 4 & 7};
  }
};

}  // namespace halyard::vgpu::isa
