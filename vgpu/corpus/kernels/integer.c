// Integer arithmetic of every width.
#include "vgpu/corpus/corpus.h"

FUNCTION u64 pair(GLOBAL const u32* in, u32 i) {
  return in[i] | (u64)in[i + 1] << 32;
}
FUNCTION void put64(GLOBAL u32* out, u32 i, u64 v) {
  out[i] = (u32)v;
  out[i + 1] = v >> 32;
}

KERNEL(divide32, 256) {
  const u32 i = global_id(), a = in[i], b = in[i + n] | (in[i + n] == 0);
  const i32 sa = (i32)a, sb = (i32)b == -1 ? 7 : (i32)b;  // the smallest / -1 traps on the host
  out[4 * i] = a / b;
  out[4 * i + 1] = a % b;
  out[4 * i + 2] = (u32)(sa / sb);
  out[4 * i + 3] = (u32)(sa % sb);
}
CASE(divide32, .items = {256}, .groups = {4}, .n = 1024, .words_in = 2048, .words_out = 4096,
     .prepare = edge_words)

KERNEL(divide64, 64) {
  const u32 i = global_id();
  const u64 a = pair(in, 2 * i), c = pair(in, 2 * (i + n)), b = c ? c : 3;
  const i64 sa = (i64)a, sb = (i64)b == -1 ? 5 : (i64)b;
  put64(out, 8 * i, a / b);
  put64(out, 8 * i + 2, a % b);
  put64(out, 8 * i + 4, (u64)(sa / sb));
  put64(out, 8 * i + 6, (u64)(sa % sb));
}
CASE(divide64, .items = {64}, .groups = {8}, .n = 512, .words_in = 2048, .words_out = 4096,
     .prepare = edge_words)

KERNEL(divide_constants, 64) {
  const u32 i = global_id(), a = in[i];
  const i32 s = (i32)a;
  const u64 w = pair(in, i & ~1u);
  u32 sum = a / 3 + a % 10 * 7 + a / 641 + a % 1000003;
  sum ^= (u32)(s / 7) + (u32)(s % 16) + (u32)(s / -5) + (u32)(s / 4096);
  put64(out, 2 * i, w / 10 + w % 1000000007 + (u64)((i64)w / 60) + sum);
}
CASE(divide_constants, .items = {64}, .groups = {8}, .words_in = 512, .words_out = 1024,
     .prepare = edge_words)

KERNEL(narrow_division, 64) {
  const u32 i = global_id(), a = in[i], b = in[i + n];
  const u8 b8 = (u8)b ? (u8)b : 1;
  const u16 b16 = (u16)b ? (u16)b : 9;
  const i8 s8 = (i8)b8 == -1 ? 3 : (i8)b8;
  const i16 s16 = (i16)b16 == -1 ? 11 : (i16)b16;
  u32 r = (u8)((u8)a / b8) | (u32)(u8)((u8)a % b8) << 8;
  r |= (u32)(u8)((i8)a / s8) << 16 | (u32)(u8)((i8)a % s8) << 24;
  out[3 * i] = r;
  out[3 * i + 1] = (u16)((u16)a / b16) | (u32)(u16)((u16)a % b16) << 16;
  out[3 * i + 2] = (u16)((i16)a / s16) | (u32)(u16)((i16)a % s16) << 16;
}
CASE(narrow_division, .items = {64}, .groups = {8}, .n = 512, .words_in = 1024, .words_out = 1536,
     .prepare = edge_words)

KERNEL(multiply, 64) {
  const u32 i = global_id(), a = in[i], b = in[i + n];
  const u64 wa = pair(in, i), wb = pair(in, i + n - 1);
  out[10 * i] = a * b;
  out[10 * i + 1] = (u32)((u64)a * b >> 32);
  out[10 * i + 2] = (u32)((i64)(i32)a * (i32)b >> 32);
  out[10 * i + 3] = (a & 0xffffff) * (b & 0xffffff) + a;
  put64(out, 10 * i + 4, wa * wb);
  put64(out, 10 * i + 6, (u64)((unsigned __int128)wa * wb >> 64));
  put64(out, 10 * i + 8, (u64)((__int128)(i64)wa * (i64)wb >> 64));
}
CASE(multiply, .items = {64}, .groups = {4}, .n = 256, .words_in = 513, .words_out = 2560,
     .prepare = edge_words)

KERNEL(shifts, 64) {
  const u32 i = global_id(), a = in[i], c = in[i + n];
  const u64 w = pair(in, i);
  put64(out, 12 * i, w << (c & 63));
  put64(out, 12 * i + 2, w >> (c & 63));
  put64(out, 12 * i + 4, (u64)((i64)w >> (c & 63)));
  put64(out, 12 * i + 6, w << (c & 63) | w >> (-c & 63));
  out[12 * i + 8] = a << (c & 31) ^ (u32)((i32)a >> (c & 31));
  out[12 * i + 9] = rotate_left(a, c) ^ a >> (c >> 5 & 31);
  out[12 * i + 10] = (u16)((u16)a << (c & 15)) | (u32)(u16)((i16)a >> (c & 15)) << 16;
  out[12 * i + 11] = (u8)((u8)a << (c & 7)) | (u32)(u8)((i8)a >> (c & 7)) << 8 |
                     (u32)(u16)((u16)a >> (c >> 8 & 15)) << 16;
}
CASE(shifts, .items = {64}, .groups = {4}, .n = 256, .words_in = 512, .words_out = 3072,
     .prepare = edge_words)

KERNEL(count_bits, 64) {
  const u32 i = global_id(), a = in[i];
  const u64 w = pair(in, i);
  u32 counts = (u32)__builtin_popcount(a) | (u32)(a ? __builtin_clz(a) : 32) << 8;
  counts |= (u32)(a ? __builtin_ctz(a) : 32) << 16 | (u32)__builtin_parity(a) << 24;
  u32 wide = (u32)__builtin_popcountl(w) | (u32)(w ? __builtin_clzl(w) : 64) << 8;
  wide |= (u32)(w ? __builtin_ctzl(w) : 64) << 16 | (u32)__builtin_ffsl((i64)w) << 24;
  out[8 * i] = counts;
  out[8 * i + 1] = wide;
  out[8 * i + 2] = __builtin_bitreverse32(a);
  out[8 * i + 3] = __builtin_bswap32(a);
  put64(out, 8 * i + 4, __builtin_bitreverse64(w) ^ __builtin_bswap64(w));
  out[8 * i + 6] = __builtin_bitreverse16((u16)a) | (u32)__builtin_bswap16((u16)a) << 16;
  out[8 * i + 7] = (u32)__builtin_clrsb((i32)a) | (u32)__builtin_bitreverse8((u8)a) << 8;
}
CASE(count_bits, .items = {64}, .groups = {4}, .words_in = 257, .words_out = 2048,
     .prepare = edge_words)

KERNEL(carry_chains, 64) {
  const u32 i = global_id();
  u32 a[8], b[8], sum[8], difference[8];
  for (u32 k = 0; k < 8; ++k) {
    a[k] = in[i + k];
    b[k] = in[i + n + k];
  }
  u32 carry = 0, borrow = 0;
  for (u32 k = 0; k < 8; ++k) {
    u32 next, over;
    over = __builtin_add_overflow(a[k], b[k], &next);
    over |= (u32)__builtin_add_overflow(next, carry, &sum[k]);
    carry = over;
    over = __builtin_sub_overflow(a[k], b[k], &next);
    over |= (u32)__builtin_sub_overflow(next, borrow, &difference[k]);
    borrow = over;
  }
  i32 product, s;
  i64 wide;
  u32 flags = carry | borrow << 1;
  flags |= (u32)__builtin_mul_overflow((i32)a[0], (i32)b[0], &product) << 2;
  flags |= (u32)__builtin_add_overflow((i32)a[1], (i32)b[1], &s) << 3;
  flags |= (u32)__builtin_mul_overflow((i64)(a[2] | (u64)a[3] << 32), (i64)b[2], &wide) << 4;
  for (u32 k = 0; k < 8; ++k) {
    out[20 * i + k] = sum[k];
    out[20 * i + 8 + k] = difference[k];
  }
  out[20 * i + 16] = flags;
  out[20 * i + 17] = (u32)product ^ (u32)s;
  put64(out, 20 * i + 18, (u64)wide);
}
CASE(carry_chains, .items = {64}, .groups = {4}, .n = 264, .words_in = 528, .words_out = 5120,
     .prepare = edge_words)

FUNCTION i32 median(i32 a, i32 b, i32 c) {
  const i32 low = a < b ? a : b, high = a < b ? b : a;
  const i32 capped = high < c ? high : c;
  return low > capped ? low : capped;
}
FUNCTION u32 minimum(u32 a, u32 b) {
  return a < b ? a : b;
}
FUNCTION u32 absolute_difference(u32 a, u32 b) {
  return a > b ? a - b : b - a;
}

KERNEL(select_and_saturate, 64) {
  const u32 i = global_id(), a = in[i], b = in[i + n], c = in[i + 2 * n];
  u32* const to = (u32*)&out[12 * i];  // a generic pointer
  to[0] = (u32)median((i32)a, (i32)b, (i32)c);
  to[1] = minimum(minimum(a, b), c);
  to[2] = (u32)((i32)a > (i32)b ? ((i32)a > (i32)c ? (i32)a : (i32)c) : (i32)b);
  to[3] = __builtin_elementwise_add_sat(a, b);
  to[4] = (u32)__builtin_elementwise_add_sat((i32)a, (i32)b);
  to[5] = __builtin_elementwise_sub_sat(a, c);
  to[6] = (u32)__builtin_elementwise_sub_sat((i32)a, (i32)c);
  to[7] = (u16)__builtin_elementwise_add_sat((i16)a, (i16)b) |
          (u32)(u16)__builtin_elementwise_sub_sat((u16)a, (u16)b) << 16;
  to[8] = (u8)__builtin_elementwise_add_sat((u8)a, (u8)b) |
          (u32)(u8)__builtin_elementwise_sub_sat((i8)a, (i8)b) << 8;
  u32 sad = c;
  for (u32 k = 0; k < 32; k += 8) sad += absolute_difference(a >> k & 255, b >> k & 255);
  to[9] = sad;
  to[10] = (a >> (c & 31) & ((1u << (b & 15)) - 1)) | (a & b) | (~a & c);
  to[11] = (u32)((i32)(a << 7) >> 19) + ((a << 3 | b) ^ (a + b + c)) + ((a + b) << 2);
}
CASE(select_and_saturate, .items = {64}, .groups = {4}, .n = 256, .words_in = 768,
     .words_out = 3072, .prepare = edge_words)

KERNEL(compare_integers, 64) {
  const u32 i = global_id(), a = in[i], b = in[(i * 7 + 3) % n];
  const u64 wa = pair(in, i), wb = pair(in, (i * 5 + 1) % n);
  u32 bits = 0;
  bits |= (u32)(a < b) | (u32)(a <= b) << 1 | (u32)(a == b) << 2 | (u32)((i32)a < (i32)b) << 3;
  bits |= (u32)((i32)a >= (i32)b) << 4 | (u32)(wa < wb) << 5 | (u32)(wa >= wb) << 6;
  bits |= (u32)((i64)wa < (i64)wb) << 7 | (u32)((i64)wa > (i64)wb) << 8 | (u32)(wa != wb) << 9;
  bits |= (u32)((u16)a < (u16)b) << 10 | (u32)((i16)a <= (i16)b) << 11;
  bits |= (u32)((u8)a > (u8)b) << 12 | (u32)((i8)a < (i8)b) << 13 | (u32)((u16)a != (u16)b) << 14;
  if ((i32)a < 0 && wb > 0x80000000) bits |= 1u << 15;
  if (a > 0xffff || (i16)b < -100) bits |= 1u << 16;
  out[i] = bits;
}
CASE(compare_integers, .items = {64}, .groups = {8}, .n = 512, .words_in = 514, .words_out = 512,
     .prepare = edge_words)

KERNEL(power_modulo, 64) {
  const u32 i = global_id();
  const u64 modulus = pair(in, 2 * i) | 1;
  u64 base = in[i + n] % modulus, result = 1 % modulus;
  for (u32 e = in[i] & 0xfff; e; e >>= 1) {
    if (e & 1) result = (u64)((u64)(u32)result * (u32)base % modulus);
    base = (u64)((u64)(u32)base * (u32)base % modulus);
  }
  put64(out, 2 * i, result);
}
CASE(power_modulo, .items = {64}, .groups = {2}, .n = 128, .words_in = 256, .words_out = 256)

FUNCTION u32 gcd(u32 a, u32 b) {
  while (b) {
    const u32 r = a % b;
    a = b;
    b = r;
  }
  return a;
}
FUNCTION u32 square_root(u32 v) {
  u32 root = 0;
  for (u32 bit = 1u << 30; bit; bit >>= 2) {
    if (v >= root + bit) {
      v -= root + bit;
      root = root >> 1 | 0;
      root += bit;
    } else {
      root >>= 1;
    }
  }
  return root;
}

KERNEL(number_theory, 128) {
  const u32 i = global_id(), a = in[i];
  out[3 * i] = gcd(a, in[i + n]);
  out[3 * i + 1] = square_root(a);
  u32 totient = a % 5000 + 1, left = totient;
  for (u32 p = 2; p * p <= left; ++p) {
    if (left % p) continue;
    while (left % p == 0) left /= p;
    totient -= totient / p;
  }
  if (left > 1) totient -= totient / left;
  out[3 * i + 2] = totient;
}
CASE(number_theory, .items = {128}, .groups = {2}, .n = 256, .words_in = 512, .words_out = 768)

KERNEL(big_multiply, 64) {
  // 256 × 256 bits.
  const u32 i = global_id();
  u32 product[16] = {0};
  for (u32 r = 0; r < 8; ++r) {
    u64 carry = 0;
    for (u32 c = 0; c < 8; ++c) {
      const u64 t = (u64)in[8 * i + r] * in[8 * (i + n) + c] + product[r + c] + carry;
      product[r + c] = (u32)t;
      carry = t >> 32;
    }
    product[r + 8] = (u32)carry;
  }
  for (u32 k = 0; k < 16; ++k) out[16 * i + k] = product[k];
}
CASE(big_multiply, .items = {64}, .groups = {2}, .n = 128, .words_in = 2048, .words_out = 2048,
     .prepare = edge_words)
