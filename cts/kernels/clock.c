// The device's clock (Device::read_clocks).
#include "amdgpu.h"

// out[0] is the time before a loop of `rounds` rounds, out[1] behind it.
KERNEL void read_clock(GLOBAL u64* out, u32 rounds) {
  out[0] = __builtin_readsteadycounter();
  for (volatile u32 i = 0; i < rounds; ++i) {
  }
  out[1] = __builtin_readsteadycounter();
}
