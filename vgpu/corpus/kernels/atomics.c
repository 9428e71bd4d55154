// Atomic operations whose results do not depend on the order of the work-items.
#include "vgpu/corpus/corpus.h"

SHARED u32 shared[16];
SHARED u64 shared_wide[8];

KERNEL(atomics_32, 256) {
  const u32 v = in[global_id()];
  atomic_add(&out[0], v);
  atomic_sub(&out[1], v);
  atomic_or(&out[3], v & v >> 3 & v << 5);
  atomic_xor(&out[4], v);
  atomic_max(&out[6], v);
  atomic_min((GLOBAL i32*)&out[7], (i32)v);
  atomic_max((GLOBAL i32*)&out[8], (i32)v);
  atomic_inc32(&out[9], 97);
  atomic_dec32(&out[10], 53);
}
CASE(atomics_32, .items = {256}, .groups = {4}, .words_in = 1024, .words_out = 11)

KERNEL(atomics_from_above, 64) {  // `out` holds ones
  const u32 v = in[global_id()];
  atomic_and(&out[0], ~(1u << v % 19) | v >> 16);
  atomic_min(&out[1], v);
  atomic_dec32(&out[2], 0xfff00000);
  atomic_sub(&out[3], v);
  atomic_and((GLOBAL u64*)&out[4], ~(u64)v << 3);
  atomic_min((GLOBAL u64*)&out[6], v * 0x100000001ul);
  atomic_dec64((GLOBAL u64*)&out[8], ~0ul);
  atomic_max((GLOBAL i32*)&out[10], (i32)v);
}
CASE(atomics_from_above, .items = {64}, .groups = {4}, .words_in = 256, .words_out = 11,
     .initial = ~0u)

KERNEL(atomics_64, 64) {
  const u32 i = global_id();
  const u64 v = in[i] * 0x1234567887654321ul;
  GLOBAL u64* const to = (GLOBAL u64*)out;
  atomic_add(&to[0], v);
  atomic_sub(&to[1], v);
  atomic_or(&to[2], v & v >> 7);
  atomic_xor(&to[3], v);
  atomic_max(&to[4], v);
  atomic_min((GLOBAL i64*)&to[5], (i64)v);
  atomic_max((GLOBAL i64*)&to[6], (i64)v);
  atomic_inc64(&to[7], 0x100000007ul);
}
CASE(atomics_64, .items = {64}, .groups = {8}, .words_in = 512, .words_out = 16)

KERNEL(atomics_returning, 64) {
  // Every old value is returned once, or every other: their sum and exclusive or do not depend on
  // the order.
  const u32 i = global_id();
  const u32 ticket = atomic_add(&work[0], 1);
  out[ticket] = ticket * ticket;
  const u32 bit = 1u << i % 32, before = atomic_or(&work[1 + i / 32], bit);
  atomic_add(&work[100], (u32)(before & bit ? 1 : 0));
  const u64 wide = atomic_add((GLOBAL u64*)&work[102], 0x100000001ul);
  atomic_xor(&out[n], (u32)(wide >> 32) * 2654435761u);
  atomic_add(&out[n + 1], atomic_xor(&work[104], 0x10203));
  const u32 wrapped = atomic_inc32(&work[105], 12);
  atomic_add(&out[n + 2 + wrapped], 1);
}
CASE(atomics_returning, .items = {64}, .groups = {4}, .n = 256, .words_out = 256 + 2 + 13,
     .words_work = 128)

KERNEL(atomics_in_lds, 128) {
  const u32 l = local_id(), v = in[global_id()];
  if (l < 16) shared[l] = l < 8 ? 0 : ~0u;
  if (l < 8) shared_wide[l] = 0;
  barrier();
  atomic_add(&shared[0], v);
  atomic_xor(&shared[1], v);
  atomic_or(&shared[2], v & 0x0f0f0f0f);
  atomic_max(&shared[3], v);
  atomic_max((LOCAL i32*)&shared[4], (i32)v);
  atomic_min((LOCAL i32*)&shared[5], (i32)v);
  atomic_and(&shared[8], v | 0xffff);
  atomic_min(&shared[9], v);
  atomic_sub(&shared[10], v);
  atomic_inc32(&shared[6], 30);
  atomic_dec32(&shared[7], 30);
  atomic_add(&shared_wide[0], v * 0x10001ul);
  atomic_max(&shared_wide[1], v * 0x10001ul);
  atomic_xor(&shared_wide[2], (u64)v << 17);
  atomic_min((LOCAL i64*)&shared_wide[3], (i64)((u64)v << 32) >> 3);
  const u32 ticket = atomic_add(&shared[11], 1) + 1;  // from -1
  const u64 wide_ticket = atomic_add(&shared_wide[4], 3ul);
  barrier();
  out[global_id()] = 0;
  barrier();
  atomic_add(&out[group_id() * 128 + ticket], ticket + 1);
  atomic_add(&out[group_id() * 128 + (u32)wide_ticket / 3], (u32)wide_ticket << 8);
  if (l < 11) out[n + group_id() * 32 + l] = shared[l];
  if (l < 5) {
    out[n + group_id() * 32 + 16 + 2 * l] = (u32)shared_wide[l];
    out[n + group_id() * 32 + 17 + 2 * l] = shared_wide[l] >> 32;
  }
}
CASE(atomics_in_lds, .items = {128}, .groups = {3}, .n = 384, .words_in = 384, .words_out = 480)

KERNEL(generic_atomics, 64) {
  // The pointer is to LDS for some lanes and to global memory for others.
  const u32 l = local_id(), v = in[global_id()];
  if (l < 16) shared[l] = 0;
  if (l < 8) shared_wide[l] = 0;
  barrier();
  u32* const to = l & 1 ? (u32*)&shared[v % 16] : (u32*)&out[v % 16];
  u64* const wide = l & 2 ? (u64*)&shared_wide[v % 8] : (u64*)&out[16 + v % 8 * 2];
  atomic_add(to, v);
  atomic_max(wide, v * 7ul);
  barrier();
  if (l < 16) atomic_add(&out[32 + l], shared[l]);
  if (l < 8) atomic_add(&out[48 + l], (u32)shared_wide[l]);
}
CASE(generic_atomics, .items = {64}, .groups = {4}, .words_in = 256, .words_out = 56)

KERNEL(float_atomics, 64) {
  // Sums of small integers are exact in any order.
  const u32 i = global_id(), l = local_id();
  const f32 v = (f32)(i32)(in[i] % 200) - 100.0f;
  LOCAL f32* const local_sum = (LOCAL f32*)&shared[0];
  if (l < 2) shared[l] = 0;
  if (l < 8) shared_wide[l] = 0;
  barrier();
  [[clang::atomic(no_remote_memory, no_fine_grained_memory, ignore_denormal_mode)]] {
    atomic_add((GLOBAL f32*)&out[0], v);
    atomic_add((GLOBAL f64*)&out[2], (f64)v * 0.5);
    atomic_add(&local_sum[0], v);
    atomic_add((LOCAL f64*)&shared_wide[0], (f64)v * 0.25);
    atomic_max((LOCAL f32*)&shared[1], v);
    atomic_max((GLOBAL f64*)&out[4], (f64)v);
    atomic_min((GLOBAL f64*)&out[6], (f64)v);
    const f32 before = atomic_add((GLOBAL f32*)&work[0], 1.0f);
    atomic_xor(&out[9], (u32)before * 2654435761u);
  }
  atomic_sub((GLOBAL f32*)&out[8], v);  // with no such instruction
  barrier();
  if (l == 0) {
    out[10 + 4 * group_id()] = shared[0];
    out[11 + 4 * group_id()] = shared[1];
    out[12 + 4 * group_id()] = (u32)shared_wide[0];
    out[13 + 4 * group_id()] = shared_wide[0] >> 32;
  }
}
CASE(float_atomics, .items = {64}, .groups = {4}, .words_in = 256, .words_out = 26, .words_work = 1)

FUNCTION void take(GLOBAL u32* lock) {
  u32 free = 0;
  while (!__scoped_atomic_compare_exchange_n(lock, &free, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED,
                                             __MEMORY_SCOPE_DEVICE))
    free = 0;
}

KERNEL(spin_lock, 128) {
  // One work-item of each wave at a time is in the section that the lock guards.
  for (u32 l = 0; l < 64; ++l) {
    if (lane_id() != l) continue;
    take(&work[0]);
    out[0] = out[0] + 1;
    out[1] = out[1] + in[global_id()];
    __scoped_atomic_store_n(&work[0], 0, __ATOMIC_RELEASE, __MEMORY_SCOPE_DEVICE);
  }
}
CASE(spin_lock, .items = {128}, .groups = {4}, .words_in = 512, .words_out = 2, .words_work = 1)

KERNEL(compare_and_swap, 64) {
  // Lists by their heads: what the chains hold does not depend on the order, only how.
  const u32 i = global_id(), v = in[i];
  GLOBAL u32* const head = &work[v % 8];
  u32 old = __scoped_atomic_load_n(head, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE), next;
  do {
    next = old * 1 + (v | 1);
  } while (!__scoped_atomic_compare_exchange_n(head, &old, next, 1, __ATOMIC_RELAXED,
                                               __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE));
  GLOBAL u64* const wide = (GLOBAL u64*)&out[8 + v % 4 * 2];
  u64 seen = *(volatile GLOBAL u64*)wide;
  while (!__scoped_atomic_compare_exchange_n(wide, &seen, seen + v * 0x1000000001ul, 0,
                                             __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST,
                                             __MEMORY_SCOPE_SYSTEM)) {
  }
  atomic_add(&out[v % 8], v | 1);
  if (atomic_exchange(&work[16 + i], v) != 0) atomic_add(&out[16], 1);
}
CASE(compare_and_swap, .items = {64}, .groups = {4}, .words_in = 256, .words_out = 17,
     .words_work = 512)

KERNEL(narrow_atomics, 64) {
  const u32 i = global_id(), v = in[i];
  GLOBAL u8* const bytes = (GLOBAL u8*)out;
  GLOBAL u16* const shorts = (GLOBAL u16*)&out[8];
  atomic_add(&bytes[v % 32], (u8)(v >> 8));
  atomic_xor(&shorts[v % 16], (u16)(v >> 4));
  atomic_max((GLOBAL i16*)&shorts[16 + v % 5], (i16)v);
}
CASE(narrow_atomics, .items = {64}, .groups = {4}, .words_in = 256, .words_out = 20)
