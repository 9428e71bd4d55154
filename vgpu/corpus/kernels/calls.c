// Functions that are called, and what they keep on the stack.
#include "vgpu/corpus/corpus.h"

NOINLINE u32 ackermann(u32 m, u32 k) {
  if (m == 0) return k + 1;
  if (k == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, k - 1));
}

KERNEL(recursion, 64) {
  const u32 i = global_id();
  out[i] = ackermann(i % 3, i % 5 + i % 2);
}
CASE(recursion, .items = {64}, .groups = {2}, .words_out = 128)

NOINLINE u32 is_even(u32 v);
NOINLINE u32 is_odd(u32 v) {
  return v == 0 ? 0 : is_even(v - 1);
}
NOINLINE u32 is_even(u32 v) {
  return v == 0 ? 1 : is_odd(v - 1);
}
NOINLINE u64 fibonacci(u32 k) {
  return k < 2 ? k : fibonacci(k - 1) + fibonacci(k - 2);
}

KERNEL(mutual_recursion, 64) {
  const u32 i = global_id();
  out[2 * i] = is_even(i % 23);
  out[2 * i + 1] = (u32)fibonacci(i % 9);
}
CASE(mutual_recursion, .items = {64}, .groups = {2}, .words_out = 256)

NOINLINE u32 op_add(u32 a, u32 b) { return a + b; }
NOINLINE u32 op_multiply(u32 a, u32 b) { return a * b; }
NOINLINE u32 op_divide(u32 a, u32 b) { return a / (b | 1); }
NOINLINE u32 op_loop(u32 a, u32 b) {
  for (u32 k = 0; k < (b & 15); ++k) a = a * 33 + k;
  return a;
}
typedef u32 (*Operation)(u32, u32);
DEVICE static const Operation operations[] = {op_add, op_multiply, op_divide, op_loop};

KERNEL(indirect_calls, 64) {
  const u32 i = global_id();
  u32 v = in[i];
  for (u32 k = 0; k < 6; ++k) v = operations[v >> 7 & 3](v, in[(i + k) % n]);  // each lane its own
  out[i] = v;
}
CASE(indirect_calls, .items = {64}, .groups = {4}, .n = 256, .words_in = 256, .words_out = 256)

NOINLINE u32 fold(const u32* values, u32 count, Operation f, u32 start) {
  for (u32 k = 0; k < count; ++k) start = f(start, values[k]);
  return start;
}

KERNEL(callbacks, 64) {
  const u32 i = global_id();
  u32 values[9];
  for (u32 k = 0; k < 9; ++k) values[k] = in[(i * 5 + k) % n];
  const u32 sum = fold(values, i % 10, op_add, 1);
  out[i] = fold(values, 9, operations[i % 4], sum);
}
CASE(callbacks, .items = {64}, .groups = {4}, .n = 256, .words_in = 256, .words_out = 256)

struct Small {
  u16 a;
  u8 b;
  i8 c;
};
struct Large {
  u64 wide[3];
  u32 narrow[5];
  f64 real;
  struct Small small;
};

NOINLINE struct Small change_small(struct Small s, u8 by) {
  s.a = (u16)(s.a * 3 + by);
  s.b ^= by;
  s.c = (i8)(s.c - by);
  return s;
}
NOINLINE struct Large change_large(struct Large s, u32 which) {
  s.wide[which % 3] += s.narrow[which % 5];
  s.narrow[(which + 1) % 5] ^= (u32)(s.wide[which % 3] >> 13);
  s.real = s.real * 0.5 + which;
  s.small = change_small(s.small, (u8)which);
  return s;
}

KERNEL(structs_by_value, 64) {
  const u32 i = global_id();
  struct Large s = {{i, i * 7ul << 30, ~(u64)i}, {in[i], 1, 2, 3, 4}, 1.5, {9, 8, 7}};
  for (u32 k = 0; k < 10; ++k) s = change_large(s, in[i] >> k & 15);
  u64 hash = __builtin_bit_cast(u64, s.real);
  for (u32 k = 0; k < 3; ++k) hash = hash * 1000003 ^ s.wide[k];
  for (u32 k = 0; k < 5; ++k) hash = hash * 1000003 ^ s.narrow[k];
  hash = hash * 31 + s.small.a + ((u64)s.small.b << 20) + (u64)(i64)s.small.c;
  out[2 * i] = (u32)hash;
  out[2 * i + 1] = hash >> 32;
}
CASE(structs_by_value, .items = {64}, .groups = {4}, .words_in = 256, .words_out = 512)

NOINLINE u64 many_arguments(u32 a, u64 b, u8 c, f32 d, u16 e, f64 f, u32 g, u32 h, u64 k, u32 l,
                            u32 m, u32 o, u32 p, u64 q, u32 r, u32 s, u32 t, u32 u, u32 v, u64 w,
                            u32 x, u32 y, u32 z, u64 a2, u64 b2, u64 c2, u64 d2) {
  return a + b * 3 + c + (u64)(d * 16) + e + (u64)(f * 4) + (g ^ h) + k * 5 + l + m * 7 + o + p + q +
         r * 11ul + s + t + u * 13ul + v + w + x + (y ^ z) + a2 * 17 + b2 + c2 * 19 + (d2 >> 3);
}

KERNEL(arguments_on_the_stack, 64) {
  const u32 i = global_id(), v = in[i];
  const u64 r = many_arguments(v, v * 2ul, (u8)v, (f32)(v >> 20), (u16)v, (v >> 10) * 0.25, v + 1, v + 2,
                               v + 3, v + 4, v + 5, v + 6, v + 7, v + 8ul, v + 9, v + 10, v + 11,
                               v + 12, v + 13, v + 14ul, v + 15, v + 16, v + 17, v * 18ul, v * 19ul,
                               v * 20ul, v * 21ul);
  out[2 * i] = (u32)r;
  out[2 * i + 1] = r >> 32;
}
CASE(arguments_on_the_stack, .items = {64}, .groups = {2}, .words_in = 128, .words_out = 256)

KERNEL(sort_in_scratch, 64) {
  const u32 i = global_id(), count = 20 + i % 13;
  u32 v[32];
  for (u32 k = 0; k < count; ++k) v[k] = in[(i * 3 + k) % n];
  for (u32 k = 1; k < count; ++k) {
    const u32 x = v[k];
    u32 at = k;
    for (; at > 0 && v[at - 1] > x; --at) v[at] = v[at - 1];
    v[at] = x;
  }
  for (u32 k = 0; k < 32; ++k) out[32 * i + k] = k < count ? v[k] : k;
}
CASE(sort_in_scratch, .items = {64}, .groups = {2}, .n = 512, .words_in = 512, .words_out = 4096)

KERNEL(bytes_in_scratch, 64) {
  const u32 i = global_id();
  u8 bytes[61];
  u16 shorts[17];
  u64 words[5] = {0};
  for (u32 k = 0; k < 61; ++k) bytes[k] = (u8)(in[(i + k) % n] >> k % 24);
  for (u32 k = 0; k < 17; ++k) shorts[k] = (u16)(bytes[k * 3] * 257 + k);
  for (u32 k = 0; k < 40; ++k) {
    const u32 a = bytes[k] % 61, b = shorts[a % 17] % 61;
    const u8 t = bytes[a];
    bytes[a] = bytes[b];
    bytes[b] = t;
    shorts[b % 17] ^= (u16)(t << 3);
    words[t % 5] += (u64)(i16)shorts[a % 17] << 7;
  }
  u64 hash = 0;
  for (u32 k = 0; k < 61; ++k) hash = hash * 31 + (u64)(i8)bytes[k];
  for (u32 k = 0; k < 17; ++k) hash = hash * 37 + shorts[k];
  for (u32 k = 0; k < 5; ++k) hash = hash * 41 + words[k];
  out[2 * i] = (u32)hash;
  out[2 * i + 1] = hash >> 32;
}
CASE(bytes_in_scratch, .items = {64}, .groups = {4}, .n = 256, .words_in = 256, .words_out = 512)

NOINLINE u32 place_queens(u32 size, u32 row, u32 columns, u32 left, u32 right) {
  if (row == size) return 1;
  u32 found = 0;
  for (u32 free = ~(columns | left | right) & ((1u << size) - 1); free; free &= free - 1) {
    const u32 bit = free & -free;
    found += place_queens(size, row + 1, columns | bit, (left | bit) << 1, (right | bit) >> 1);
  }
  return found;
}

KERNEL(queens, 64) {
  const u32 i = local_id(), size = 4 + i % 3, bit = 1u << i % size;
  out[i] = place_queens(size, 1, bit, bit << 1, bit >> 1);
}
CASE(queens, .items = {64}, .words_out = 64)

struct Node {
  u32 key;
  u16 child[2];
};

KERNEL(tree_walk, 64) {
  // A search tree in scratch, and a walk through it in order with a stack.
  const u32 i = global_id();
  struct Node nodes[24];
  for (u32 k = 0; k < 24; ++k) {
    const u32 key = in[(i * 7 + k) % n];
    nodes[k] = (struct Node){key, {0, 0}};
    for (u32 at = 0; k > 0;) {
      u16* const next = &nodes[at].child[key > nodes[at].key];
      if (*next == 0) {
        *next = (u16)k;
        break;
      }
      at = *next;
    }
  }
  u16 stack[24];
  u32 depth = 0, at = 0, written = 0, here = 1;
  while (here || depth) {
    while (here) {
      stack[depth++] = (u16)at;
      at = nodes[at].child[0];
      here = at != 0;
    }
    at = stack[--depth];
    out[24 * i + written++] = nodes[at].key;
    at = nodes[at].child[1];
    here = at != 0;
  }
}
CASE(tree_walk, .items = {64}, .groups = {2}, .n = 300, .words_in = 300, .words_out = 3072)

KERNEL(large_frame, 64) {
  // 8 KiB of scratch for each work-item.
  const u32 i = local_id();
  u32 table[2048];
  for (u32 k = 0; k < 2048; k += 4) {
    table[k] = k * i;
    table[k + 1] = k ^ i;
    table[k + 2] = k + i;
    table[k + 3] = in[(k + i) % n];
  }
  u32 at = i, sum = 0;
  for (u32 k = 0; k < 300; ++k) {
    sum += table[at];
    at = (table[at] + k) % 2048;
    table[at] += sum;
  }
  out[i] = sum;
}
CASE(large_frame, .items = {64}, .n = 512, .words_in = 512, .words_out = 64)
