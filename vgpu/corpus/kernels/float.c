// Floating point of three widths: what IEEE 754 rounds exactly.
#include "vgpu/corpus/corpus.h"

typedef f16 f16x2 __attribute__((ext_vector_type(2)));

FUNCTION f32 f32_at(GLOBAL const u32* in, u32 i) {
  return as_f32(in[i]);
}
FUNCTION f64 f64_at(GLOBAL const u32* in, u32 i) {
  return __builtin_bit_cast(f64, in[2 * i] | (u64)in[2 * i + 1] << 32);
}
FUNCTION void put_f64(GLOBAL u32* out, u32 i, f64 v) {
  const u64 bits = __builtin_bit_cast(u64, v);
  out[2 * i] = (u32)bits;
  out[2 * i + 1] = bits >> 32;
}
FUNCTION f16 f16_of(u32 bits) {
  return __builtin_bit_cast(f16, (u16)bits);
}
FUNCTION u32 halves(f16 low, f16 high) {
  return __builtin_bit_cast(u16, low) | (u32)__builtin_bit_cast(u16, high) << 16;
}

KERNEL(f32_arithmetic, 64) {
  const u32 i = global_id();
  const f32 a = f32_at(in, i), b = f32_at(in, i + n), c = f32_at(in, i + 2 * n);
  out[8 * i] = f32_bits(a + b);
  out[8 * i + 1] = f32_bits(a - b);
  out[8 * i + 2] = f32_bits(a * b);
  out[8 * i + 3] = f32_bits(a / b);
  out[8 * i + 4] = f32_bits(__builtin_fmaf(a, b, c));
  out[8 * i + 5] = f32_bits(__builtin_sqrtf(a));
  out[8 * i + 6] = f32_bits(a * b + c);
  out[8 * i + 7] = f32_bits(__builtin_fmaf(-a, __builtin_fabsf(b), -c) * 2.0f);
}
CASE(f32_arithmetic, .items = {64}, .groups = {16}, .n = 1024, .words_in = 3072,
     .words_out = 8192, .prepare = edge_floats, .compare = kCorpusF32)

KERNEL(f64_arithmetic, 64) {
  const u32 i = global_id();
  const f64 a = f64_at(in, i), b = f64_at(in, i + n), c = f64_at(in, i + 2 * n);
  put_f64(out, 8 * i, a + b);
  put_f64(out, 8 * i + 1, a - b);
  put_f64(out, 8 * i + 2, a * b);
  put_f64(out, 8 * i + 3, a / b);
  put_f64(out, 8 * i + 4, __builtin_fma(a, b, c));
  put_f64(out, 8 * i + 5, __builtin_sqrt(a));
  put_f64(out, 8 * i + 6, a * b - c);
  put_f64(out, 8 * i + 7, __builtin_fma(-a, __builtin_fabs(b), c) * 0.5);
}
CASE(f64_arithmetic, .items = {64}, .groups = {8}, .n = 512, .words_in = 3072, .words_out = 8192,
     .prepare = edge_doubles, .compare = kCorpusF64)

KERNEL(f16_arithmetic, 64) {
  const u32 i = global_id();
  const f16 a = f16_of(in[i]), b = f16_of(in[i] >> 16), c = f16_of(in[i + n]);
  const f16x2 v = {a, b}, w = {c, f16_of(in[i + n] >> 16)};
  const f16x2 sum = v + w, product = v * w, difference = v - w, quotient = v / w;
  out[7 * i] = halves(a + c, a - c);
  out[7 * i + 1] = halves(a * c, a / c);
  out[7 * i + 2] = halves(__builtin_elementwise_sqrt(a), -(b * c));
  out[7 * i + 3] = halves(sum.x, sum.y);
  out[7 * i + 4] = halves(product.x, product.y);
  out[7 * i + 5] = halves(difference.y, difference.x);
  out[7 * i + 6] = halves(quotient.x, quotient.y);
}
CASE(f16_arithmetic, .items = {64}, .groups = {16}, .n = 1024, .words_in = 2048,
     .words_out = 7168, .compare = kCorpusF16)

// From 1/64 to 64, where a fused multiply-add fits into a double.
FUNCTION f16 middle_f16(u32 bits) {
  return f16_of((bits & 0x83ff) | (9 + bits / 1024 % 12) << 10);
}

KERNEL(f16_fused, 64) {
  const u32 i = global_id();
  const f16x2 a = {middle_f16(in[i]), middle_f16(in[i] >> 16)};
  const f16x2 b = {middle_f16(in[i + n]), middle_f16(in[i + n] >> 16)};
  const f16x2 c = {middle_f16(in[i + 1]), middle_f16(in[i + 1] >> 16)};
#ifdef __AMDGCN__
  const f16x2 r = __builtin_elementwise_fma(a, b, c);
  const f16 s = __builtin_elementwise_fma(-a.x, b.y, c.x);
#else
  const f16x2 r = {(f16)((f64)a.x * b.x + c.x), (f16)((f64)a.y * b.y + c.y)};
  const f16 s = (f16)((f64)-a.x * b.y + c.x);
#endif
  out[2 * i] = halves(r.x, r.y);
  out[2 * i + 1] = halves(s, __builtin_elementwise_max(a.x, b.x));
}
CASE(f16_fused, .items = {64}, .groups = {8}, .n = 512, .words_in = 1024, .words_out = 1024,
     .compare = kCorpusF16)

FUNCTION u32 relations(f64 a, f64 b) {
  u32 r = (u32)(a < b) | (u32)(a <= b) << 1 | (u32)(a == b) << 2 | (u32)(a != b) << 3;
  r |= (u32) !(a < b) << 4 | (u32) !(a >= b) << 5 | (u32)__builtin_isunordered(a, b) << 6;
  r |= (u32)__builtin_islessgreater(a, b) << 7 | (u32)(a > 0) << 8 | (u32)!!__builtin_isnan(a) << 9;
  r |= (u32)!!__builtin_isinf(a) << 10 | (u32)!!__builtin_signbit(a) << 11;
  return r | (u32)!!__builtin_isnormal(b) << 12 | (u32)!!__builtin_isfinite(b) << 13;
}

KERNEL(f64_compare, 64) {
  const u32 i = global_id();
  out[i] = relations(f64_at(in, i), f64_at(in, (i * 5 + 1) % n));
}
CASE(f64_compare, .items = {64}, .groups = {16}, .n = 1024, .words_in = 2048, .words_out = 1024,
     .prepare = edge_doubles)

KERNEL(f32_compare, 64) {
  const u32 i = global_id();
  const f32 a = f32_at(in, i), b = f32_at(in, (i * 5 + 1) % n);
  u32 r = (u32)(a < b) | (u32)(a <= b) << 1 | (u32)(a == b) << 2 | (u32)(a > b) << 3;
  r |= (u32) !(a > b) << 4 | (u32) !(a <= b) << 5 | (u32)__builtin_isunordered(a, b) << 6;
  r |= (u32)!!__builtin_isnan(a) << 9 | (u32)!!__builtin_isinf(a) << 10;
  r |= (u32)!!__builtin_issubnormal(a) << 11 | (u32)!!__builtin_isnormal(b) << 12;
  r |= (u32)!!__builtin_signbit(b) << 13 | (u32)!!__builtin_isfinite(b) << 14;
  const f16 x = f16_of(in[i]), y = f16_of(in[i] >> 16);
  r |= (u32)(x < y) << 16 | (u32)(x == y) << 17 | (u32) !(x >= y) << 18 | (u32)(x != x) << 19;
  if (a > b && b > 0) r |= 1u << 31;
  out[i] = r;
}
CASE(f32_compare, .items = {64}, .groups = {16}, .n = 1024, .words_in = 1024, .words_out = 1024,
     .prepare = edge_floats)

KERNEL(f32_rounding, 64) {
  const u32 i = global_id();
  const f32 a = f32_at(in, i) * 0.37f;
  out[6 * i] = f32_bits(__builtin_floorf(a));
  out[6 * i + 1] = f32_bits(__builtin_ceilf(a));
  out[6 * i + 2] = f32_bits(__builtin_truncf(a));
  out[6 * i + 3] = f32_bits(__builtin_rintf(a));
  out[6 * i + 4] = f32_bits(__builtin_roundf(a));
  out[6 * i + 5] = f32_bits(__builtin_copysignf(a, f32_at(in, i ^ 1)));
}
CASE(f32_rounding, .items = {64}, .groups = {16}, .words_in = 1024, .words_out = 6144,
     .prepare = edge_floats, .compare = kCorpusF32)

KERNEL(f64_rounding, 64) {
  const u32 i = global_id();
  const f64 a = f64_at(in, i) * 1.3;
  put_f64(out, 6 * i, __builtin_floor(a));
  put_f64(out, 6 * i + 1, __builtin_ceil(a));
  put_f64(out, 6 * i + 2, __builtin_trunc(a));
  put_f64(out, 6 * i + 3, __builtin_rint(a));
  put_f64(out, 6 * i + 4, __builtin_round(a));
  put_f64(out, 6 * i + 5, __builtin_copysign(a, f64_at(in, i ^ 1)));
}
CASE(f64_rounding, .items = {64}, .groups = {8}, .words_in = 1024, .words_out = 6144,
     .prepare = edge_doubles, .compare = kCorpusF64)

FUNCTION f64 number(f64 v) {
  return v == v ? v : 0.0;
}
FUNCTION f64 clamp(f64 v, f64 low, f64 high) {
  return v < low ? low : v > high ? high : v;
}

KERNEL(float_to_integer, 64) {
  const u32 i = global_id();
  const f32 a = (f32)number(f32_at(in, i));
  const f64 d = number(f64_at(in, i / 2)) * 1e3;
  const f32 s = (f32)clamp(a, -2147483648.0, 2147483520.0);
  const u64 wide = (u64)clamp(d, 0, 0x1.fffffffffffffp63);
  const i64 wide_signed = (i64)clamp(d, -0x1p63, 0x1.fffffffffffffp62);
  const u64 from_single = (u64)(f32)clamp(a, 0, 0x1.fffffep63f);
  GLOBAL u32* const to = &out[12 * i];
  to[0] = (u32)(i32)s;
  to[1] = (u32)(s < 0 ? -s : s * 1.9f);
  to[2] = (u32)(i32)clamp(d, -2147483648.0, 2147483647.0);
  to[3] = (u32)clamp(d, 0, 4294967295.0);
  to[4] = (u32)wide;
  to[5] = wide >> 32;
  to[6] = (u32)wide_signed;
  to[7] = (u64)wide_signed >> 32;
  to[8] = (u32)from_single;
  to[9] = from_single >> 32;
  to[10] = (u32)(u16)(i16)clamp(a, -32768, 32767) | (u32)(u8)clamp(a, 0, 255) << 16;
  to[11] = (u32)(u16)(i16)(f16)clamp(a, -32768, 32767.0 - 31);
}
CASE(float_to_integer, .items = {64}, .groups = {16}, .words_in = 1024, .words_out = 12288,
     .prepare = edge_floats)

KERNEL(integer_to_float, 64) {
  const u32 i = global_id(), a = in[i];
  const u64 w = a | (u64)in[(i * 3 + 1) % n] << 32;
  out[8 * i] = f32_bits((f32)a);
  out[8 * i + 1] = f32_bits((f32)(i32)a);
  out[8 * i + 2] = f32_bits((f32)w);
  out[8 * i + 3] = f32_bits((f32)(i64)w);
  out[8 * i + 4] = f32_bits((f32)(u8)(a >> 8) + (f32)(u8)(a >> 24) * 0.5f);
  out[8 * i + 5] = halves((f16)(i16)a, (f16)(u16)(a >> 16));
  out[8 * i + 6] = f32_bits((f32)((f64)w * (f64)(i64)w));
  out[8 * i + 7] = f32_bits((f32)((f64)a - (f64)(i32)a * 0x1p-40));
}
CASE(integer_to_float, .items = {64}, .groups = {8}, .n = 512, .words_in = 512,
     .words_out = 4096, .prepare = edge_words)

KERNEL(integer_to_double, 64) {
  const u32 i = global_id(), a = in[i];
  const u64 w = a | (u64)in[(i * 3 + 1) % n] << 32;
  put_f64(out, 4 * i, (f64)a);
  put_f64(out, 4 * i + 1, (f64)(i32)a);
  put_f64(out, 4 * i + 2, (f64)w);
  put_f64(out, 4 * i + 3, (f64)(i64)w);
}
CASE(integer_to_double, .items = {64}, .groups = {8}, .n = 512, .words_in = 512,
     .words_out = 4096, .prepare = edge_words, .compare = kCorpusF64)

KERNEL(convert_floats, 64) {
  const u32 i = global_id();
  const f32 a = f32_at(in, i);
  put_f64(out, 3 * i, (f64)((f32)f16_of(in[i]) * 3.0f));
  put_f64(out, 3 * i + 1, (f64)((f32)f64_at(in, i / 2) * 0.5f));
  put_f64(out, 3 * i + 2, (f64)a + (f64)f16_of(in[i] >> 16));
}
CASE(convert_floats, .items = {64}, .groups = {16}, .words_in = 1024, .words_out = 6144,
     .prepare = edge_floats, .compare = kCorpusF64)

KERNEL(round_to_half, 64) {
  const u32 i = global_id();
  const f32 a = f32_at(in, i), scaled = as_f32((in[i] & 0x80ffffff) | 0x38000000);
  out[2 * i] = halves((f16)a, (f16)scaled);
  out[2 * i + 1] = halves((f16)f64_at(in, i / 2), (f16)((f64)scaled + 0x1p-40));
}
CASE(round_to_half, .items = {64}, .groups = {16}, .words_in = 1024, .words_out = 2048,
     .prepare = edge_floats, .compare = kCorpusF16)

FUNCTION f32 quiet(f32 v) {  // and no negative zero: min and max may return either
  return v == v ? v + 0.0f : as_f32(0x7fc00000);
}

KERNEL(minimum_maximum, 64) {
  const u32 i = global_id();
  const f32 a = quiet(f32_at(in, i)), b = quiet(f32_at(in, i + n)), c = quiet(f32_at(in, i + 2 * n));
  out[5 * i] = f32_bits(__builtin_fminf(a, b));
  out[5 * i + 1] = f32_bits(__builtin_fmaxf(a, b));
  out[5 * i + 2] = f32_bits(__builtin_fmaxf(__builtin_fminf(a, b), __builtin_fminf(__builtin_fmaxf(a, b), c)));
  out[5 * i + 3] = f32_bits(__builtin_fminf(__builtin_fmaxf(a, 0.0f), 1.0f) + 0.0f);
  out[5 * i + 4] = f32_bits((f32)__builtin_fmax(__builtin_fmin((f64)a, (f64)b), -1.0));
}
CASE(minimum_maximum, .items = {64}, .groups = {8}, .n = 512, .words_in = 1536,
     .words_out = 2560, .prepare = edge_floats, .compare = kCorpusF32)

KERNEL(scale_by_powers, 64) {
  const u32 i = global_id();
  const f32 a = f32_at(in, i);
  const i32 e = (i32)(in[i + n] % 300) - 150;
  i32 exponent = 0;
  const f32 mantissa = a - a == 0 ? __builtin_frexpf(a, &exponent) : 0;
  out[4 * i] = f32_bits(__builtin_ldexpf(a, e));
  out[4 * i + 1] = f32_bits(mantissa);
  out[4 * i + 2] = f32_bits((f32)exponent);
  out[4 * i + 3] = f32_bits((f32)__builtin_ldexp((f64)a, e * 7));
}
CASE(scale_by_powers, .items = {64}, .groups = {8}, .n = 512, .words_in = 1024,
     .words_out = 2048, .prepare = edge_floats, .compare = kCorpusF32)

KERNEL(compensated_sum, 64) {
  const u32 i = global_id();
  f32 sum = 0, lost = 0, plain = 0;
  for (u32 k = 0; k < 40; ++k) {
    const f32 v = f32_at(in, (i * 11 + k * 3) % n) * (f32)(1 << (k % 20)), y = v - lost;
    const f32 t = sum + y;
    lost = (t - sum) - y;
    sum = t;
    plain += v;
  }
  out[3 * i] = f32_bits(sum);
  out[3 * i + 1] = f32_bits(lost);
  out[3 * i + 2] = f32_bits(plain);
}
CASE(compensated_sum, .items = {64}, .groups = {4}, .n = 512, .words_in = 512, .words_out = 768,
     .prepare = unit_floats)

KERNEL(complex_numbers, 64) {
  const u32 i = global_id();
  f64 x = f32_at(in, i), y = f32_at(in, i + n), re = 1, im = 0;
  for (u32 k = 0; k < in[i] % 13; ++k) {
    const f64 t = re * x - im * y;
    im = re * y + im * x;
    re = t;
  }
  const f64 norm = x * x + y * y;
  put_f64(out, 4 * i, re);
  put_f64(out, 4 * i + 1, im);
  put_f64(out, 4 * i + 2, (re * x + im * y) / norm);
  put_f64(out, 4 * i + 3, __builtin_sqrt(norm));
}
CASE(complex_numbers, .items = {64}, .groups = {4}, .n = 256, .words_in = 512, .words_out = 2048,
     .prepare = unit_floats, .compare = kCorpusF64)

KERNEL(mandelbrot, 256) {
  const u32 px = global_id(), py = group_id_y() * 4 + local_id_y();
  const f32 cx = (f32)px * (3.0f / 64) - 2.2f, cy = (f32)py * (2.4f / 32) - 1.2f;
  f32 x = 0, y = 0;
  u32 k = 0;
  for (; k < n && x * x + y * y <= 4.0f; ++k) {
    const f32 t = x * x - y * y + cx;
    y = 2.0f * x * y + cy;
    x = t;
  }
  out[py * 64 + px] = k;
}
CASE(mandelbrot, .items = {64, 4}, .groups = {1, 8}, .n = 200, .words_out = 2048)

KERNEL(newton_roots, 64) {
  const u32 i = global_id();
  const f64 a = __builtin_fabs((f64)f32_at(in, i)) + 0.25;
  f64 cube = a, inverse = 0.5;
  for (u32 k = 0; k < 12; ++k) {
    cube = cube - (cube * cube * cube - a) / (3 * cube * cube);
    inverse = inverse * (2.0 - inverse * (a < 1.9 ? a : 1.9));
  }
  put_f64(out, 2 * i, cube);
  put_f64(out, 2 * i + 1, inverse);
}
CASE(newton_roots, .items = {64}, .groups = {4}, .words_in = 256, .words_out = 1024,
     .prepare = unit_floats, .compare = kCorpusF64)

KERNEL(brain_floats, 64) {
  const u32 i = global_id();
  u32 packed = 0;
  f32 sum = 0;
  for (u32 k = 0; k < 2; ++k) {  // to the nearest, ties to even
    const u32 bits = in[i + k * n];
    const u32 rounded = (bits & 0x7fffffff) > 0x7f800000 ? 0x7fc0 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    packed |= (rounded & 0xffff) << 16 * k;
    if ((rounded & 0x7f80) != 0x7f80) sum += as_f32(rounded << 16);
  }
  out[2 * i] = packed;
  out[2 * i + 1] = f32_bits(sum);
}
CASE(brain_floats, .items = {64}, .groups = {8}, .n = 512, .words_in = 1024, .words_out = 1024,
     .prepare = edge_floats)
