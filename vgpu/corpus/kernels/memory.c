// Loads and stores of every width and alignment.
#include "vgpu/corpus/corpus.h"

typedef u32 u32x2 __attribute__((ext_vector_type(2)));
typedef u32 u32x3 __attribute__((ext_vector_type(3)));
typedef u32 u32x4 __attribute__((ext_vector_type(4)));
typedef u64 u64x2 __attribute__((ext_vector_type(2)));
typedef f32 f32x4 __attribute__((ext_vector_type(4)));
typedef u16 u16x2 __attribute__((ext_vector_type(2)));
typedef i16 i16x2 __attribute__((ext_vector_type(2)));
typedef u8 u8x4 __attribute__((ext_vector_type(4)));

struct __attribute__((packed)) Packed {
  u8 a;
  u32 b;
  u16 c;
  u64 d;
  f32 e;
};

KERNEL(packed_structs, 64) {
  const u32 i = global_id();
  const GLOBAL struct Packed* const from = (const GLOBAL struct Packed*)in;
  GLOBAL struct Packed* const to = (GLOBAL struct Packed*)out;
  struct Packed p = from[i];
  p.b += from[(i + 5) % n].b * p.a;
  p.c ^= (u16)p.d;
  p.d = p.d * 3 + p.b;
  p.a = (u8)(p.a - p.c);
  to[i] = p;
}
CASE(packed_structs, .items = {64}, .groups = {2}, .n = 128, .words_in = 608, .words_out = 608)

KERNEL(unaligned, 64) {
  const u32 i = global_id();
  const GLOBAL u8* const from = (const GLOBAL u8*)in + i * 16 + i % 8;
  GLOBAL u8* const to = (GLOBAL u8*)out + i * 40 + i % 7;
  u16 half;
  u32 word;
  u64 wide;
  u32x4 quad;
  __builtin_memcpy(&half, from + 1, 2);
  __builtin_memcpy(&word, from + 3, 4);
  __builtin_memcpy(&wide, from + 5, 8);
  __builtin_memcpy(&quad, from, 16);
  half = (u16)(half * 3);
  word += half;
  wide ^= (u64)word << 20;
  quad += (u32)wide;
  __builtin_memcpy(to, &half, 2);
  __builtin_memcpy(to + 2, &word, 4);
  __builtin_memcpy(to + 7, &wide, 8);
  __builtin_memcpy(to + 15, &quad, 16);
}
CASE(unaligned, .items = {64}, .groups = {2}, .words_in = 640, .words_out = 1300)

KERNEL(vectors, 64) {
  const u32 i = global_id();
  const u32x4 a = ((const GLOBAL u32x4*)in)[i], b = ((const GLOBAL u32x4*)in)[(i * 3 + 1) % n];
  u32x4 r = a * 5 + (b >> 3);
  r = (r < b) ? r.wzyx : r ^ a.yyzz;
  const u32x3 t = r.xyz + __builtin_shufflevector(a, b, 6, 1, 4);
  r.s123 = t;
  ((GLOBAL u32x4*)out)[2 * i] = r;
  const u64x2 w = __builtin_convertvector(a.lo, u64x2) * 0x123456789abul + b.x;
  ((GLOBAL u64x2*)out)[2 * i + 1] = w;
}
CASE(vectors, .items = {64}, .groups = {2}, .n = 128, .words_in = 512, .words_out = 1024)

KERNEL(narrow_vectors, 64) {
  const u32 i = global_id();
  u16x2 a = __builtin_bit_cast(u16x2, in[i]);
  const i16x2 b = __builtin_bit_cast(i16x2, in[i + n]);
  const u8x4 c = __builtin_bit_cast(u8x4, in[i]), d = __builtin_bit_cast(u8x4, in[i + n]);
  a = a * __builtin_bit_cast(u16x2, b) + (u16)3;
  a = a << (__builtin_bit_cast(u16x2, b) & (u16)15);
  const i16x2 shifted = b >> __builtin_bit_cast(i16x2, a & (u16)7);
  const i16x2 least = __builtin_elementwise_min(shifted, __builtin_bit_cast(i16x2, a));
  const u16x2 most = __builtin_elementwise_max(a, __builtin_bit_cast(u16x2, b));
  const i16x2 saturated = __builtin_elementwise_add_sat(b, __builtin_bit_cast(i16x2, a));
  out[6 * i] = __builtin_bit_cast(u32, a);
  out[6 * i + 1] = __builtin_bit_cast(u32, least);
  out[6 * i + 2] = __builtin_bit_cast(u32, most);
  out[6 * i + 3] = __builtin_bit_cast(u32, saturated);
  out[6 * i + 4] = __builtin_bit_cast(u32, (u8x4)(c * d + (c >> 1)));
  out[6 * i + 5] = __builtin_bit_cast(u32, (u8x4)(__builtin_elementwise_max(c, d) - d.wxyz));
}
CASE(narrow_vectors, .items = {64}, .groups = {4}, .n = 256, .words_in = 512, .words_out = 1536,
     .prepare = edge_words)

KERNEL(bytes_and_shorts, 64) {
  const u32 i = global_id();
  const GLOBAL u8* const bytes = (const GLOBAL u8*)in;
  const GLOBAL i8* const signed_bytes = (const GLOBAL i8*)in;
  const GLOBAL u16* const shorts = (const GLOBAL u16*)in;
  const GLOBAL i16* const signed_shorts = (const GLOBAL i16*)in;
  GLOBAL u8* const to = (GLOBAL u8*)out;
  GLOBAL u16* const to_shorts = (GLOBAL u16*)(out + n);
  u32 v = bytes[i * 3] + (u32)signed_bytes[i * 5 + 1] * 7 + shorts[i * 2 + 1];
  v ^= (u32)signed_shorts[i] << 5;
  // Two halves of a register, loaded one by one.
  const u16x2 halves = {shorts[i + 3], shorts[2 * i + 9]};
  const u16x2 quarters = {bytes[i], (u16)signed_bytes[i + 77]};
  const u16x2 sum = halves * (u16)3 + quarters;
  to[3 * i] = (u8)v;
  to[3 * i + 1] = (u8)(v >> 8);
  to[3 * i + 2] = (u8)(v >> 16);
  to_shorts[2 * i] = sum.y;
  to_shorts[2 * i + 1] = sum.x;
}
CASE(bytes_and_shorts, .items = {64}, .groups = {4}, .n = 192, .words_in = 400, .words_out = 448)

SHARED u32x4 quads[64];
SHARED u8 pool[64 * 24];

KERNEL(lds_vectors, 64) {
  const u32 l = local_id();
  quads[l] = ((const GLOBAL u32x4*)in)[l];
  barrier();
  u32x4 v = quads[63 - l].zwxy + quads[(l * 7) & 63];
  u64 wide;
  LOCAL u8* const mine = &pool[l * 24 + l % 5];
  for (u32 k = 0; k < 19; ++k) mine[k] = (u8)(v.x >> k);
  LOCAL struct Packed* const p = (LOCAL struct Packed*)mine;
  p->b += p->c;
  p->d ^= p->b;
  barrier();
  const LOCAL u8* const other = &pool[(63 - l) * 24 + (63 - l) % 5];
  u32 hash = 0;
  for (u32 k = 0; k < 19; ++k) hash = hash * 33 + other[k];
  __builtin_memcpy(&wide, (const u8*)other + 3, 8);
  v.y ^= hash;
  v.zw += (u32x2){(u32)wide, (u32)(wide >> 32)};
  ((GLOBAL u32x4*)out)[l] = v;
}
CASE(lds_vectors, .items = {64}, .words_in = 256, .words_out = 256)

KERNEL(copies, 64) {
  // Blocks of fixed sizes, moved and filled, within scratch and between memories.
  const u32 i = global_id();
  u8 a[100], b[100];
  __builtin_memcpy(a, (const u8*)&in[i], 97);
  __builtin_memset(b, (u8)i, sizeof b);
  __builtin_memcpy(b + 13, a + 5, 41);
  __builtin_memmove(b + 3, b + 9, 60);
  __builtin_memcpy((u8*)&out[25 * i], b, 100);
}
CASE(copies, .items = {64}, .groups = {2}, .words_in = 160, .words_out = 3200)

struct Options {
  u8 a;
  i8 b;
  u16 c;
  u32 d;
};

KERNEL_ATTRIBUTES(64)
#ifdef __AMDGCN__
void
#else
static void
#endif
kernel_arguments(GLOBAL const u32* in, GLOBAL u32* out, GLOBAL u32* work, u64 n, struct Options options,
                 f32 x, f64 y, u64 wide) {
  const u32 i = global_id();
  u64 v = options.a + (u64)(i64)options.b * 3 + options.c * 5u + (u64)options.d * in[i];
  v += (u64)(x * -16) + (u64)(y * 1e6) + wide * n;
  out[2 * i] = (u32)v;
  out[2 * i + 1] = v >> 32;
}
#ifndef __AMDGCN__
static const uint64_t more[] = {0x8001fe80deadbee1, 0xc0490fdb, 0x4005bf0a8b145769,
                                0x1234567890abcdef};
static void kernel_arguments_on_host(const u32* in, u32* out, u32* work, u32 n) {
  kernel_arguments(in, out, work, n, __builtin_bit_cast(struct Options, more[0]), as_f32((u32)more[1]),
                   __builtin_bit_cast(f64, more[2]), more[3]);
}
static struct CorpusCase kernel_arguments_case = {.name = "kernel_arguments", .file = __FILE__,
  .kernel = kernel_arguments_on_host, .items = {64}, .groups = {2}, .n = 3, .words_in = 128,
  .words_out = 256, .more = more, .more_count = 4};
__attribute__((constructor)) static void kernel_arguments_register(void) {
  corpus_register(&kernel_arguments_case);
}
#endif
