// Dot products and matrix instructions, where the processor has them; elsewhere, and on the host,
// what they stand for.
#include "vgpu/corpus/corpus.h"

#if defined(__gfx906__) || defined(__gfx908__) || defined(__gfx90a__)
#define HAS_DOT 1
#endif
#if defined(__gfx908__) || defined(__gfx90a__)
#define HAS_MFMA 1
#endif

typedef f16 f16x2 __attribute__((ext_vector_type(2)));
typedef f16 f16x4 __attribute__((ext_vector_type(4)));
typedef i16 i16x2 __attribute__((ext_vector_type(2)));
typedef u16 u16x2 __attribute__((ext_vector_type(2)));
typedef f32 f32x4 __attribute__((ext_vector_type(4)));
typedef f32 f32x16 __attribute__((ext_vector_type(16)));
typedef i32 i32x4 __attribute__((ext_vector_type(4)));
typedef f64 f64x4 __attribute__((ext_vector_type(4)));

FUNCTION i32 dot_i8(u32 a, u32 b, i32 c) {
#ifdef HAS_DOT
  return __builtin_amdgcn_sdot4((i32)a, (i32)b, c, false);
#else
  for (u32 k = 0; k < 32; k += 8) c += (i8)(a >> k) * (i8)(b >> k);
  return c;
#endif
}
FUNCTION u32 dot_u8(u32 a, u32 b, u32 c) {
#ifdef HAS_DOT
  return __builtin_amdgcn_udot4(a, b, c, false);
#else
  for (u32 k = 0; k < 32; k += 8) c += (a >> k & 255) * (b >> k & 255);
  return c;
#endif
}
FUNCTION i32 dot_i4(u32 a, u32 b, i32 c) {
#ifdef HAS_DOT
  return __builtin_amdgcn_sdot8((i32)a, (i32)b, c, false);
#else
  for (u32 k = 0; k < 32; k += 4) c += ((i32)(a << (28 - k)) >> 28) * ((i32)(b << (28 - k)) >> 28);
  return c;
#endif
}
FUNCTION i32 dot_i16(u32 a, u32 b, i32 c) {
#ifdef HAS_DOT
  return __builtin_amdgcn_sdot2(__builtin_bit_cast(i16x2, a), __builtin_bit_cast(i16x2, b), c, false);
#else
  return c + (i16)a * (i16)b + (i16)(a >> 16) * (i16)(b >> 16);
#endif
}

KERNEL(integer_dots, 64) {
  const u32 i = global_id();
  i32 s8 = 0, s4 = 1, s16 = 2;
  u32 u = 3;
  for (u32 k = 0; k < 8; ++k) {
    const u32 a = in[8 * i + k], b = in[(8 * i + 3 * k + 1) % n];
    s8 = dot_i8(a, b, s8);
    u = dot_u8(a, b, u);
    s4 = dot_i4(a, b, s4);
    s16 = dot_i16(a >> 1, b, s16);
  }
  out[4 * i] = (u32)s8;
  out[4 * i + 1] = u;
  out[4 * i + 2] = (u32)s4;
  out[4 * i + 3] = (u32)s16;
}
CASE(integer_dots, .items = {64}, .groups = {2}, .n = 1024, .words_in = 1024, .words_out = 512)

// Small integers: sums of their products are exact in whatever order.
FUNCTION f32 small_integer(u32 v) {
  return (f32)(i32)(v % 17) - 8.0f;
}

KERNEL(half_dots, 64) {
  const u32 i = global_id();
  f32 sum = 0;
  for (u32 k = 0; k < 6; ++k) {
    const f16x2 a = {(f16)small_integer(in[i] >> k), (f16)small_integer(in[i] >> (k + 7))};
    const f16x2 b = {(f16)small_integer(in[i] >> (k + 3)), (f16)small_integer(in[i] >> (k + 12))};
#ifdef HAS_DOT
    sum = __builtin_amdgcn_fdot2(a, b, sum, false);
#else
    sum += (f32)a.x * (f32)b.x + (f32)a.y * (f32)b.y;
#endif
  }
  out[i] = f32_bits(sum);
}
CASE(half_dots, .items = {64}, .groups = {2}, .words_in = 128, .words_out = 128)

SHARED f32 matrix_a[32 * 32], matrix_b[32 * 32];

KERNEL(multiply_32x32x1, 64) {
  // One wave: 32 x 32 from k = 16 outer products; two blocks, the same but for B.
  const u32 l = local_id(), row = l & 31, block = l >> 5;
#ifdef HAS_MFMA
  typedef f32 f32x32 __attribute__((ext_vector_type(32)));
  f32x32 c = {0};
  for (u32 k = 0; k < 16; ++k) {
    const f32 a = small_integer(in[row * 16 + k]);
    const f32 b = small_integer(in[512 + k * 32 + row] + block);
    c = __builtin_amdgcn_mfma_f32_32x32x1f32(a, b, c, 0, 0, 0);
  }
  // Element e of block e / 16 is row 8 * (e / 4 % 4) + 4 * (l / 32) + e % 4, column l % 32.
  for (u32 e = 0; e < 32; ++e)
    out[e / 16 * 1024 + (8 * (e / 4 % 4) + 4 * block + e % 4) * 32 + row] = f32_bits(c[e]);
#else
  for (u32 y = 0; y < 32; ++y) {
    f32 sum = 0;
    for (u32 k = 0; k < 16; ++k)
      sum += small_integer(in[y * 16 + k]) * small_integer(in[512 + k * 32 + row] + block);
    out[block * 1024 + y * 32 + row] = f32_bits(sum);
  }
#endif
}
CASE(multiply_32x32x1, .items = {64}, .words_in = 1024, .words_out = 2048)

KERNEL(multiply_16x16x16_f16, 64) {
  const u32 l = local_id(), row = l & 15, quarter = l >> 4;
#ifdef HAS_MFMA
  f16x4 a, b;
  for (u32 k = 0; k < 4; ++k) {
    a[k] = (f16)small_integer(in[row * 16 + quarter * 4 + k]);
    b[k] = (f16)small_integer(in[256 + (quarter * 4 + k) * 16 + row]);
  }
  f32x4 c = {1, 2, 3, 4};
  c = __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, c, 0, 0, 0);
  c = __builtin_amdgcn_mfma_f32_16x16x16f16(b, a, c, 0, 0, 0);
  for (u32 e = 0; e < 4; ++e) out[(quarter * 4 + e) * 16 + row] = f32_bits(c[e]);
#else
  for (u32 e = 0; e < 4; ++e) {
    const u32 y = quarter * 4 + e;
    f32 sum = (f32)(e + 1);
    for (u32 k = 0; k < 16; ++k) {
      sum += small_integer(in[y * 16 + k]) * small_integer(in[256 + k * 16 + row]);
      // The other way round: lane l's B is now A's row l % 16.
      sum += small_integer(in[256 + k * 16 + y]) * small_integer(in[row * 16 + k]);
    }
    out[y * 16 + row] = f32_bits(sum);
  }
#endif
}
CASE(multiply_16x16x16_f16, .items = {64}, .words_in = 512, .words_out = 256)

KERNEL(multiply_4x4x4_i8, 64) {
  // Sixteen blocks of 4 x 4.
  const u32 l = local_id(), block = l >> 2, column = l & 3;
  i32x4 c = {(i32)l, 1, 2, 3};
#ifdef HAS_MFMA
  c = __builtin_amdgcn_mfma_i32_4x4x4i8((i32)in[l], (i32)in[64 + l], c, 0, 0, 0);
#else
  for (u32 e = 0; e < 4; ++e)
    for (u32 k = 0; k < 32; k += 8)
      c[e] += (i8)(in[block * 4 + e] >> k) * (i8)(in[64 + block * 4 + column] >> k);
#endif
  for (u32 e = 0; e < 4; ++e) out[block * 16 + e * 4 + column] = (u32)c[e];
}
CASE(multiply_4x4x4_i8, .items = {64}, .words_in = 128, .words_out = 256)

KERNEL(multiply_16x16x4_f64, 64) {
  const u32 l = local_id(), row = l & 15, quarter = l >> 4;
  f64x4 c = {0};
#ifdef __gfx90a__
  for (u32 k = 0; k < 16; k += 4) {
    const f64 a = small_integer(in[row * 16 + k + quarter]) * 0x1p-30;
    const f64 b = small_integer(in[256 + (k + quarter) * 16 + row]);
    c = __builtin_amdgcn_mfma_f64_16x16x4f64(a, b, c, 0, 0, 0);
  }
#else
  for (u32 e = 0; e < 4; ++e)
    for (u32 k = 0; k < 16; ++k)
      c[e] += (f64)small_integer(in[(quarter + 4 * e) * 16 + k]) * 0x1p-30 *
              (f64)small_integer(in[256 + k * 16 + row]);
#endif
  for (u32 e = 0; e < 4; ++e) {  // row 4 * e + l / 16
    const u64 bits = __builtin_bit_cast(u64, c[e]);
    out[2 * ((quarter + 4 * e) * 16 + row)] = (u32)bits;
    out[2 * ((quarter + 4 * e) * 16 + row) + 1] = bits >> 32;
  }
}
CASE(multiply_16x16x4_f64, .items = {64}, .words_in = 512, .words_out = 512)

KERNEL(sgemm_by_matrix, 64) {
  // 32 x 32 x 32 through LDS, by 32x32x2 steps.
  const u32 l = local_id(), row = l & 31, half = l >> 5;
  for (u32 k = 0; k < 16; ++k) {
    matrix_a[l + 64 * k] = small_integer(in[l + 64 * k]);
    matrix_b[l + 64 * k] = small_integer(in[1024 + l + 64 * k]);
  }
  barrier();
#ifdef HAS_MFMA
  f32x16 c = {0};
  for (u32 k = 0; k < 32; k += 2)
    c = __builtin_amdgcn_mfma_f32_32x32x2f32(matrix_a[row * 32 + k + half],
                                             matrix_b[(k + half) * 32 + row], c, 0, 0, 0);
  for (u32 e = 0; e < 16; ++e)
    out[(8 * (e / 4) + 4 * half + e % 4) * 32 + row] = f32_bits(c[e]);
#else
  for (u32 y = half; y < 32; y += 2) {
    f32 sum = 0;
    for (u32 k = 0; k < 32; ++k) sum += matrix_a[y * 32 + k] * matrix_b[k * 32 + row];
    out[y * 32 + row] = f32_bits(sum);
  }
#endif
}
CASE(sgemm_by_matrix, .items = {64}, .words_in = 2048, .words_out = 1024)

KERNEL(packed_singles, 64) {
  // Pairs, which gfx90a has packed instructions for.
  typedef f32 f32x2 __attribute__((ext_vector_type(2)));
  const u32 i = global_id();
  f32x2 a = {as_f32(in[2 * i]), as_f32(in[2 * i + 1])}, b = a.yx * 1.5f, c = a;
  for (u32 k = 0; k < 5; ++k) {
    c = __builtin_elementwise_fma(a, b, -c);
    a = a * c + b.yx;
    b = b + c.x;
  }
  out[2 * i] = f32_bits(a.x + b.y);
  out[2 * i + 1] = f32_bits(c.y);
}
CASE(packed_singles, .items = {64}, .groups = {2}, .words_in = 256, .words_out = 256,
     .prepare = unit_floats)
