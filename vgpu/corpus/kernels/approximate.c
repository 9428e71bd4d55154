// Instructions that are not exactly rounded; the host has the nearest single-precision number.
#include "vgpu/corpus/corpus.h"

#ifndef __AMDGCN__
double exp2(double), log2(double), exp(double), log(double), sin(double), cos(double), exp10(double);
#endif

FUNCTION f32 between(u32 bits, f32 low, f32 high) {
  return low + (high - low) * ((f32)(bits >> 8) * 0x1p-24f);
}

KERNEL(reciprocals, 64) {
  const u32 i = global_id();
  const f32 a = as_f32((in[i] & 0x80ffffff) | (64 + in[i] / 7 % 62) << 24), b = __builtin_fabsf(a);
#ifdef __AMDGCN__
  const f32 r = __builtin_amdgcn_rcpf(a), s = __builtin_amdgcn_rsqf(b), t = __builtin_amdgcn_sqrtf(b);
#else
  const f32 r = (f32)(1.0 / a), s = (f32)(1.0 / __builtin_sqrt(b)), t = __builtin_sqrtf(b);
#endif
  out[3 * i] = f32_bits(r);
  out[3 * i + 1] = f32_bits(s);
  out[3 * i + 2] = f32_bits(t);
}
CASE(reciprocals, .items = {64}, .groups = {8}, .words_in = 512, .words_out = 1536,
     .compare = kCorpusF32, .ulps = 1)  // what the Vega ISA document gives for V_RCP_F32

KERNEL(exponentials, 64) {
  const u32 i = global_id();
  const f32 a = between(in[i], -80, 80), p = between(in[i], 1.5f, 3e6f);
  const f32 small = between(in[i], 0.01f, 0.7f);
#ifdef __AMDGCN__
  const f32 r[] = {__builtin_exp2f(a), __builtin_expf(a), __builtin_log2f(p), __builtin_logf(p),
                   __builtin_log2f(small), __builtin_exp10f(a * 0.4f)};
#else
  const f32 r[] = {(f32)exp2(a), (f32)exp(a), (f32)log2(p), (f32)log(p), (f32)log2(small),
                   (f32)exp10(a * 0.4f)};
#endif
  for (u32 k = 0; k < 6; ++k) out[6 * i + k] = f32_bits(r[k]);
}
CASE(exponentials, .items = {64}, .groups = {8}, .words_in = 512, .words_out = 3072,
     .compare = kCorpusF32, .ulps = 3)  // OpenCL's bound for exp and log

KERNEL(sines, 64) {
  const u32 i = global_id();
  const f32 turns = between(in[i], 0.03f, 0.2f);  // neither result is near zero
#ifdef __AMDGCN__
  const f32 s = __builtin_amdgcn_sinf(turns), c = __builtin_amdgcn_cosf(turns);
#else
  const f32 s = (f32)sin(turns * 6.283185307179586), c = (f32)cos(turns * 6.283185307179586);
#endif
  out[2 * i] = f32_bits(s);
  out[2 * i + 1] = f32_bits(c);
}
CASE(sines, .items = {64}, .groups = {4}, .words_in = 256, .words_out = 512,
     .compare = kCorpusF32, .ulps = 2)

SHARED f32 positions[64][4];

KERNEL(n_body, 64) {
  const u32 l = local_id();
  for (u32 c = 0; c < 3; ++c) positions[l][c] = between(in[l * 4 + c], -1, 1);
  positions[l][3] = between(in[l * 4 + 3], 0.5f, 1.5f);
  barrier();
  f32 ax = 0, ay = 0, az = 0;
  for (u32 k = 0; k < 64; ++k) {
    const f32 dx = positions[k][0] - positions[l][0], dy = positions[k][1] - positions[l][1];
    const f32 dz = positions[k][2] - positions[l][2];
    const f32 d2 = dx * dx + dy * dy + dz * dz + 0.01f;
    const f32 f = positions[k][3] / (d2 * __builtin_sqrtf(d2));
    ax += dx * f;
    ay += dy * f;
    az += dz * f;
  }
  out[3 * l] = f32_bits(ax);
  out[3 * l + 1] = f32_bits(ay);
  out[3 * l + 2] = f32_bits(az);
}
CASE(n_body, .items = {64}, .words_in = 256, .words_out = 192, .compare = kCorpusF32)
