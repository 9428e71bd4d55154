// f16 and f32 in the host's vector registers: row_vectors.h for hosts that convert f16.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "vgpu/isa/valu/row_vectors.h"

namespace halyard::vgpu::isa::valu {

#if defined(__F16C__) && defined(__AVX2__)
// The f16 of half as many dwords as a vector has, which widen to its f32.
#if defined(__AVX512BW__)
using Halves = __m256i;

inline Floats widen(Halves x) {
  return _mm512_cvtph_ps(x);
}
inline Halves narrow(Floats x) {
  return _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
inline Halves narrow_toward_zero(Floats x) {
  return _mm512_cvtps_ph(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
}
inline Halves lower(Dwords x) {
  return _mm512_castsi512_si256(HostInts(x));
}
inline Halves upper(Dwords x) {
  return _mm512_extracti64x4_epi64(HostInts(x), 1);
}
inline Dwords join(Halves low, Halves high) {
  return Dwords(_mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1));
}
// kRounding: _MM_FROUND_TO_NEAREST_INT and its kin.
template <int kRounding>
Floats to_integral(Floats x) {
  return _mm512_roundscale_ps(x, kRounding | _MM_FROUND_NO_EXC);
}
inline Floats fused(Floats a, Floats b, Floats c) {
  return _mm512_fmadd_ps(a, b, c);
}
inline Floats square_root(Floats x) {
  return _mm512_sqrt_ps(x);
}
// Denormals become zeros.
inline Floats flush_floats(Floats x) {
  const __m512i bits = _mm512_castps_si512(x);
  const __mmask16 small = _mm512_testn_epi32_mask(bits, _mm512_set1_epi32(0x7f800000));
  const __m512i sign = _mm512_set1_epi32(static_cast<int>(0x80000000));
  return _mm512_castsi512_ps(_mm512_mask_and_epi32(bits, small, bits, sign));
}
#else
using Halves = __m128i;

inline Floats widen(Halves x) {
  return _mm256_cvtph_ps(x);
}
inline Halves narrow(Floats x) {
  return _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
inline Halves narrow_toward_zero(Floats x) {
  return _mm256_cvtps_ph(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
}
inline Halves lower(Dwords x) {
  return _mm256_castsi256_si128(HostInts(x));
}
inline Halves upper(Dwords x) {
  return _mm256_extracti128_si256(HostInts(x), 1);
}
inline Dwords join(Halves low, Halves high) {
  return Dwords(_mm256_set_m128i(high, low));
}
template <int kRounding>
Floats to_integral(Floats x) {
  return _mm256_round_ps(x, kRounding | _MM_FROUND_NO_EXC);
}
inline Floats fused(Floats a, Floats b, Floats c) {
  return _mm256_fmadd_ps(a, b, c);
}
inline Floats square_root(Floats x) {
  return _mm256_sqrt_ps(x);
}
inline Floats flush_floats(Floats x) {
  const __m256i exponent = _mm256_and_si256(_mm256_castps_si256(x), _mm256_set1_epi32(0x7f800000));
  const __m256i small = _mm256_cmpeq_epi32(exponent, _mm256_setzero_si256());
  const __m256i magnitude = _mm256_srli_epi32(small, 1);
  return _mm256_andnot_ps(_mm256_castsi256_ps(magnitude), x);
}
#endif

// Whether there were NaNs among some f32.
class FoundNans {
 public:
  void look_at(Floats a, Floats b) {
#if defined(__AVX512BW__)
    found_ = _kor_mask16(found_, _mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q));
#else
    found_ = _mm256_or_ps(found_, _mm256_cmp_ps(a, b, _CMP_UNORD_Q));
#endif
  }
#if defined(__AVX512BW__)
  bool any() const { return found_ != 0; }

 private:
  __mmask16 found_ = 0;
#else
  bool any() const { return _mm256_movemask_ps(found_) != 0; }

 private:
  __m256 found_ = _mm256_setzero_ps();
#endif
};

inline Floats narrow_and_widen(Floats x) {
  return widen(narrow(x));
}
// Of f16 as f32: denormals, which are below 2^-14, become zeros.
inline Floats flush_halves(Floats x) {
  const auto small = (Dwords(x) & 0x7fffffff) < 0x38800000;
  return small ? Floats(Dwords(x) & 0x80000000) : x;
}

// One half of each dword of a and of b: a's first, b's first, a's second …
inline Dwords interleave_halves(Dwords a, Dwords b, bool high) {
  return high ? a >> 16 | (b & 0xffff0000) : (a & 0xffff) | b << 16;
}

// The even and the odd elements of two vectors.
template <int... I>
Floats even_elements(Floats a, Floats b, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(a, b, (2 * I)...);
}
template <int... I>
Floats odd_elements(Floats a, Floats b, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(a, b, (2 * I + 1)...);
}
inline Floats even_elements(Floats a, Floats b) {
  return even_elements(a, b, LaneNumbers{});
}
inline Floats odd_elements(Floats a, Floats b) {
  return odd_elements(a, b, LaneNumbers{});
}

// The first and the second half of a's first element, b's first, a's second …: two vectors whose
// even and odd elements are a and b.
template <int... I>
Floats interleave_lower(Floats a, Floats b, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(a, b, (I / 2 + I % 2 * int{kVectorLanes})...);
}
template <int... I>
Floats interleave_upper(Floats a, Floats b, std::integer_sequence<int, I...>) {
  constexpr int kHalf = kVectorLanes / 2;
  return __builtin_shufflevector(a, b, (kHalf + I / 2 + I % 2 * int{kVectorLanes})...);
}
inline Floats interleave_lower(Floats a, Floats b) {
  return interleave_lower(a, b, LaneNumbers{});
}
inline Floats interleave_upper(Floats a, Floats b) {
  return interleave_upper(a, b, LaneNumbers{});
}
#endif

}  // namespace halyard::vgpu::isa::valu
