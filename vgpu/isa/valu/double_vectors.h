// f64 in the host's vector registers, and f32 of the lanes of two of them: row_vectors.h for
// functions that are computed in more bits than their results have.
#pragma once

#include <cstdint>
#include <utility>

#include "vgpu/isa/valu/row_vectors.h"

namespace halyard::vgpu::isa::valu {

#if defined(__SSE2__)
using Doubles [[gnu::vector_size(kVectorBytes), gnu::may_alias]] = double;

// widen_lower() and widen_upper() give the f64 of a vector's first and second half of lanes,
// narrow() rounds both back, to nearest even. fused() rounds once where the host has fma, which is
// not everywhere.
#if defined(__AVX512BW__)
inline Doubles widen_lower(Floats x) {
  return _mm512_cvtps_pd(_mm512_castps512_ps256(x));
}
inline Doubles widen_upper(Floats x) {
  return _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1));
}
inline Floats narrow(Doubles low, Doubles high) {
  const __m512 first = _mm512_castps256_ps512(_mm512_cvtpd_ps(low));
  return _mm512_insertf32x8(first, _mm512_cvtpd_ps(high), 1);
}
inline Doubles fused(Doubles a, Doubles b, Doubles c) {
  return _mm512_fmadd_pd(a, b, c);
}
// Within 2^-12 of 1 / sqrt(x); the builds differ in which value they give.
inline Floats reciprocal_root_estimate(Floats x) {
  return _mm512_rsqrt14_ps(x);
}
#elif defined(__AVX2__)
inline Doubles widen_lower(Floats x) {
  return _mm256_cvtps_pd(_mm256_castps256_ps128(x));
}
inline Doubles widen_upper(Floats x) {
  return _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1));
}
inline Floats narrow(Doubles low, Doubles high) {
  return _mm256_set_m128(_mm256_cvtpd_ps(high), _mm256_cvtpd_ps(low));
}
inline Doubles fused(Doubles a, Doubles b, Doubles c) {
  return _mm256_fmadd_pd(a, b, c);
}
inline Floats reciprocal_root_estimate(Floats x) {
  return _mm256_rsqrt_ps(x);
}
#else
inline Doubles widen_lower(Floats x) {
  return _mm_cvtps_pd(x);
}
inline Doubles widen_upper(Floats x) {
  return _mm_cvtps_pd(_mm_movehl_ps(x, x));
}
inline Floats narrow(Doubles low, Doubles high) {
  return _mm_movelh_ps(_mm_cvtpd_ps(low), _mm_cvtpd_ps(high));
}
inline Doubles fused(Doubles a, Doubles b, Doubles c) {
  return a * b + c;
}
inline Floats reciprocal_root_estimate(Floats x) {
  return _mm_rsqrt_ps(x);
}
#endif

// The dwords of a vector's first and second half of lanes.
inline HostInts widen_lower(Dwords x) {
#if defined(__AVX512BW__)
  return _mm512_cvtepu32_epi64(_mm512_castsi512_si256(HostInts(x)));
#elif defined(__AVX2__)
  return _mm256_cvtepu32_epi64(_mm256_castsi256_si128(HostInts(x)));
#else
  return _mm_unpacklo_epi32(HostInts(x), HostInts{});
#endif
}
inline HostInts widen_upper(Dwords x) {
#if defined(__AVX512BW__)
  return _mm512_cvtepu32_epi64(_mm512_extracti32x8_epi32(HostInts(x), 1));
#elif defined(__AVX2__)
  return _mm256_cvtepu32_epi64(_mm256_extracti128_si256(HostInts(x), 1));
#else
  return _mm_unpackhi_epi32(HostInts(x), HostInts{});
#endif
}

// The lower dwords of two vectors' f64.
template <int... I>
Dwords low_dwords(Doubles low, Doubles high, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(Dwords(low), Dwords(high), (2 * I)...);
}
inline Dwords low_dwords(Doubles low, Doubles high) {
  return low_dwords(low, high, LaneNumbers{});
}

// The entries of a table; indices are below 16.
inline Doubles look_up(const double (&table)[16], HostInts index) {
#if defined(__AVX512BW__)
  return _mm512_permutex2var_pd(_mm512_loadu_pd(table), index, _mm512_loadu_pd(table + 8));
#elif defined(__AVX2__)
  return _mm256_i64gather_pd(table, index, 8);
#else
  return Doubles{table[index[0]], table[index[1]]};
#endif
}
#endif

}  // namespace halyard::vgpu::isa::valu
