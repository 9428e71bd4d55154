// Reciprocals, roots, exponentials, logarithms and sines of f16 on whole rows, on hosts that
// convert f16 (RowLoop of loops.h), in the default mode: as row_loops_transcendental.h does it for
// f32, with polynomials in f32.
#pragma once

#include <cstdint>
#include <limits>

#include "vgpu/isa/valu/half_vectors.h"
#include "vgpu/isa/valu/row_loops_transcendental.h"

namespace halyard::vgpu::isa::valu {

#if defined(__F16C__) && defined(__AVX2__)
using HalfWords [[gnu::vector_size(kVectorBytes / 2), gnu::may_alias]] = uint16_t;

// `x` as f16, or a NaN where rounding is open: the ends of the interval that x's relative error of
// 2^-kBits spans round to different ones.
template <int kBits>
Halves narrow_unless_open(Floats x) {
  constexpr float kError = 1.0f / (1 << kBits);
  const HalfWords low = HalfWords(narrow(x * (1 - kError)));
  const HalfWords high = HalfWords(narrow(x * (1 + kError)));
  return Halves(low | (HalfWords(low != high) & 0x7fff));
}

template <size_t kTerms>
Floats polynomial(const float (&coefficients)[kTerms], Floats x) {
  Floats sum = Floats{} + coefficients[kTerms - 1];
  for (size_t i = kTerms - 1; i-- > 0;) sum = fused(sum, x, Floats{} + coefficients[i]);
  return sum;
}

// The entries of a table; indices are below 16.
inline Floats look_up(const float (&table)[16], Dwords index) {
#if defined(__AVX512BW__)
  return _mm512_permutexvar_ps(HostInts(index), _mm512_loadu_ps(table));
#else
  const __m256 low = _mm256_permutevar8x32_ps(_mm256_loadu_ps(table), HostInts(index));
  const __m256 high = _mm256_permutevar8x32_ps(_mm256_loadu_ps(table + 8), HostInts(index));
  return _mm256_blendv_ps(low, high, Floats(index << 28));
#endif
}

// A quotient or root of f16, rounded to f32 and again, is as if rounded once (24 >= 2 * 11 + 2).
struct ReciprocalOfHalves {
  Halves operator()(Floats x) const { return narrow(1.0f / x); }
};
struct RootOfHalves {
  Halves operator()(Floats x) const { return narrow(square_root(x)); }
};
// One step of Newton's from the host's estimate.
struct ReciprocalRootOfHalves {
  Halves operator()(Floats x) const {
    const Floats y = reciprocal_root_estimate(x);
    const Floats half_e = fused(x * -0.5f, y * y, Floats{} + 0.5f);
    return narrow_unless_open<22>(fused(y, half_e, y));
  }
};
// Beyond 2^±40 f16 has infinities and zeros only.
struct PowerOfTwoOfHalves {
  Halves operator()(Floats x) const {
    constexpr float kCoefficients[] = {1.0f,           0x1.62e43p-1f,  0x1.ebfbep-3f,
                                       0x1.c6af9cp-5f, 0x1.3b2a48p-7f, 0x1.5ef5dp-10f,
                                       0x1.442512p-13f};
    const Floats below = x > 40.0f ? Floats{} + 40.0f : x;
    const Floats bounded = below < -40.0f ? Floats{} - 40.0f : below;
    const Floats shifted = bounded + kToInteger;
    const Floats power = polynomial(kCoefficients, bounded - (shifted - kToInteger));
    return narrow_unless_open<22>(Floats(Dwords(power) + (Dwords(shifted) << 23)));
  }
};

// A table of f64 in f32.
struct SingleTable {
  explicit constexpr SingleTable(const double (&values)[16]) : entry() {
    for (unsigned i = 0; i < 16; ++i) entry[i] = static_cast<float>(values[i]);
  }
  float entry[16];
};
inline constexpr SingleTable kLogCOfHalves{kLogC}, kMinusLogCOfHalves{kMinusLogC};

// All f16 but zeros are normal f32.
struct LogBaseTwoOfHalves {
  Halves operator()(Floats x) const {
    constexpr float kCoefficients[] = {0x1.715476p0f, -0x1.715474p-1f, 0x1.ecbb7cp-2f,
                                       -0x1.71a388p-2f};
    const LogParts parts = take_apart(x);
    const Floats r = fused(parts.z, look_up(kLogCOfHalves.entry, parts.interval), Floats{} - 1.0f);
    const Floats whole = parts.k + look_up(kMinusLogCOfHalves.entry, parts.interval);
    const Floats log = fused(r, polynomial(kCoefficients, r), whole);
    const auto in_domain = (x > 0.0f) & (x <= std::numeric_limits<float>::max());
    return narrow_unless_open<22>(in_domain ? log : not_known());
  }
};

// Of x, which is q turns but for the symmetries of sin.
inline Halves sine_of_halves(Floats x, Floats q) {
  constexpr float kCoefficients[] = {0x1.921fb6p2f, -0x1.4abbd8p5f, 0x1.466b26p6f, -0x1.328004p6f,
                                     0x1.407998p5f};
  return narrow_unless_open<22>(in_turns_domain(x, q * polynomial(kCoefficients, q * q)));
}
struct SineOfHalves {
  Halves operator()(Floats x) const {
    return sine_of_halves(x, fold_to_quarter(beyond_whole_turns(x)));
  }
};
// An f16's distance to a quarter is an f32.
struct CosineOfHalves {
  Halves operator()(Floats x) const {
    return sine_of_halves(x, 0.25f - magnitude(beyond_whole_turns(x)));
  }
};

// Lanes in which the vectors' result is a NaN take the exact function. Two vectors' worth of a row
// alternate in one of f16.
template <class Vectors, F16 (*kExact)(F16, const FloatMode&)>
struct CheckedHalvesLoop {
  static constexpr bool kHere = true;
  static constexpr bool kFindsNans = true;
  static bool run(const LaneArgs& args) {
    const uint32_t* const x = args.src[0][0];
    uint32_t* const out = args.out[0];
    for (unsigned n = 0; n < kLanes; n += 2 * kVectorLanes) {
      const Dwords in =
          interleave_halves(load_lanes(x + n), load_lanes(x + n + kVectorLanes), false);
      const Dwords result = join(Vectors{}(widen(lower(in))), Vectors{}(widen(upper(in))));
      store_lanes(out + n, result & 0xffff);
      store_lanes(out + n + kVectorLanes, result >> 16);
    }
    if (any_nan16(*reinterpret_cast<const LaneBuffer*>(out))) [[unlikely]]
      finish<F16, kExact>(x, out);
    return true;
  }
};
template <double (*kFunction)(double), class Vectors>
using CheckedHalves = CheckedHalvesLoop<Vectors, kF16<kFunction>>;

template <>
struct RowLoop<in_default_mode<kF16<reciprocal>>> : CheckedHalves<reciprocal, ReciprocalOfHalves> {
};
template <>
struct RowLoop<in_default_mode<kF16<root>>> : CheckedHalves<root, RootOfHalves> {};
template <>
struct RowLoop<in_default_mode<kF16<reciprocal_root>>>
    : CheckedHalves<reciprocal_root, ReciprocalRootOfHalves> {};
template <>
struct RowLoop<in_default_mode<kF16<power_of_two>>>
    : CheckedHalves<power_of_two, PowerOfTwoOfHalves> {};
template <>
struct RowLoop<in_default_mode<kF16<log_base_two>>>
    : CheckedHalves<log_base_two, LogBaseTwoOfHalves> {};
template <>
struct RowLoop<in_default_mode<kF16<sine_in_domain>>>
    : CheckedHalves<sine_in_domain, SineOfHalves> {};
template <>
struct RowLoop<in_default_mode<kF16<cosine_in_domain>>>
    : CheckedHalves<cosine_in_domain, CosineOfHalves> {};
#endif

}  // namespace halyard::vgpu::isa::valu
