// Host and device looking at the same memory while a kernel runs.
#include "amdgpu.h"

// Waits until the host has put `expected` into mail[0], then answers in mail[1]. Gives up after
// `rounds` looks and answers with ~0.
KERNEL void answer(GLOBAL u32* mail, u32 expected, u32 rounds) {
  if (local_id() != 0) return;
  u32 seen = 0;
  for (u32 i = 0; i < rounds; ++i) {
    seen = __scoped_atomic_load_n(mail, __ATOMIC_ACQUIRE, __MEMORY_SCOPE_SYSTEM);
    if (seen == expected) break;
    __builtin_amdgcn_s_sleep(8);
  }
  __scoped_atomic_store_n(mail + 1, seen == expected ? 2 * expected : ~0u, __ATOMIC_RELEASE,
                          __MEMORY_SCOPE_SYSTEM);
}

// Each work-item adds 1 to the counter `times` times, in competition with the host.
KERNEL void count_up(GLOBAL u32* counter, u32 times) {
  for (u32 i = 0; i < times; ++i) {
    __scoped_atomic_fetch_add(counter, 1u, __ATOMIC_RELAXED, __MEMORY_SCOPE_SYSTEM);
  }
}

// A conversation while the kernel runs: waits until the host has put 1, 2, … `turns` into mail[0],
// and answers each with its double in mail[1]. Ends without an answer to the last turn that it has
// not seen in `rounds` looks.
KERNEL void converse(GLOBAL u32* mail, u32 turns, u32 rounds) {
  if (local_id() != 0) return;
  for (u32 turn = 1; turn <= turns; ++turn) {
    u32 looks = 0;
    while (__scoped_atomic_load_n(mail, __ATOMIC_ACQUIRE, __MEMORY_SCOPE_SYSTEM) != turn) {
      if (++looks == rounds) return;
      __builtin_amdgcn_s_sleep(8);
    }
    __scoped_atomic_store_n(mail + 1, 2 * turn, __ATOMIC_RELEASE, __MEMORY_SCOPE_SYSTEM);
  }
}
