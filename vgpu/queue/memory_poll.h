// When a packet that waits for a value in memory has waited enough.
#pragma once

#include <cstdint>

namespace halyard::vgpu::queue {

// The function field of SDMA's POLL_REGMEM and of PM4's WAIT_REG_MEM, which have the same values
// (Linux, soc15d.h and vega10_sdma_pkt_open.h): 0 always, 1 <, 2 <=, 3 ==, 4 !=, 5 >=, 6 >. Refuse
// 7 before.
inline bool poll_holds(uint32_t function, uint32_t value, uint32_t reference) {
  switch (function) {
    case 1:
      return value < reference;
    case 2:
      return value <= reference;
    case 3:
      return value == reference;
    case 4:
      return value != reference;
    case 5:
      return value >= reference;
    case 6:
      return value > reference;
    default:
      return true;
  }
}

}  // namespace halyard::vgpu::queue
