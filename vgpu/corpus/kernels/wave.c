// What the lanes of a wave do together; wave_host.h is the model.
#include "vgpu/corpus/corpus.h"

KERNEL(shuffle, 128) {
  const u32 i = global_id(), v = in[i];
  out[4 * i] = bpermute(v, in[(i + 1) % n]);
  out[4 * i + 1] = permute(v, lane_id() * 13 + 5);
  out[4 * i + 2] = bpermute(v, lane_id() ^ 21) + bpermute(v, lane_id() + 3);
  out[4 * i + 3] = read_lane(v, 17) ^ first_lane(v * 3) ^ write_lane(v, in[0], 9);
}
CASE(shuffle, .items = {128}, .groups = {2}, .n = 256, .words_in = 256, .words_out = 1024)

KERNEL(swizzles, 64) {
  const u32 i = global_id(), v = in[i];
  u32 r = swizzle(v, 0x041f);            // xor 1
  r = r * 3 + swizzle(v, 0x7c1f);        // mirrored
  r = r * 3 + swizzle(v, 0x001c);        // the first of each four
  r = r * 3 + swizzle(v, 0x801b);        // each four reversed
  r = r * 3 + swizzle(v, 0x8000 | 0x39); // each four rotated
  r = r * 3 + swizzle(v, 0x10f0);        // and, or and xor
  out[i] = r;
}
CASE(swizzles, .items = {64}, .groups = {4}, .words_in = 256, .words_out = 256)

KERNEL(data_parallel_primitives, 64) {
  const u32 i = global_id(), v = in[i], old = ~v;
  GLOBAL u32* const to = &out[24 * i];
  to[0] = dpp(old, v, 0x1b, 0xf, 0xf, 0);
  to[1] = dpp(old, v, 0x4e, 0xf, 0xf, 1);
  to[2] = dpp(old, v, 0x101, 0xf, 0xf, 0);
  to[3] = dpp(old, v, 0x10f, 0xf, 0xf, 1);
  to[4] = dpp(old, v, 0x111, 0xf, 0xf, 1);
  to[5] = dpp(old, v, 0x118, 0xf, 0xf, 0);
  to[6] = dpp(old, v, 0x123, 0xf, 0xf, 0);
  to[7] = dpp(old, v, 0x130, 0xf, 0xf, 0);
  to[8] = dpp(old, v, 0x134, 0xf, 0xf, 0);
  to[9] = dpp(old, v, 0x138, 0xf, 0xf, 1);
  to[10] = dpp(old, v, 0x13c, 0xf, 0xf, 0);
  to[11] = dpp(old, v, 0x140, 0xf, 0xf, 0);
  to[12] = dpp(old, v, 0x141, 0xf, 0xf, 0);
  to[13] = dpp(old, v, 0x142, 0xa, 0xf, 0);
  to[14] = dpp(old, v, 0x143, 0xc, 0xf, 0);
  to[15] = dpp(old, v, 0x142, 0xf, 0xf, 1);
  to[16] = dpp(old, v, 0x1b, 0x5, 0x3, 0);
  to[17] = dpp(old, v, 0x112, 0x9, 0x6, 1);
  to[18] = dpp(v, v, 0x121, 0xf, 0xf, 0) + v;
  to[19] = v - dpp(0, v, 0x111, 0xf, 0xf, 0);
  to[20] = f32_bits((f32)(v >> 9) + (f32)(dpp(0, v >> 9, 0xb1, 0xf, 0xf, 1)));
  to[21] = v & dpp(~0u, v, 0x114, 0xf, 0xf, 0);
  to[22] = (u32)((i32)dpp(v, v, 0x140, 0xf, 0xf, 1) > (i32)v);
  to[23] = v * dpp(1, v, 0x102, 0xf, 0x7, 0);
}
CASE(data_parallel_primitives, .items = {64}, .groups = {3}, .words_in = 192, .words_out = 4608)

KERNEL(wave_scan, 64) {
  const u32 i = global_id();
  u32 v = in[i];
  v += dpp(0, v, 0x111, 0xf, 0xf, 0);
  v += dpp(0, v, 0x112, 0xf, 0xf, 0);
  v += dpp(0, v, 0x114, 0xf, 0xe, 0);
  v += dpp(0, v, 0x118, 0xf, 0xc, 0);
  v += dpp(0, v, 0x142, 0xa, 0xf, 0);
  v += dpp(0, v, 0x143, 0xc, 0xf, 0);
  out[2 * i] = v;
  u32 smallest = in[i];
  for (u32 step = 1; step < 64; step *= 2) {
    const u32 other = bpermute(smallest, lane_id() ^ step);
    if (other < smallest) smallest = other;
  }
  out[2 * i + 1] = smallest ^ read_lane(v, 63);
}
CASE(wave_scan, .items = {64}, .groups = {4}, .words_in = 256, .words_out = 512)

KERNEL(ballots, 64) {
  const u32 i = global_id(), v = in[i];
  const u64 odd = ballot(v & 1), large = ballot(v >> 31);
  out[4 * i] = count_below(odd);
  out[4 * i + 1] = (u32)(odd ^ large);
  out[4 * i + 2] = (odd & ~large) >> 32;
  out[4 * i + 3] = (u32)__builtin_popcountl(odd) << 16 | (odd ? (u32)__builtin_ctzl(odd) : 99);
}
CASE(ballots, .items = {64}, .groups = {4}, .words_in = 256, .words_out = 1024)

KERNEL(divergent_ballots, 64) {
  // Keys are in program order: round * 4 + place.
  const u32 i = global_id();
  u32 v = in[i], sum = 0;
  for (u32 round = 0; round < v % 9; ++round) {
    sum += (u32)__builtin_popcountl(ballot_at(round * 4, 1));
    if (v >> round & 1) {
      sum = sum * 3 + (u32)ballot_at(round * 4 + 1, v & 0x100);
    } else {
      sum ^= first_lane_at(round * 4 + 2, v) + bpermute_at(round * 4 + 3, v, lane_id() + 1);
    }
    v = rotate_left(v, 3) | 8;
  }
  out[i] = sum;
}
CASE(divergent_ballots, .items = {64}, .groups = {4}, .words_in = 256, .words_out = 256)

KERNEL(waterfall, 64) {
  // Lanes with equal values go round together.
  const u32 i = global_id(), v = in[i] % 6;
  u32 order = 0, company = 0;
  for (u32 round = 0;; ++round) {
    const u32 leader = first_lane_at(round * 2, v);
    // Not behind the comparison: what leads out of a loop only may run after it, with all lanes.
    const u64 equal = ballot_at(round * 2 + 1, leader == v);
    if (leader != v) continue;
    company = (u32)__builtin_popcountl(equal);
    order = round;
    break;
  }
  out[i] = order << 16 | company << 8 | v;
}
CASE(waterfall, .items = {64}, .groups = {4}, .words_in = 256, .words_out = 256)

KERNEL(partial_wave, 50) {
  // EXEC has 50 lanes; a lane that is not there gives 0.
  const u32 l = local_id(), v = in[group_id() * 50 + l];
  out[group_id() * 50 + l] = bpermute(v, l + 20) ^ (u32)(ballot(v & 2) >> 20) ^ dpp(v, v, 0x130, 0xf, 0xf, 1);
}
CASE(partial_wave, .items = {50}, .groups = {3}, .words_in = 150, .words_out = 150)

SHARED u32 group_sums[4];

KERNEL(hierarchical_scan, 256) {
  const u32 l = local_id(), wave = l / 64;
  u32 v = in[global_id()];
  for (u32 step = 1; step < 64; step *= 2) {
    const u32 below = bpermute(v, lane_id() - step);
    if (lane_id() >= step) v += below;
  }
  if (lane_id() == 63) group_sums[wave] = v;
  barrier();
  for (u32 w = 0; w < wave; ++w) v += group_sums[w];
  out[global_id()] = v;
}
CASE(hierarchical_scan, .items = {256}, .groups = {3}, .words_in = 768, .words_out = 768)
