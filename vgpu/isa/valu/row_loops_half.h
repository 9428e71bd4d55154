// f16 arithmetic on whole rows, on hosts that convert f16 (RowLoop of loops.h): a dword is two f16,
// and a result in the lower one only is masked out of both. In the default mode.
#pragma once

#include "vgpu/isa/valu/half_vectors.h"
#include "vgpu/isa/valu/lane_ops_packed.h"
#include "vgpu/isa/valu/lane_ops_rounding.h"
#include "vgpu/isa/valu/loops.h"

namespace halyard::vgpu::isa::valu {

#if defined(__F16C__) && defined(__AVX2__)
#if defined(__AVX512BW__)
// The sum rounded to odd, so that rounding it again, to f16, is as good as rounding once: of an
// inexact sum's two neighbours one is odd. An exact sum is both of them, but for the sign of zero.
class FusedHalves {
 public:
  Floats operator()(Floats a, Floats b, Floats c) {
    const Floats down = _mm512_fmadd_round_ps(a, b, c, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    const Floats up = _mm512_fmadd_round_ps(a, b, c, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
    const __mmask16 odd = _mm512_test_epi32_mask(_mm512_castps_si512(down), _mm512_set1_epi32(1));
    return _mm512_mask_mov_ps(up, odd, down);
  }
  static bool all_well() { return true; }
};

#else
// The sum rounded twice, which fma_f16_fast() proves to be right but where this flags it.
class FusedHalves {
 public:
  Floats operator()(Floats a, Floats b, Floats c) {
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

struct NothingRare {
  static bool all_well() { return true; }
};
// A sum or product rounded to f32 and again to f16 is as if rounded once (24 >= 2 * 11 + 2).
struct AddHalves : NothingRare {
  Floats operator()(Floats a, Floats b) const { return a + b; }
};
struct SubtractHalves : NothingRare {
  Floats operator()(Floats a, Floats b) const { return a - b; }
};
struct SubtractFromHalves : NothingRare {
  Floats operator()(Floats a, Floats b) const { return b - a; }
};
struct MultiplyHalves : NothingRare {
  Floats operator()(Floats a, Floats b) const { return a * b; }
};
// v_mad_f16: both results are rounded and flushed.
struct MultiplyAddHalves : NothingRare {
  Floats operator()(Floats a, Floats b, Floats c) const {
    const Floats product = narrow_and_widen(flush_halves(a) * flush_halves(b));
    return flush_halves(narrow_and_widen(flush_halves(product) + flush_halves(c)));
  }
};
template <int kRounding>
struct RoundHalves : NothingRare {
  Floats operator()(Floats x) const { return to_integral<kRounding>(x); }
};
// fract_of_f16()
struct FractionHalves : NothingRare {
  Floats operator()(Floats x) const {
    const Floats rest = x - to_integral<_MM_FROUND_TO_NEG_INF>(x);
    const Floats below_one = Floats{} + 0x1.ffcp-1f;
    return rest > below_one ? below_one : rest;
  }
};

// The f16 of half as many dwords as a vector has.
inline constexpr unsigned kHalfDwords = kVectorLanes / 2;
inline Floats load_halves(const uint32_t* row) {
  return widen(*reinterpret_cast<const Halves*>(row));
}

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
    for (unsigned n = 0; n < kLanes; n += kVectorLanes) {
      const Floats low = function(load_halves(rows[I] + n)...);
      const Floats high = function(load_halves(rows[I] + n + kHalfDwords)...);
      // One wide store: later loads, which are wide, could not be forwarded from two.
      store_lanes(out + n, join(narrow(low), narrow(high)) & kKeep);
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
template <>
struct RowLoop<through_f32<trunc_fast<float>>> : OneHalf<RoundHalves<_MM_FROUND_TO_ZERO>, 1> {};
template <>
struct RowLoop<through_f32<floor_fast<float>>> : OneHalf<RoundHalves<_MM_FROUND_TO_NEG_INF>, 1> {};
template <>
struct RowLoop<through_f32<ceil_fast<float>>> : OneHalf<RoundHalves<_MM_FROUND_TO_POS_INF>, 1> {};
template <>
struct RowLoop<through_f32<rndne_fast<float>>>
    : OneHalf<RoundHalves<_MM_FROUND_TO_NEAREST_INT>, 1> {};
template <>
struct RowLoop<through_f32<fract_of_f16>> : OneHalf<FractionHalves, 1> {};
// v_dot2_f32_f16: nothing but the addend can be denormal (mad_of_halves_fast()).
template <>
struct RowLoop<dot2_f32_f16_fast> {
  static constexpr bool kHere = true;
  static bool run(const LaneArgs& args) {
    uint32_t* const out = args.out[0];
    const uint32_t* const rows[] = {args.src[0][0], args.src[1][0], args.src[2][0]};
    for (unsigned n = 0; n < kLanes; n += kVectorLanes) {
      const unsigned m = n + kHalfDwords;
      const Floats first = load_halves(rows[0] + n) * load_halves(rows[1] + n);
      const Floats second = load_halves(rows[0] + m) * load_halves(rows[1] + m);
      const Floats low = even_elements(first, second) + flush_floats(load_floats(rows[2] + n));
      store_floats(out + n, odd_elements(first, second) + low);
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
