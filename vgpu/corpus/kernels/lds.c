// Work-groups that share memory and wait for each other.
#include "vgpu/corpus/corpus.h"

SHARED u32 words[1024];

KERNEL(reduce_sum, 256) {
  const u32 l = local_id();
  words[l] = in[global_id()];
  barrier();
  for (u32 half = 128; half; half >>= 1) {
    if (l < half) words[l] += words[l + half];
    barrier();
  }
  if (l == 0) out[group_id()] = words[0];
}
CASE(reduce_sum, .items = {256}, .groups = {6}, .words_in = 1536, .words_out = 6)

KERNEL(reduce_large_group, 1024) {
  const u32 l = local_id();
  words[l] = in[l] ^ l;
  barrier();
  for (u32 stride = 1; stride < 1024; stride *= 2) {
    if (l % (2 * stride) == 0 && words[l + stride] > words[l]) words[l] = words[l + stride];
    barrier();
  }
  out[l] = words[l];
}
CASE(reduce_large_group, .items = {1024}, .words_in = 1024, .words_out = 1024)

KERNEL(scan_hillis_steele, 256) {
  const u32 l = local_id();
  u32 from = 0;
  words[l] = in[global_id()];
  barrier();
  for (u32 offset = 1; offset < 256; offset *= 2) {
    words[(1 - from) * 256 + l] =
        words[from * 256 + l] + (l >= offset ? words[from * 256 + l - offset] : 0);
    from = 1 - from;
    barrier();
  }
  out[global_id()] = words[from * 256 + l];
}
CASE(scan_hillis_steele, .items = {256}, .groups = {3}, .words_in = 768, .words_out = 768)

KERNEL(scan_blelloch, 128) {
  const u32 l = local_id(), base = group_id() * 256;
  words[2 * l] = in[base + 2 * l];
  words[2 * l + 1] = in[base + 2 * l + 1];
  u32 offset = 1;
  for (u32 d = 128; d; d >>= 1) {
    barrier();
    if (l < d) words[offset * (2 * l + 2) - 1] += words[offset * (2 * l + 1) - 1];
    offset *= 2;
  }
  if (l == 0) words[255] = 0;
  for (u32 d = 1; d < 256; d *= 2) {
    offset >>= 1;
    barrier();
    if (l < d) {
      const u32 a = offset * (2 * l + 1) - 1, b = offset * (2 * l + 2) - 1, t = words[a];
      words[a] = words[b];
      words[b] += t;
    }
  }
  barrier();
  out[base + 2 * l] = words[2 * l];
  out[base + 2 * l + 1] = words[2 * l + 1];
}
CASE(scan_blelloch, .items = {128}, .groups = {3}, .words_in = 768, .words_out = 768)

KERNEL(transpose, 256) {
  // 16 x 16 tiles of a 48 x 32 matrix; a row of 17 words avoids bank conflicts.
  const u32 x = local_id(), y = local_id_y();
  words[y * 17 + x] = in[(group_id_y() * 16 + y) * 48 + group_id() * 16 + x];
  barrier();
  out[(group_id() * 16 + y) * 32 + group_id_y() * 16 + x] = words[x * 17 + y];
}
CASE(transpose, .items = {16, 16}, .groups = {3, 2}, .words_in = 1536, .words_out = 1536)

KERNEL(bitonic_sort, 256) {
  const u32 l = local_id();
  for (u32 k = 0; k < 4; ++k) words[l + 256 * k] = in[group_id() * 1024 + l + 256 * k];
  for (u32 size = 2; size <= 1024; size *= 2) {
    for (u32 stride = size / 2; stride; stride /= 2) {
      barrier();
      for (u32 k = l; k < 512; k += 256) {
        const u32 a = 2 * stride * (k / stride) + k % stride, b = a + stride;
        const u32 va = words[a], vb = words[b];
        if ((va > vb) == ((a & size) == 0)) {
          words[a] = vb;
          words[b] = va;
        }
      }
    }
  }
  barrier();
  for (u32 k = 0; k < 4; ++k) out[group_id() * 1024 + l + 256 * k] = words[l + 256 * k];
}
CASE(bitonic_sort, .items = {256}, .groups = {2}, .words_in = 2048, .words_out = 2048)

KERNEL(local_histogram, 128) {
  const u32 l = local_id();
  words[l] = 0;
  words[l + 128] = 0;
  barrier();
  for (u32 k = 0; k < 8; ++k) {
    const u32 v = in[group_id() * 1024 + k * 128 + l];
    atomic_add(&words[v & 255], 1);
    atomic_add(&words[v >> 24], 0x10000);
  }
  barrier();
  atomic_add(&out[l], words[l]);
  atomic_add(&out[l + 128], words[l + 128]);
}
CASE(local_histogram, .items = {128}, .groups = {4}, .words_in = 4096, .words_out = 256)

SHARED f32 tile_a[16][16], tile_b[16][16];

KERNEL(sgemm, 256) {
  // 48 x 32 times 32 x 32.
  const u32 x = local_id(), y = local_id_y(), column = group_id() * 16 + x;
  const u32 row = group_id_y() * 16 + y;
  f32 sum = 0;
  for (u32 t = 0; t < 32; t += 16) {
    tile_a[y][x] = as_f32(in[row * 32 + t + x]);
    tile_b[y][x] = as_f32(in[1536 + (t + y) * 32 + column]);
    barrier();
    for (u32 k = 0; k < 16; ++k) sum = __builtin_fmaf(tile_a[y][k], tile_b[k][x], sum);
    barrier();
  }
  out[row * 32 + column] = f32_bits(sum);
}
CASE(sgemm, .items = {16, 16}, .groups = {2, 3}, .words_in = 2560, .words_out = 1536,
     .prepare = unit_floats)

KERNEL(stencil, 128) {
  // Five points, with a halo, three steps in LDS.
  const u32 l = local_id(), i = global_id();
  u32 v = in[i];
  for (u32 step = 0; step < 3; ++step) {
    words[l + 2] = v;
    if (l < 2) words[l] = in[(i + n - 2) % n];
    if (l >= 126) words[l + 4] = in[(i + 2) % n];
    barrier();
    v = words[l] + words[l + 1] * 4 + words[l + 2] * 6 + words[l + 3] * 4 + words[l + 4];
    barrier();
  }
  out[i] = v;
}
CASE(stencil, .items = {128}, .groups = {4}, .n = 512, .words_in = 512, .words_out = 512)

KERNEL(radix_sort, 64) {
  // 4 bits a pass, 256 keys, with per-lane counts.
  const u32 l = local_id();
  LOCAL u32* const keys = &words[0];
  LOCAL u32* const sorted = &words[256];
  LOCAL u32* const counts = &words[512];
  for (u32 k = 0; k < 4; ++k) keys[4 * l + k] = in[4 * l + k];
  for (u32 shift = 0; shift < 32; shift += 4) {
    u32 totals[16] = {0};
    barrier();
    for (u32 digit = 0; digit < 4; ++digit) counts[l * 4 + digit] = 0;
    for (u32 k = 0; k < 4; ++k) totals[keys[4 * l + k] >> shift & 15] += 1;
    u32 base = 0;
    for (u32 digit = 0; digit < 16; ++digit) {
      barrier();
      counts[l] = totals[digit];
      barrier();
      u32 before = 0, all = 0;
      for (u32 k = 0; k < 64; ++k) {
        if (k < l) before += counts[k];
        all += counts[k];
      }
      totals[digit] = base + before;
      base += all;
    }
    barrier();
    for (u32 k = 0; k < 4; ++k) {
      const u32 key = keys[4 * l + k];
      sorted[totals[key >> shift & 15]++] = key;
    }
    barrier();
    for (u32 k = 0; k < 4; ++k) keys[4 * l + k] = sorted[4 * l + k];
  }
  for (u32 k = 0; k < 4; ++k) out[4 * l + k] = keys[4 * l + k];
}
CASE(radix_sort, .items = {64}, .words_in = 256, .words_out = 256)

SHARED f32 re[256], im[256];

KERNEL(fft, 128) {
  // 256 points, decimation in time; the twiddle factors are part of the input.
  const u32 l = local_id();
  for (u32 k = l; k < 256; k += 128) {
    const u32 reversed = __builtin_bitreverse32(k) >> 24;
    re[reversed] = as_f32(in[2 * k]);
    im[reversed] = as_f32(in[2 * k + 1]);
  }
  for (u32 half = 1; half < 256; half *= 2) {
    barrier();
    const u32 a = l / half * 2 * half + l % half, b = a + half, w = l % half * (128 / half);
    const f32 wr = as_f32(in[512 + 2 * w]), wi = as_f32(in[512 + 2 * w + 1]);
    const f32 tr = re[b] * wr - im[b] * wi, ti = re[b] * wi + im[b] * wr;
    re[b] = re[a] - tr;
    im[b] = im[a] - ti;
    re[a] += tr;
    im[a] += ti;
  }
  barrier();
  for (u32 k = l; k < 256; k += 128) {
    out[2 * k] = f32_bits(re[k]);
    out[2 * k + 1] = f32_bits(im[k]);
  }
}
CASE(fft, .items = {128}, .words_in = 768, .words_out = 512, .prepare = unit_floats)

SHARED u8 bytes[2048];
SHARED u64 wide[256];

KERNEL(mixed_widths, 256) {
  const u32 l = local_id();
  u16 LOCAL* const shorts = (u16 LOCAL*)&words[0];
  for (u32 k = 0; k < 8; ++k) bytes[l * 8 + k] = (u8)(in[l] >> k);
  wide[l] = in[l] * 0x100000001ul;
  shorts[l] = (u16)(in[l] >> 5);
  barrier();
  const u32 other = (l * 37 + 11) & 255;
  u64 sum = wide[other] ^ wide[other ^ 1] << 1;
  sum += (u64)(i16)shorts[other] + shorts[l ^ 3];
  for (u32 k = 0; k < 5; ++k) sum = sum * 3 + (u64)(i8)bytes[(other * 8 + k * 3) & 2047];
  out[2 * l] = (u32)sum;
  out[2 * l + 1] = sum >> 32;
}
CASE(mixed_widths, .items = {256}, .words_in = 256, .words_out = 512)

KERNEL(game_of_life, 256) {
  // 32 x 32 on a torus, a row of four cells for each work-item, five generations.
  const u32 l = local_id();
  u8 LOCAL* const cells = (u8 LOCAL*)&words[0];
  for (u32 k = 0; k < 4; ++k) cells[l * 4 + k] = in[l] >> k * 8 & 1;
  for (u32 generation = 0; generation < 5; ++generation) {
    barrier();
    u8 next[4];
    for (u32 k = 0; k < 4; ++k) {
      const u32 at = l * 4 + k, x = at & 31, y = at >> 5;
      u32 alive = 0;
      for (u32 d = 0; d < 9; ++d)
        if (d != 4) alive += cells[((y + d / 3 - 1) & 31) * 32 + ((x + d % 3 - 1) & 31)];
      next[k] = alive == 3 || (alive == 2 && cells[at]);
    }
    barrier();
    for (u32 k = 0; k < 4; ++k) cells[l * 4 + k] = next[k];
  }
  out[l] = cells[4 * l] | cells[4 * l + 1] << 8 | cells[4 * l + 2] << 16 | (u32)cells[4 * l + 3] << 24;
}
CASE(game_of_life, .items = {256}, .words_in = 256, .words_out = 256)

KERNEL(warshall, 256) {
  // All shortest paths in a graph of 16 nodes, then which nodes reach which as bit sets.
  const u32 x = local_id(), y = local_id_y(), at = y * 16 + x;
  words[at] = x == y ? 0 : in[at] & 3 ? 100000 : in[at] % 1000;
  for (u32 k = 0; k < 16; ++k) {
    barrier();
    const u32 through = words[y * 16 + k] + words[k * 16 + x];
    barrier();
    if (through < words[at]) words[at] = through;
  }
  barrier();
  u32 reach = 0;
  for (u32 k = 0; k < 16; ++k) reach |= (u32)(words[y * 16 + k] < 100000) << k;
  out[at] = words[at] + (reach << 16);
}
CASE(warshall, .items = {16, 16}, .words_in = 256, .words_out = 256)
