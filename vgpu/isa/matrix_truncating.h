// How MI300 adds products of 16-bit and 8-bit floats and of xf32, as MMA-Sim found by experiment
// (arXiv 2511.10909; mmasim 2.1.1, arithmetic/fdpa.py: TR_FDPA and GTR_FDPA with F = 24, F2 = 31).
//
// A step adds up to 16 products (fp8, bf8), 8 (f16, bf16) or 4 (xf32) to c:
//   1. Each product keeps all its bits. Those of one group are aligned to the highest exponent
//      among them (a factor's own, denormals at their format's least, not normalised again) and
//      truncated toward 0 to 24 bits behind the point. Their sum is exact. 16-bit floats and xf32
//      have one group; of 8-bit floats the even products are a group and the odd ones another,
//      whose sums are aligned to the higher exponent, rounded down to 24 bits, and added.
//   2. c and the sum are aligned to the higher exponent of both and rounded down: the sum to 32
//      bits behind the point, c to 24. 8-bit floats: a c that is more than 25 places lower is 0.
//   3. Their sum is normalised, rounded down to 31 bits behind the point, and then to the nearest
//      f32, even if two are as near. Denormals are kept everywhere.
// A product of 2^128 or more is infinite.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace halyard::vgpu::isa::matrix {

// An element of A or B: significand * 2^exponent, 1 <= |significand| < 2 but for denormals.
inline constexpr int32_t kZeroExponent = -1000;    // lower than that of any product
inline constexpr int32_t kSpecialExponent = 4096;  // infinities and NaNs
// No product reaches 2^128 if the highest exponents of A and B add up to less.
inline constexpr int32_t kOverflowExponent = 127;

inline int32_t exponent_of(float value, int least) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const int32_t exponent = static_cast<int32_t>(bits >> 23 & 0xff) - 127;
  if ((bits & 0x7fffffff) == 0) return kZeroExponent;
  if (exponent == 128) return kSpecialExponent;
  return std::max(exponent, least);
}
inline float significand_of(float value, int least) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const int32_t exponent = static_cast<int32_t>(bits >> 23 & 0xff) - 127;
  const float denormal = value * std::bit_cast<float>(static_cast<uint32_t>(127 - least) << 23);
  const float normal = std::bit_cast<float>((bits & 0x807fffff) | 0x3f800000);
  return exponent == 128 ? value : exponent < least ? denormal : normal;
}

// Of all lanes. Not inlined, so that its loop becomes vectors.
[[gnu::noinline]] inline void take_apart(const float* __restrict values, int least,
                                         float* __restrict significands,
                                         int32_t* __restrict exponents) {
  for (unsigned l = 0; l < 64; ++l) {
    significands[l] = significand_of(values[l], least);
    exponents[l] = exponent_of(values[l], least);
  }
}

// floor(x / 2^places) of any number of places.
inline int32_t shifted_down(int32_t x, int32_t places) {
  return x >> std::min(places, 31);
}

// Vectors as wide as the build's, of columns of D.
#if defined(__AVX512F__)
inline constexpr unsigned kColumns = 16;
#elif defined(__AVX2__)
inline constexpr unsigned kColumns = 8;
#else
inline constexpr unsigned kColumns = 4;
#endif
template <unsigned kWidth>
struct Vectors {
  using Ints [[gnu::vector_size(4 * kWidth)]] = int32_t;
  using Floats [[gnu::vector_size(4 * kWidth)]] = float;
};

// The products of one group, in units of 2^(top - 24), of kWidth columns.
template <unsigned kWidth>
struct Group {
  int32_t top[kWidth];
  int32_t sum[kWidth];

  // `count` factors of A, `stride` apart, and as many rows of B.
  void add(const float* a, const int32_t* a_exponents, const float* const* b,
           const int32_t* const* b_exponents, unsigned count, unsigned stride) {
    using Ints = typename Vectors<kWidth>::Ints;
    using Floats = typename Vectors<kWidth>::Floats;
    const auto exponents = [&](unsigned s) {
      Ints row;
      std::memcpy(&row, b_exponents[s], sizeof row);
      return row + a_exponents[s];
    };
    Ints highest = exponents(0);
    for (unsigned s = stride; s < count; s += stride) {
      const Ints next = exponents(s);
      highest = highest > next ? highest : next;
    }
    Ints total{};
    for (unsigned s = 0; s < count; s += stride) {
      // 31 places lower, nothing is left of a product, which is below 4.
      const Ints difference = exponents(s) - highest;
      const Ints below = difference > -31 ? difference : Ints{} - 31;
      Floats row;
      std::memcpy(&row, b[s], sizeof row);
      const Ints scale = (below + (24 + 127)) << 23;
      total += __builtin_convertvector(row * a[s] * reinterpret_cast<const Floats&>(scale), Ints);
    }
    std::memcpy(top, &highest, sizeof top);
    std::memcpy(sum, &total, sizeof sum);
  }
};

// c and a sum in units of 2^(top - 24).
inline float rounded_sum(float c, int32_t sum, int32_t top, int32_t farthest_c) {
  const uint32_t bits = std::bit_cast<uint32_t>(c);
  const int32_t biased = static_cast<int32_t>(bits >> 23 & 0xff);
  const int32_t c_exponent = std::max(biased, 1) - 127;
  const int32_t magnitude = static_cast<int32_t>((bits & 0x7fffff) | (biased != 0 ? 0x800000 : 0));
  const int32_t significand = static_cast<int32_t>(bits) < 0 ? -magnitude : magnitude;
  const int32_t exponent = std::max(top, c_exponent);
  const int32_t c_places = exponent - c_exponent;
  const int32_t aligned_c = c_places > farthest_c ? 0 : shifted_down(2 * significand, c_places);
  // The sum keeps 8 bits more than c. In units of 2^(exponent - 32), with doubles as integers; the
  // last of these bits is lost where the result's exponent cannot be lower.
  const int32_t places = exponent - top;
  const int32_t last = places >= 8 && exponent == -126 ? ~1 : ~0;
  const int32_t aligned_sum = shifted_down(sum, std::max(places - 8, 0)) & last;
  const float left = std::bit_cast<float>((127 + 8 - std::min(places, 8)) << 23);
  const double total =
      static_cast<double>(aligned_c) * 256 + static_cast<double>(aligned_sum) * double{left};
  // Down to 32 significant bits of a double's 53.
  constexpr uint64_t kLost = (uint64_t{1} << 21) - 1;
  const uint64_t away = std::bit_cast<uint64_t>(total) + (total < 0 ? kLost : 0);
  const double kept = std::bit_cast<double>(away & ~kLost);
  const double unit = std::bit_cast<double>(static_cast<int64_t>(exponent - 32 + 1023) << 52);
  const float result = static_cast<float>(kept * unit);
  return biased == 255 ? c : result;
}

// One group of up to 8 products (4 of xf32).
template <unsigned kProducts>
struct TruncatingStep {
  static constexpr unsigned kLength = kProducts;

  template <unsigned kWidth>
  static void add(float* c, const float* a, const int32_t* a_exponents, const float* const* b,
                  const int32_t* const* b_exponents, unsigned count) {
    Group<kWidth> all;
    all.add(a, a_exponents, b, b_exponents, count, 1);
    for (unsigned j = 0; j < kWidth; ++j)
      c[j] = rounded_sum(c[j], all.sum[j], all.top[j], std::numeric_limits<int32_t>::max());
  }
};

// Two groups of 8 products of 8-bit floats.
struct GroupedStep {
  static constexpr unsigned kLength = 16;

  template <unsigned kWidth>
  static void add(float* c, const float* a, const int32_t* a_exponents, const float* const* b,
                  const int32_t* const* b_exponents, unsigned count) {
    Group<kWidth> even, odd;
    even.add(a, a_exponents, b, b_exponents, count, 2);
    odd.add(a + 1, a_exponents + 1, b + 1, b_exponents + 1, count - 1, 2);
    for (unsigned j = 0; j < kWidth; ++j) {
      const int32_t top = std::max(even.top[j], odd.top[j]);
      const int32_t sum =
          shifted_down(even.sum[j], top - even.top[j]) + shifted_down(odd.sum[j], top - odd.top[j]);
      c[j] = rounded_sum(c[j], sum, top, 25);
    }
  }
};

// The step of one element of D among whose factors are infinities or NaNs, or whose products may
// overflow.
template <class Step>
float special_step(float c, const float* a, const int32_t* a_exponents, const float* const* b,
                   const int32_t* const* b_exponents, unsigned count) {
  float special = 0;
  for (unsigned s = 0; s < count; ++s) {
    const float product = a[s] * *b[s];
    const bool overflows = a_exponents[s] + *b_exponents[s] + (std::fabs(product) >= 2) >= 128;
    if (std::isfinite(product) && !overflows) continue;
    special += product * std::numeric_limits<float>::infinity();
  }
  if (special != 0) return special + c;  // so is NaN
  Step::template add<1>(&c, a, a_exponents, b, b_exponents, count);
  return c;
}

}  // namespace halyard::vgpu::isa::matrix
