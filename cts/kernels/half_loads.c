// Loads of 8 and 16 bits into half of a register (D16), which C has no expression for: whether the
// other half stays is up to the target's SRAM-ECC, so compilers rely on it for some targets only.
#include "amdgpu.h"

// `load` into a register that holds `old`; LDS has what `in` points to.
#define HALF_LOAD(load, wait, address, kind)                                     \
  ({                                                                             \
    u32 result = old;                                                            \
    __asm__ volatile(load "\n" wait : "+&v"(result) : kind(address) : "memory"); \
    result;                                                                      \
  })
#define FROM_MEMORY(type) \
  HALF_LOAD("global_load_" type " %0, %1, off", "s_waitcnt vmcnt(0)", in, "v")
#define FROM_LDS(type) HALF_LOAD("ds_read_" type " %0, %1", "s_waitcnt lgkmcnt(0)", &staged, "v")

// 12 words for each work-item: bytes, signed bytes and halves from memory, each into the lower and
// into the upper half, and the same from LDS.
KERNEL void half_loads(GLOBAL const u32* in, GLOBAL u32* out, u32 old) {
  static LDS u32 staged;
  staged = *in;
  group_barrier();
  const u32 results[12] = {
      FROM_MEMORY("ubyte_d16"),    FROM_MEMORY("ubyte_d16_hi"), FROM_MEMORY("sbyte_d16"),
      FROM_MEMORY("sbyte_d16_hi"), FROM_MEMORY("short_d16"),    FROM_MEMORY("short_d16_hi"),
      FROM_LDS("u8_d16"),          FROM_LDS("u8_d16_hi"),       FROM_LDS("i8_d16"),
      FROM_LDS("i8_d16_hi"),       FROM_LDS("u16_d16"),         FROM_LDS("u16_d16_hi"),
  };
  for (u32 k = 0; k < 12; ++k) out[12 * (u64)global_id() + k] = results[k];
}
