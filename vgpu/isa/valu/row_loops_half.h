// f16 arithmetic on whole rows, on hosts that convert f16 (RowLoop of loops.h): a dword is two f16,
// and a result in the lower one only is masked out of both. In the default mode.
#pragma once

#include "vgpu/isa/valu/lane_ops_packed.h"
#include "vgpu/isa/valu/loops.h"

namespace halyard::vgpu::isa::valu {

#if defined(__AVX512BW__)
// Half of the f16 of 16 lanes, as f32.
using HalfVector = __m512;
inline constexpr unsigned kHalfDwords = 8;

inline HalfVector load_halves(const uint32_t* row) {
  return _mm512_cvtph_ps(_mm256_load_si256(reinterpret_cast<const __m256i*>(row)));
}
inline __m256i round_halves(HalfVector x) {
  return _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
inline HalfVector to_halves_and_back(HalfVector x) {
  return _mm512_cvtph_ps(round_halves(x));
}
// One wide store: later loads, which are wide, could not be forwarded from two.
inline void store_halves(uint32_t* row, HalfVector low, HalfVector high, uint32_t keep) {
  const __m512i both =
      _mm512_inserti64x4(_mm512_castsi256_si512(round_halves(low)), round_halves(high), 1);
  _mm512_store_si512(row, _mm512_and_si512(both, _mm512_set1_epi32(static_cast<int>(keep))));
}

inline HalfVector load_floats(const uint32_t* row) {
  return _mm512_load_ps(row);
}
inline HalfVector fused_floats(HalfVector a, HalfVector b, HalfVector c) {
  return _mm512_fmadd_ps(a, b, c);
}
inline void store_floats(uint32_t* row, HalfVector x) {
  _mm512_store_ps(row, x);
}
// f16 in the lower halves of dwords.
inline void store_low_halves(uint32_t* row, HalfVector x) {
  _mm512_store_si512(row, _mm512_cvtepu16_epi32(round_halves(x)));
}
// Denormals become zeros.
inline HalfVector flush_floats(HalfVector x) {
  const __m512i bits = _mm512_castps_si512(x);
  const __mmask16 small = _mm512_testn_epi32_mask(bits, _mm512_set1_epi32(0x7f800000));
  const __m512i sign = _mm512_set1_epi32(static_cast<int>(0x80000000));
  return _mm512_castsi512_ps(_mm512_mask_and_epi32(bits, small, bits, sign));
}
// The even and the odd elements of two vectors.
inline HalfVector even_elements(HalfVector a, HalfVector b) {
  const __m512i from = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
  return _mm512_permutex2var_ps(a, from, b);
}
inline HalfVector odd_elements(HalfVector a, HalfVector b) {
  const __m512i from = _mm512_set_epi32(31, 29, 27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
  return _mm512_permutex2var_ps(a, from, b);
}

// The sum rounded to odd, so that rounding it again, to f16, is as good as rounding once: of an
// inexact sum's two neighbours one is odd. An exact sum is both of them, but for the sign of zero.
class FusedHalves {
 public:
  HalfVector operator()(HalfVector a, HalfVector b, HalfVector c) {
    const HalfVector down =
        _mm512_fmadd_round_ps(a, b, c, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    const HalfVector up = _mm512_fmadd_round_ps(a, b, c, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
    const __mmask16 odd = _mm512_test_epi32_mask(_mm512_castps_si512(down), _mm512_set1_epi32(1));
    return _mm512_mask_mov_ps(up, odd, down);
  }
  static bool all_well() { return true; }
};

#elif defined(__F16C__) && defined(__AVX2__)
using HalfVector = __m256;
inline constexpr unsigned kHalfDwords = 4;

inline HalfVector load_halves(const uint32_t* row) {
  return _mm256_cvtph_ps(_mm_load_si128(reinterpret_cast<const __m128i*>(row)));
}
inline __m128i round_halves(HalfVector x) {
  return _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
inline HalfVector to_halves_and_back(HalfVector x) {
  return _mm256_cvtph_ps(round_halves(x));
}
// One wide store: later loads, which are wide, could not be forwarded from two.
inline void store_halves(uint32_t* row, HalfVector low, HalfVector high, uint32_t keep) {
  const __m256i both = _mm256_set_m128i(round_halves(high), round_halves(low));
  _mm256_store_si256(reinterpret_cast<__m256i*>(row),
                     _mm256_and_si256(both, _mm256_set1_epi32(static_cast<int>(keep))));
}

inline HalfVector load_floats(const uint32_t* row) {
  return _mm256_load_ps(reinterpret_cast<const float*>(row));
}
inline HalfVector fused_floats(HalfVector a, HalfVector b, HalfVector c) {
  return _mm256_fmadd_ps(a, b, c);
}
inline void store_floats(uint32_t* row, HalfVector x) {
  _mm256_store_ps(reinterpret_cast<float*>(row), x);
}
// f16 in the lower halves of dwords.
inline void store_low_halves(uint32_t* row, HalfVector x) {
  _mm256_store_si256(reinterpret_cast<__m256i*>(row), _mm256_cvtepu16_epi32(round_halves(x)));
}
// Denormals become zeros.
inline HalfVector flush_floats(HalfVector x) {
  const __m256i exponent = _mm256_and_si256(_mm256_castps_si256(x), _mm256_set1_epi32(0x7f800000));
  const __m256i small = _mm256_cmpeq_epi32(exponent, _mm256_setzero_si256());
  const __m256i magnitude = _mm256_srli_epi32(small, 1);
  return _mm256_andnot_ps(_mm256_castsi256_ps(magnitude), x);
}
// The even and the odd elements of two vectors.
inline HalfVector even_elements(HalfVector a, HalfVector b) {
  const __m256d mingled = _mm256_castps_pd(_mm256_shuffle_ps(a, b, 0x88));
  return _mm256_castpd_ps(_mm256_permute4x64_pd(mingled, 0xd8));
}
inline HalfVector odd_elements(HalfVector a, HalfVector b) {
  const __m256d mingled = _mm256_castps_pd(_mm256_shuffle_ps(a, b, 0xdd));
  return _mm256_castpd_ps(_mm256_permute4x64_pd(mingled, 0xd8));
}

// The sum rounded twice, which fma_f16_fast() proves to be right but where this flags it.
class FusedHalves {
 public:
  HalfVector operator()(HalfVector a, HalfVector b, HalfVector c) {
    const __m256 product = _mm256_mul_ps(a, b);
    const __m256 sum = _mm256_add_ps(product, c);
    const __m256 shadow = _mm256_sub_ps(sum, product);
    const __m256 error =
        _mm256_add_ps(_mm256_sub_ps(product, _mm256_sub_ps(sum, shadow)), _mm256_sub_ps(c, shadow));
    const __m256i magnitude =
        _mm256_and_si256(_mm256_castps_si256(sum), _mm256_set1_epi32(0x7fffffff));
    const __m256i dropped = _mm256_and_si256(magnitude, _mm256_set1_epi32(0x1fff));
    const __m256i halfway = _mm256_cmpeq_epi32(dropped, _mm256_set1_epi32(0x1000));
    const __m256i denormal = _mm256_cmpgt_epi32(_mm256_set1_epi32(0x38800000), magnitude);
    const __m256i inexact =
        _mm256_castps_si256(_mm256_cmp_ps(error, _mm256_setzero_ps(), _CMP_NEQ_UQ));
    rare_ = _mm256_or_si256(rare_, _mm256_and_si256(_mm256_or_si256(halfway, denormal), inexact));
    return sum;
  }
  bool all_well() const { return _mm256_testz_si256(rare_, rare_) != 0; }

 private:
  __m256i rare_ = _mm256_setzero_si256();
};

#endif

#if defined(__F16C__) && defined(__AVX2__)
struct NothingRare {
  static bool all_well() { return true; }
};
// A sum or product rounded to f32 and again to f16 is as if rounded once (24 >= 2 * 11 + 2).
struct AddHalves : NothingRare {
  HalfVector operator()(HalfVector a, HalfVector b) const { return a + b; }
};
struct SubtractHalves : NothingRare {
  HalfVector operator()(HalfVector a, HalfVector b) const { return a - b; }
};
struct SubtractFromHalves : NothingRare {
  HalfVector operator()(HalfVector a, HalfVector b) const { return b - a; }
};
struct MultiplyHalves : NothingRare {
  HalfVector operator()(HalfVector a, HalfVector b) const { return a * b; }
};
struct MultiplyAddHalves : NothingRare {
  HalfVector operator()(HalfVector a, HalfVector b, HalfVector c) const {
    return to_halves_and_back(a * b) + c;
  }
};

// Results keep the bits `kKeep` of each dword.
template <class Function, unsigned kSources, uint32_t kKeep>
struct HalfLoop {
  static constexpr bool kHere = true;
  static bool run(const LaneArgs& args) { return run(args, std::make_index_sequence<kSources>{}); }

 private:
  template <size_t... I>
  static bool run(const LaneArgs& args, std::index_sequence<I...>) {
    Function function;
    uint32_t* const out = args.out[0];
    const uint32_t* const rows[] = {args.src[I][0]...};
    for (unsigned n = 0; n < kLanes; n += 2 * kHalfDwords) {
      const HalfVector low = function(load_halves(rows[I] + n)...);
      const HalfVector high = function(load_halves(rows[I] + n + kHalfDwords)...);
      store_halves(out + n, low, high, kKeep);
    }
    return function.all_well();
  }
};
template <class Function, unsigned kSources>
using OneHalf = HalfLoop<Function, kSources, 0xffff>;
template <class Function, unsigned kSources>
using BothHalves = HalfLoop<Function, kSources, ~0u>;

template <>
struct RowLoop<add_fast<F16>> : OneHalf<AddHalves, 2> {};
template <>
struct RowLoop<sub_fast<F16>> : OneHalf<SubtractHalves, 2> {};
template <>
struct RowLoop<subrev_fast<F16>> : OneHalf<SubtractFromHalves, 2> {};
template <>
struct RowLoop<mul_fast<F16>> : OneHalf<MultiplyHalves, 2> {};
template <>
struct RowLoop<mad_f16_fast> : OneHalf<MultiplyAddHalves, 3> {};
template <>
struct RowLoop<fma_f16_fast> : OneHalf<FusedHalves, 3> {};
// v_dot2_f32_f16: nothing but the addend can be denormal (mad_of_halves_fast()).
template <>
struct RowLoop<dot2_f32_f16_fast> {
  static constexpr bool kHere = true;
  static bool run(const LaneArgs& args) {
    uint32_t* const out = args.out[0];
    const uint32_t* const rows[] = {args.src[0][0], args.src[1][0], args.src[2][0]};
    for (unsigned n = 0; n < kLanes; n += 2 * kHalfDwords) {
      const unsigned m = n + kHalfDwords;
      const HalfVector first = load_halves(rows[0] + n) * load_halves(rows[1] + n);
      const HalfVector second = load_halves(rows[0] + m) * load_halves(rows[1] + m);
      const HalfVector low = even_elements(first, second) + flush_floats(load_floats(rows[2] + n));
      store_floats(out + n, odd_elements(first, second) + low);
    }
    return true;
  }
};

// v_fma_mix with an f16 result: mixed sources, all f32 by now.
template <>
struct RowLoop<fma_mix_f16_fast> {
  static constexpr bool kHere = true;
  static bool run(const LaneArgs& args) {
    uint32_t* const out = args.out[0];
    const uint32_t* const rows[] = {args.src[0][0], args.src[1][0], args.src[2][0]};
    for (unsigned n = 0; n < kLanes; n += 2 * kHalfDwords) {
      store_low_halves(out + n, fused_floats(load_floats(rows[0] + n), load_floats(rows[1] + n),
                                             load_floats(rows[2] + n)));
    }
    return true;
  }
};

template <>
struct RowLoop<packed2<PkF16, add_fast<F16>>> : BothHalves<AddHalves, 2> {};
template <>
struct RowLoop<packed2<PkF16, mul_fast<F16>>> : BothHalves<MultiplyHalves, 2> {};
template <>
struct RowLoop<pk_fma_f16_fast> : BothHalves<FusedHalves, 3> {};
#endif

}  // namespace halyard::vgpu::isa::valu
