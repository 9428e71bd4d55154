// Dot products and matrix instructions, where the processor has them; elsewhere, and on the host,
// what they stand for.
#include "vgpu/corpus/corpus.h"

#if defined(__gfx942__) || defined(__gfx950__)
#define HAS_SPARSE 1  // and 8-bit floats
#endif
#if defined(__gfx908__) || defined(__gfx90a__) || defined(HAS_SPARSE)
#define HAS_MFMA 1
#endif
#if defined(__gfx906__) || defined(HAS_MFMA)
#define HAS_DOT 1
#endif
#if defined(__gfx90a__) || defined(HAS_SPARSE)
#define HAS_MFMA_F64 1
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
  return __builtin_amdgcn_sdot2(__builtin_bit_cast(i16x2, a), __builtin_bit_cast(i16x2, b), c,
                                false);
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
#ifdef HAS_MFMA_F64
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
  for (u32 e = 0; e < 16; ++e) out[(8 * (e / 4) + 4 * half + e % 4) * 32 + row] = f32_bits(c[e]);
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

// --- MI300 and MI350. Each lane has row 4 * (l / 16) + e, column l % 16 of D.

typedef i32 i32x2 __attribute__((ext_vector_type(2)));
typedef i32 i32x8 __attribute__((ext_vector_type(8)));
typedef f16 f16x8 __attribute__((ext_vector_type(8)));
typedef f32 f32x2 __attribute__((ext_vector_type(2)));

KERNEL(multiply_16x16x8_xf32, 64) {
  const u32 l = local_id(), row = l & 15, quarter = l >> 4;
  f32x4 c = {0};
#ifdef __gfx942__
  f32x2 a, b;
  for (u32 k = 0; k < 2; ++k) {
    // What is cut off must not count.
    a[k] = as_f32(f32_bits(small_integer(in[row * 8 + quarter * 2 + k])) | (in[l] & 0x1fff));
    b[k] = as_f32(f32_bits(small_integer(in[128 + (quarter * 2 + k) * 16 + row])));
  }
  c = __builtin_amdgcn_mfma_f32_16x16x8_xf32(a, b, c, 0, 0, 0);
#else
  for (u32 e = 0; e < 4; ++e)
    for (u32 k = 0; k < 8; ++k)
      c[e] += small_integer(in[(quarter * 4 + e) * 8 + k]) * small_integer(in[128 + k * 16 + row]);
#endif
  for (u32 e = 0; e < 4; ++e) out[(quarter * 4 + e) * 16 + row] = f32_bits(c[e]);
}
CASE(multiply_16x16x8_xf32, .items = {64}, .words_in = 256, .words_out = 256)

KERNEL(multiply_16x16x32_i8, 64) {
  const u32 l = local_id(), row = l & 15, quarter = l >> 4;
  i32x4 c = {(i32)l, 1, 2, 3};
#ifdef HAS_SPARSE
  const u64 a = in[2 * l] | (u64)in[2 * l + 1] << 32,
            b = in[128 + 2 * l] | (u64)in[129 + 2 * l] << 32;
  c = __builtin_amdgcn_mfma_i32_16x16x32_i8((i64)a, (i64)b, c, 0, 0, 0);
#else
  for (u32 e = 0; e < 4; ++e)
    for (u32 k = 0; k < 32; ++k) {
      const u32 a_lane = k / 8 * 16 + quarter * 4 + e, b_lane = k / 8 * 16 + row, dword = k / 4 % 2;
      c[e] += (i8)(in[2 * a_lane + dword] >> k % 4 * 8) *
              (i8)(in[128 + 2 * b_lane + dword] >> k % 4 * 8);
    }
#endif
  for (u32 e = 0; e < 4; ++e) out[(quarter * 4 + e) * 16 + row] = (u32)c[e];
}
CASE(multiply_16x16x32_i8, .items = {64}, .words_in = 256, .words_out = 256)

#ifdef HAS_SPARSE
// The byte of E4M3 that small_integer(v) is, biased by 8 on gfx942 and by 7 on gfx950.
FUNCTION u32 small_fp8(u32 v) {
#ifdef __gfx942__
  const u32 bias = 8;
#else
  const u32 bias = 7;
#endif
  const i32 value = (i32)(v % 17) - 8;
  const u32 magnitude = (u32)(value < 0 ? -value : value);
  if (magnitude == 0) return 0;
  const u32 exponent = 31 - (u32)__builtin_clz(magnitude);
  return (value < 0 ? 128 : 0) | (exponent + bias) << 3 | ((magnitude << 3 >> exponent) & 7);
}
#endif

KERNEL(multiply_16x16x32_fp8, 64) {
  const u32 l = local_id(), row = l & 15, quarter = l >> 4;
  f32x4 c = {0.5f, 1, 2, 3};
#ifdef HAS_SPARSE
  u64 a = 0, b = 0;
  for (u32 k = 0; k < 8; ++k) {
    a |= (u64)small_fp8(in[row * 32 + quarter * 8 + k]) << 8 * k;
    b |= (u64)small_fp8(in[512 + (quarter * 8 + k) * 16 + row]) << 8 * k;
  }
  c = __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8((i64)a, (i64)b, c, 0, 0, 0);
#else
  for (u32 e = 0; e < 4; ++e)
    for (u32 k = 0; k < 32; ++k)
      c[e] += small_integer(in[(quarter * 4 + e) * 32 + k]) * small_integer(in[512 + k * 16 + row]);
#endif
  for (u32 e = 0; e < 4; ++e) out[(quarter * 4 + e) * 16 + row] = f32_bits(c[e]);
}
CASE(multiply_16x16x32_fp8, .items = {64}, .words_in = 1024, .words_out = 256)

KERNEL(sparse_16x16x32_f16, 64) {
  // Two of each four elements of A: which, say two bits for each, in the second set of indices.
  const u32 l = local_id(), row = l & 15, quarter = l >> 4;
  f32x4 c = {1, 2, 3, 4};
#ifdef HAS_SPARSE
  f16x4 a;
  f16x8 b;
  for (u32 t = 0; t < 4; ++t) a[t] = (f16)small_integer(in[row * 16 + quarter * 4 + t]);
  for (u32 k = 0; k < 8; ++k) b[k] = (f16)small_integer(in[256 + (quarter * 8 + k) * 16 + row]);
  c = __builtin_amdgcn_smfmac_f32_16x16x32_f16(a, b, c, (i32)in[l], 0, 1);
#else
  for (u32 e = 0; e < 4; ++e)
    for (u32 t = 0; t < 16; ++t) {
      const u32 y = quarter * 4 + e, k = t / 2 * 4 + (in[t / 4 * 16 + y] >> (8 + t % 4 * 2) & 3);
      c[e] += small_integer(in[y * 16 + t]) * small_integer(in[256 + k * 16 + row]);
    }
#endif
  for (u32 e = 0; e < 4; ++e) out[(quarter * 4 + e) * 16 + row] = f32_bits(c[e]);
}
CASE(sparse_16x16x32_f16, .items = {64}, .words_in = 768, .words_out = 256)

#ifndef __gfx950__
// The value of four bits of E2M1.
FUNCTION f32 fp4_value(u32 bits) {
  const u32 exponent = bits >> 1 & 3;
  const f32 magnitude = exponent == 0
                            ? 0.5f * (f32)(bits & 1)
                            : (1.0f + 0.5f * (f32)(bits & 1)) * (f32)(1 << (exponent - 1));
  return bits & 8 ? -magnitude : magnitude;
}
#endif

KERNEL(scaled_16x16x128_fp4, 64) {
  // 32 elements of 4 bits in a lane, and a scale between 2^-1 and 2^2 in its byte 1.
  const u32 l = local_id(), row = l & 15, quarter = l >> 4;
  f32x4 c = {1, 2, 3, 4};
#ifdef __gfx950__
  i32x8 a = {0}, b = {0};
  for (u32 d = 0; d < 4; ++d) {
    a[d] = (i32)in[4 * l + d];
    b[d] = (i32)in[256 + 4 * l + d];
  }
  const u32 a_scale = ((in[l] >> 9 & 3) + 126) << 8, b_scale = ((in[64 + l] >> 9 & 3) + 126) << 8;
  c = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(a, b, c, 4, 4, 1, (i32)a_scale, 1,
                                                       (i32)b_scale);
#else
  for (u32 e = 0; e < 4; ++e)
    for (u32 k = 0; k < 128; ++k) {
      const u32 a_lane = k / 32 * 16 + quarter * 4 + e, b_lane = k / 32 * 16 + row;
      const u32 dword = k / 8 % 4, shift = k % 8 * 4;
      const f32 scales = 0.25f * (f32)(1 << ((in[a_lane] >> 9 & 3) + (in[64 + b_lane] >> 9 & 3)));
      c[e] += fp4_value(in[4 * a_lane + dword] >> shift & 15) *
              fp4_value(in[256 + 4 * b_lane + dword] >> shift & 15) * scales;
    }
#endif
  for (u32 e = 0; e < 4; ++e) out[(quarter * 4 + e) * 16 + row] = f32_bits(c[e]);
}
CASE(scaled_16x16x128_fp4, .items = {64}, .words_in = 512, .words_out = 256)
