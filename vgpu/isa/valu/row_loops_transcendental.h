// Exponentials, logarithms, sines and 1 / sqrt of f32 on whole rows (RowLoop of loops.h), in the
// default mode: polynomials in f64, whose error has a bound that is far below what an f32 can tell.
// Only where a value is so near to the middle of two f32 that the bound leaves open which of them
// it rounds to, does a lane take the exact function. Results are the same as that one's, bit by
// bit, and so in each build, whether its host has fma or not.
//
// The coefficients are minimax polynomials that Sollya's fpminimax found, for f64 coefficients and
// the intervals that are given with each.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "vgpu/isa/valu/double_vectors.h"
#include "vgpu/isa/valu/lane_ops_transcendental.h"
#include "vgpu/isa/valu/loops.h"

namespace halyard::vgpu::isa::valu {

// What a function does in the default mode.
template <auto kExact>
auto in_default_mode(typename Signature<decltype(kExact)>::Value x) {
  return kExact(x, kDefaultMode);
}

#if defined(__SSE2__)
template <size_t kTerms>
Doubles polynomial(const double (&coefficients)[kTerms], Doubles x) {
  Doubles sum = Doubles{} + coefficients[kTerms - 1];
  for (size_t i = kTerms - 1; i-- > 0;) sum = fused(sum, x, Doubles{} + coefficients[i]);
  return sum;
}

// For lanes that the vectors leave to the exact function.
inline Floats not_known() {
  return Floats{} + std::numeric_limits<float>::quiet_NaN();
}
// `x` in those lanes in which it is known how `low` and `high`, its f64, round to f32: of the 29
// bits that an f32 lacks they are more than kError units in the last place away from the middle.
template <uint32_t kError>
Floats unless_open(Doubles low, Doubles high, Floats x) {
  constexpr uint32_t kDropped = (1u << 29) - 1, kMiddle = 1u << 28;
  static_assert((kError & (kError - 1)) == 0 && kError < kMiddle);
  const Dwords distance = low_dwords(low, high) + (kError - kMiddle);
  return (distance & (kDropped & ~(2 * kError - 1))) == 0 ? not_known() : x;
}
template <uint32_t kError>
Floats narrow_unless_open(Doubles low, Doubles high) {
  return unless_open<kError>(low, high, narrow(low, high));
}

inline Floats magnitude(Floats x) {
  return Floats(Dwords(x) & 0x7fffffff);
}

// The nearest integer, for numbers below 2^22, is in the low bits of x + kToInteger.
inline constexpr float kToInteger = 0x1.8p23f;

// 2^x is 2^n times 2^rest, where |rest| <= 1/2. Within 2^-38.7.
struct PowerOfTwo {
  Floats operator()(Floats x) const {
    const Floats shifted = x + kToInteger;
    const Floats rest = x - (shifted - kToInteger);
    const Doubles low = of_rest(widen_lower(rest)), high = of_rest(widen_upper(rest));
    const Floats scaled = Floats(Dwords(narrow(low, high)) + (Dwords(shifted) << 23));
    const Floats known = unless_open<1 << 14>(low, high, scaled);
    const Floats normal = x < -126.0f ? Floats{} : known;
    // An infinity; of a NaN, a NaN.
    return x < 128.0f ? normal : x + std::numeric_limits<float>::infinity();
  }

 private:
  static Doubles of_rest(Doubles rest) {
    constexpr double kCoefficients[] = {1.0,
                                        0x1.62e42fef9cc62p-1,
                                        0x1.ebfbdff81d28ep-3,
                                        0x1.c6b08da70eb95p-5,
                                        0x1.3b2ab72567481p-7,
                                        0x1.5d877595a48fap-10,
                                        0x1.430891ee0d507p-13,
                                        0x1.00c0e697769c1p-16,
                                        0x1.63ef9a51bb8acp-20};
    return polynomial(kCoefficients, rest);
  }
};

inline auto is_positive_normal(Floats x) {
  return (x >= std::numeric_limits<float>::min()) & (x <= std::numeric_limits<float>::max());
}

// x is 2^k times z, where z is in [0.699, 1.398), in one of 16 intervals of 2^19 f32 each.
struct LogParts {
  Floats z, k;
  Dwords interval;
};
inline LogParts take_apart(Floats x) {
  const Dwords above = Dwords(x) - 0x3f330000;
  return {Floats(Dwords(x) - (above & 0xff800000)),
          __builtin_convertvector(SignedDwords(above) >> 23, Floats), above >> 19 & 15};
}
// For each interval c, which is near 1 / z and has 13 bits, so that z * c is exact as an f64, or as
// an f32 where z was an f16; |z * c - 1| is below 0.0298. In the interval with 1, c is 1: all bits
// of small results are there.
inline constexpr double kLogC[16] = {
    0x1.662p+0, 0x1.572p+0, 0x1.495p+0, 0x1.3cap+0, 0x1.30dp+0, 0x1.25ep+0, 0x1.1bbp+0, 0x1.123p+0,
    0x1.095p+0, 0x1p+0,     0x1.e58p-1, 0x1.ca4p-1, 0x1.b2p-1,  0x1.9c2p-1, 0x1.886p-1, 0x1.768p-1};
inline constexpr double kMinusLogC[16] = {-0x1.eff16e557a91dp-2, -0x1.b0bb8bf4af1a8p-2,
                                          -0x1.740871deb8e15p-2, -0x1.39fd9259eebbdp-2,
                                          -0x1.01d228cf4071ap-2, -0x1.97ac270c8f462p-3,
                                          -0x1.2f6ddde311e73p-3, -0x1.9594f001c4a9ap-4,
                                          -0x1.a649bfe7f2265p-5, 0,
                                          0x1.3a0cf56a06c4bp-4,  0x1.47b2c2f8cb155p-3,
                                          0x1.e857d3d361368p-3,  0x1.409347a934e48p-2,
                                          0x1.891fe20affb86p-2,  0x1.ce01a12f5d8d1p-2};

// log2(x) = k - log2(c) + log2(z * c), within 2^-42.4.
struct LogBaseTwo {
  Floats operator()(Floats x) const {
    const LogParts parts = take_apart(x);
    const Floats log = narrow_unless_open<1 << 11>(
        sum(widen_lower(parts.z), widen_lower(parts.k), widen_lower(parts.interval)),
        sum(widen_upper(parts.z), widen_upper(parts.k), widen_upper(parts.interval)));
    return is_positive_normal(x) ? log : not_known();
  }

 private:
  static Doubles sum(Doubles z, Doubles k, HostInts interval) {
    // log2(1 + r) / r for |r| <= 0.033
    constexpr double kCoefficients[] = {
        0x1.71547652b82f7p0,  -0x1.71547652f04c3p-1, 0x1.ec709dc4754p-2,  -0x1.715469bf0315bp-2,
        0x1.2776b5a80902bp-2, -0x1.ed250100ed363p-3, 0x1.a6cbe89cf2261p-3};
    const Doubles r = fused(z, look_up(kLogC, interval), Doubles{} - 1.0);
    const Doubles whole = k + look_up(kMinusLogC, interval);
    return fused(r, polynomial(kCoefficients, r), whole);
  }
};

// sin of q turns, |q| <= 1/4, within 2^-43.8.
inline Doubles sine_of_quarter(Doubles q) {
  constexpr double kCoefficients[] = {
      0x1.921fb54442b5fp2, -0x1.4abbce6247edcp5, 0x1.466bc66dc833cp6, -0x1.32d2c96c7400dp6,
      0x1.5076fea33abcfp5, -0x1.e297d0948fcadp3, 0x1.d4ec78090aa8bp1};
  return q * polynomial(kCoefficients, q * q);
}
inline Floats in_turns_domain(Floats x, Floats result) {
  const auto inside = (x >= -256.0f) & (x <= 256.0f);
  return inside ? result : not_known();
}
// These reductions are exact. That of -0 is -0.
inline Floats beyond_whole_turns(Floats x) {
  return x - ((x + kToInteger) - kToInteger);
}
inline Floats fold_to_quarter(Floats rest) {
  const Floats half = Floats((Dwords(rest) & 0x80000000) | 0x3f000000);
  return magnitude(rest) > 0.25f ? half - rest : rest;
}

struct Sine {
  Floats operator()(Floats x) const {
    const Floats q = fold_to_quarter(beyond_whole_turns(x));
    const Floats sine = narrow_unless_open<1 << 10>(sine_of_quarter(widen_lower(q)),
                                                    sine_of_quarter(widen_upper(q)));
    // A zero has the sign of x; the sine of a denormal needs all of its bits.
    const Floats small = x == 0.0f ? x : not_known();
    return in_turns_domain(x, (Dwords(x) & 0x7f800000) == 0 ? small : sine);
  }
};
struct Cosine {
  Floats operator()(Floats x) const {
    const Floats rest = magnitude(beyond_whole_turns(x));
    const Floats cosine = narrow_unless_open<1 << 10>(sine_of_quarter(0.25 - widen_lower(rest)),
                                                      sine_of_quarter(0.25 - widen_upper(rest)));
    return in_turns_domain(x, cosine);
  }
};

// The host's estimate y, and y / sqrt(1 - e) for e = 1 - x * y * y. As |e| < 2^-10.4, what the
// series leaves out is below 2^-43.
struct ReciprocalRoot {
  Floats operator()(Floats x) const {
    const Floats y = reciprocal_root_estimate(x);
    const Floats root = narrow_unless_open<1 << 11>(improve(widen_lower(x), widen_lower(y)),
                                                    improve(widen_upper(x), widen_upper(y)));
    return is_positive_normal(x) ? root : not_known();
  }

 private:
  static Doubles improve(Doubles x, Doubles y) {
    constexpr double kSeries[] = {1.0 / 2, 3.0 / 8, 5.0 / 16};
    const Doubles e = fused(-(x * y), y, Doubles{} + 1.0);
    return fused(y * e, polynomial(kSeries, e), y);
  }
};

// Puts the exact function's values in place of NaNs.
template <class T, T (*kExact)(T, const FloatMode&)>
[[gnu::noinline]] void finish(const uint32_t* x, uint32_t* out) {
  LaneBuffer nans;
#pragma GCC ivdep
  for (unsigned lane = 0; lane < kLanes; ++lane)
    nans.lane[lane] = is_nan(from_bits<T>(static_cast<BitsOf<T>>(out[lane]))) ? ~0u : 0u;
  for (uint64_t left = pack_mask(nans); left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    out[lane] = to_bits(kExact(from_bits<T>(static_cast<BitsOf<T>>(x[lane])), kDefaultMode));
  }
}

// Lanes in which the vectors' result is a NaN take the exact function.
template <class Vectors, float (*kExact)(float, const FloatMode&)>
struct CheckedLoop {
  static constexpr bool kHere = true;
  static constexpr bool kFindsNans = true;
  static bool run(const LaneArgs& args) {
    const uint32_t* const x = args.src[0][0];
    uint32_t* const out = args.out[0];
    for (unsigned n = 0; n < kLanes; n += kVectorLanes)
      store_floats(out + n, Vectors{}(load_floats(x + n)));
    if (any_nan32(*reinterpret_cast<const LaneBuffer*>(out))) [[unlikely]]
      finish<float, kExact>(x, out);
    return true;
  }
};
template <double (*kFunction)(double), class Vectors>
using Checked = CheckedLoop<Vectors, kF32<kFunction>>;
template <double (*kFunction)(double), class Vectors>
using CheckedInMode = CheckedLoop<Vectors, kF32InMode<kFunction>>;

template <>
struct RowLoop<in_default_mode<kF32<power_of_two>>> : Checked<power_of_two, PowerOfTwo> {};
template <>
struct RowLoop<in_default_mode<kF32<log_base_two>>> : Checked<log_base_two, LogBaseTwo> {};
template <>
struct RowLoop<in_default_mode<kF32InMode<sine_in_domain>>> : CheckedInMode<sine_in_domain, Sine> {
};
template <>
struct RowLoop<in_default_mode<kF32InMode<cosine_in_domain>>>
    : CheckedInMode<cosine_in_domain, Cosine> {};
template <>
struct RowLoop<in_default_mode<kF32<reciprocal_root>>> : Checked<reciprocal_root, ReciprocalRoot> {
};
#endif

}  // namespace halyard::vgpu::isa::valu
