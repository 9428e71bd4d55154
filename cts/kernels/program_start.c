// What a loader does beside placing code in memory: constructors and destructors of global
// variables (kernels of kind init and fini), and the memory of HIP's managed variables.
#include "amdgpu.h"

#define SHOWN __attribute__((visibility("protected")))

// 1, then 17, then 172: the constructors run in the order of their numbers. The compiler cannot run
// them, as their operands are volatile.
static GLOBAL u32 built = 1;
__attribute__((constructor(200))) static void build_second(void) {
  volatile u32 two = 2;
  built = built * 10 + two;
}
__attribute__((constructor(101))) static void build_first(void) {
  volatile u32 seven = 7;
  built = built * 10 + seven;
}

// Where the destructor leaves its mark.
static GLOBAL u32* GLOBAL mail;
__attribute__((destructor)) static void leave(void) {
  if (mail) *mail = built + 1;
}

// As HIP's compiler writes __managed__ u32 counter[3] = {40, 41, 42} and __managed__ u32* inner.
SHOWN GLOBAL u32* GLOBAL counter;
SHOWN GLOBAL u32 counter_value[3] __asm__("counter.managed") = {40, 41, 42};
SHOWN GLOBAL u32 table[2] = {7, 8};
SHOWN GLOBAL u32* GLOBAL* GLOBAL inner;
SHOWN GLOBAL u32* GLOBAL inner_value __asm__("inner.managed") = &table[1];

KERNEL void read_built(GLOBAL u32* out) {
  out[0] = built;
}

// The address of the managed variable, and what is there.
KERNEL void use_managed(GLOBAL u64* out) {
  out[0] = (u64)counter;
  out[1] = counter[0] + 2;
  out[2] = counter[2];
  counter[1] = 9;
  out[3] = **inner;
}

// Takes a while, and then builds something else.
KERNEL void rebuild(GLOBAL u32* at, u32 value, u32 rounds) {
  volatile u32 state = 0;
  while (state < rounds) state += 1;
  mail = at;
  built = value;
}
