// Kernels that go wrong, each in one way.
#include "amdgpu.h"

// An encoding that no gfx9 has: VOP1 with opcode 0xff.
KERNEL void illegal_instruction(GLOBAL u32* out) {
  out[local_id()] = 1;
  __asm__ volatile(".long 0x7e01fe00");
  out[local_id()] = 2;
}

// Stores to an address that comes as a number.
KERNEL void store_to(u64 address, u32 value) {
  if (local_id() == 0) *(volatile GLOBAL u32*)address = value;
}

// Loads from an address that comes as a number.
KERNEL void load_from(u64 address, GLOBAL u32* out) {
  if (local_id() == 0) *out = *(volatile GLOBAL u32*)address;
}

// llvm.trap: s_trap 2, with the queue pointer for the handler.
KERNEL void trap(GLOBAL u32* out) {
  out[local_id()] = 1;
  __builtin_trap();
}
