// Work-groups that work together through memory.
#include "vgpu/corpus/corpus.h"

SHARED u32 ids[2];
SHARED u32 words[256];

FUNCTION u32 load_flag(GLOBAL u32* p) {
  return __scoped_atomic_load_n(p, __ATOMIC_ACQUIRE, __MEMORY_SCOPE_DEVICE);
}
FUNCTION void store_flag(GLOBAL u32* p, u32 v) {
  __scoped_atomic_store_n(p, v, __ATOMIC_RELEASE, __MEMORY_SCOPE_DEVICE);
}

KERNEL(look_back_scan, 64) {
  // Decoupled look-back: work holds a ticket, then for each tile a flag, its sum, its prefix.
  const u32 l = local_id();
  if (l == 0) ids[0] = atomic_add(&work[0], 1);
  words[l] = 0;
  barrier();
  const u32 tile = ids[0];
  GLOBAL u32* const state = &work[4];
  const u32 v = in[tile * 64 + l];
  words[l] = v;
  barrier();
  for (u32 offset = 1; offset < 64; offset *= 2) {
    const u32 add = l >= offset ? words[l - offset] : 0;
    barrier();
    words[l] += add;
    barrier();
  }
  if (l == 0) {
    const u32 sum = words[63];
    u32 before = 0;
    if (tile > 0) {
      state[tile * 4 + 1] = sum;
      store_flag(&state[tile * 4], 1);
      for (u32 at = tile - 1;; --at) {
        u32 flag;
        while ((flag = load_flag(&state[at * 4])) == 0) {
        }
        if (flag == 2) {
          before += state[at * 4 + 2];
          break;
        }
        before += state[at * 4 + 1];
      }
    }
    state[tile * 4 + 2] = before + sum;
    store_flag(&state[tile * 4], 2);
    ids[1] = before;
  }
  barrier();
  out[tile * 64 + l] = ids[1] + words[l];
}
CASE(look_back_scan, .items = {64}, .groups = {24}, .words_in = 1536, .words_out = 1536,
     .words_work = 104)

KERNEL(last_group_reduces, 128) {
  const u32 l = local_id();
  words[l] = in[global_id()];
  barrier();
  for (u32 half = 64; half; half >>= 1) {
    if (l < half) words[l] += words[l + half];
    barrier();
  }
  if (l == 0) {
    work[1 + group_id()] = words[0];
    ids[0] = __scoped_atomic_fetch_add(&work[0], 1, __ATOMIC_ACQ_REL, __MEMORY_SCOPE_DEVICE);
  }
  barrier();
  if (ids[0] != group_count() - 1 || l != 0) return;
  u32 sum = 0;
  for (u32 g = 0; g < group_count(); ++g) sum = sum * 3 + work[1 + g];
  out[0] = sum;
}
CASE(last_group_reduces, .items = {128}, .groups = {10}, .words_in = 1280, .words_out = 1,
     .words_work = 11)

KERNEL(work_queue, 64) {
  // Persistent work-groups take items until there are none.
  for (;;) {
    const u32 item = atomic_add(&work[0], 1);
    if (item >= n) return;
    u32 v = in[item], steps = v % 97;
    while (steps--) v = v * 69069 + 1;
    out[item] = v;
  }
}
CASE(work_queue, .items = {64}, .groups = {3}, .n = 700, .words_in = 700, .words_out = 700,
     .words_work = 1)

KERNEL(breadth_first, 256) {
  // A graph of 256 nodes with four edges each, level by level, in one work-group.
  const u32 i = local_id();
  words[i] = i == 0 ? 0 : ~0u;
  if (i == 0) ids[0] = 1;
  barrier();
  for (u32 level = 0; ids[0]; ++level) {
    barrier();
    if (i == 0) ids[0] = 0;
    barrier();
    if (words[i] == level) {
      for (u32 k = 0; k < 4; ++k) {
        const u32 to = in[4 * i + k] % 300;  // some lead nowhere
        if (to >= 256 || words[to] <= level) continue;
        atomic_min(&words[to], level + 1);
        ids[0] = 1;
      }
    }
    barrier();
  }
  out[i] = words[i];
}
CASE(breadth_first, .items = {256}, .words_in = 1024, .words_out = 256)

KERNEL(sparse_matrix, 64) {
  // Rows of 0 to 15 elements: in[] has column and value of each.
  const u32 row = global_id(), first = row * 16, count = in[row] % 16;
  f32 sum = 0;
  for (u32 k = first; k < first + count; ++k) {
    const u32 column = in[256 + k] % n;
    const f32 value = (f32)(i32)in[256 + k] * 0x1p-31f;
    sum += value * ((f32)(in[column] >> 8) * 0x1p-24f);
  }
  out[row] = f32_bits(sum);
}
CASE(sparse_matrix, .items = {64}, .groups = {4}, .n = 256, .words_in = 256 + 4096,
     .words_out = 256)

KERNEL(compaction, 64) {
  // Kept words in the order of the input, by a count of each wave before.
  const u32 l = local_id();
  u32 base = 0;
  for (u32 first = 0; first < n; first += 64) {
    const u32 v = in[first + l];
    const u64 kept = ballot(v % 3 == 0);
    if (v % 3 == 0) out[base + count_below(kept)] = v;
    base += (u32)__builtin_popcountl(kept);
  }
  if (l == 0) out[n] = base;
}
CASE(compaction, .items = {64}, .n = 1024, .words_in = 1024, .words_out = 1025)

KERNEL(three_dimensions, 60) {
  const u32 x = group_id() * 5 + local_id(), y = group_id_y() * 4 + local_id_y();
  const u32 z = group_id_z() * 3 + local_id_z();
  out[(z * 8 + y) * 10 + x] = x | y << 8 | z << 16 | local_id_z() << 24 | group_id_z() << 28;
}
CASE(three_dimensions, .items = {5, 4, 3}, .groups = {2, 2, 3}, .words_out = 720)

DEVICE static u32 counters[4];
DEVICE static const u32 constants[6] = {3, 1, 4, 1, 5, 9};

KERNEL(device_variables, 64) {
  atomic_add(&counters[local_id() % 4], constants[in[local_id()] % 6]);
  barrier();
  if (local_id() < 4) out[local_id()] = counters[local_id()];
}
CASE(device_variables, .items = {64}, .words_in = 64, .words_out = 4)
