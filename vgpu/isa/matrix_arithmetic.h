// The arithmetic of matrix instructions, one element of D at a time.
//
// AMD publishes no more than "D = A * B + C". How MI100 and MI200 round is what MMA-Sim found by
// experiment on them and checked bit by bit (arXiv 2511.10909; github.com/microsoft/MMA-Sim,
// mmasim/amd/sim.py): all round to nearest even and none heeds the MODE register.
//   f32, f64     one fused multiply-add after the other, in k's order; denormals are kept
//   16-bit       gfx908: the exact sum of c and 4 products (2 of bf16), rounded once, then the next
//                gfx90a: inputs and c flushed to +0, products and sums flushed with their sign;
//                (p0 + p1) + (p2 + p3) (bf16 without _1k: p0 + p1), then c plus that
// Integers wrap. Which NaN comes out nobody has published: here it is the default one.
//
// Each struct has In (an element of A or B as it is computed with), Out (of C and D), kStep (how
// many k one step takes) and step(c, a, b), where a[s] and b[s] are k's s-th pair of the step.
#pragma once

#include <cmath>
#include <cstdint>

#include "vgpu/isa/valu/half.h"
#include "vgpu/isa/valu/values.h"

namespace halyard::vgpu::isa::matrix {

using valu::add_to_odd;
using valu::from_bits;
using valu::is_nan;
using valu::to_bits;

template <class T>
T canonical(T x) {
  return is_nan(x) ? valu::default_nan<T>() : x;
}

// The host may lack fused multiply-add: the product is exact in f64, and a sum rounded to odd
// survives the second rounding.
struct F32 {
  using In = float;
  using Out = float;
  static constexpr unsigned kStep = 1;
  static float prepare(float c) { return c; }
  static float step(float c, const float* a, const float* b) {
#if defined(__FMA__)
    return std::fma(a[0], b[0], c);
#else
    return static_cast<float>(add_to_odd(double{a[0]} * b[0], c));
#endif
  }
};

struct F64 {
  using In = double;
  using Out = double;
  static constexpr unsigned kStep = 1;
  static double prepare(double c) { return c; }
  static double step(double c, const double* a, const double* b) { return std::fma(a[0], b[0], c); }
};

struct I8 {
  using In = int32_t;
  using Out = uint32_t;
  static constexpr unsigned kStep = 4;
  static uint32_t prepare(uint32_t c) { return c; }
  static uint32_t step(uint32_t c, const int32_t* a, const int32_t* b) {
    return c + static_cast<uint32_t>(a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]);
  }
};

// x + y and what its rounding left out (Knuth).
struct TwoSum {
  double sum;
  double error;
  TwoSum(double x, double y) : sum(x + y) {
    const double shadow = sum - x;
    error = (x - (sum - shadow)) + (y - shadow);
  }
};

// head + tail + c, rounded once; |tail| is at most half a unit of head's last place. An exact zero
// is +0.
inline float rounded_once(double head, double tail, double c) {
  const TwoSum top(head, c);
  const double sum = add_to_odd(top.sum, add_to_odd(top.error, tail));
  return static_cast<float>(sum == 0 ? 0.0 : sum);
}

// gfx908. Products of f16 and bf16 are exact in f64.
template <unsigned kProducts>
struct Exact16 {
  using In = float;
  using Out = float;
  static constexpr unsigned kStep = kProducts;
  static float prepare(float c) { return c; }
  static float step(float c, const float* a, const float* b) {
    static_assert(kProducts == 2 || kProducts == 4);
    const double p0 = double{a[0]} * b[0], p1 = double{a[1]} * b[1];
    const TwoSum low(p0, p1);
    if constexpr (kProducts == 2) {
      const double plain = low.sum + c;
      if (!std::isfinite(plain)) return static_cast<float>(plain);
      return rounded_once(low.sum, low.error, c);
    } else {
      const double p2 = double{a[2]} * b[2], p3 = double{a[3]} * b[3];
      const TwoSum high(p2, p3);
      const TwoSum all(low.sum, high.sum);
      const double plain = all.sum + c;
      if (!std::isfinite(plain)) return static_cast<float>(plain);
      // f16 products are multiples of 2^-48 below 2^33: what three roundings left out is small
      // enough to be summed exactly.
      const TwoSum products(all.sum, low.error + high.error + all.error);
      return rounded_once(products.sum, products.error, c);
    }
  }
};

// gfx90a.
inline float flush_to_positive(float x) {
  return valu::is_denormal_or_zero(x) ? 0.0f : x;
}
template <unsigned kProducts>
struct Flushing16 {
  using In = float;
  using Out = float;
  static constexpr unsigned kStep = kProducts;
  static float prepare(float c) { return flush_to_positive(c); }
  static float step(float c, const float* a, const float* b) {
    static_assert(kProducts == 2 || kProducts == 4);
    const auto product = [&](unsigned s) { return valu::flush(a[s] * b[s]); };
    const auto add = [](float x, float y) { return valu::flush(x + y); };
    float sum = add(product(0), product(1));
    if constexpr (kProducts == 4) sum = add(sum, add(product(2), product(3)));
    return add(c, sum);
  }
};

// How the elements of A and B lie in registers, and what they become before they are computed with.
struct Float32Elements {
  static float get(const uint32_t* dwords, unsigned e) { return from_bits<float>(dwords[e]); }
};
struct Float64Elements {
  static double get(const uint32_t* dwords, unsigned e) {
    return from_bits<double>(static_cast<uint64_t>(dwords[2 * e + 1]) << 32 | dwords[2 * e]);
  }
};
struct Int8Elements {
  static int32_t get(const uint32_t* dwords, unsigned e) {
    return static_cast<int8_t>(dwords[e / 4] >> (8 * (e % 4)));
  }
};
inline uint16_t half_of(const uint32_t* dwords, unsigned e) {
  return static_cast<uint16_t>(dwords[e / 2] >> (16 * (e % 2)));
}
struct Float16Elements {
  static float get(const uint32_t* dwords, unsigned e) {
    return valu::to_f32(valu::F16{half_of(dwords, e)});
  }
};
struct Bfloat16Elements {
  static float get(const uint32_t* dwords, unsigned e) {
    return from_bits<float>(static_cast<uint32_t>(half_of(dwords, e)) << 16);
  }
};
struct FlushedFloat16Elements {
  static float get(const uint32_t* dwords, unsigned e) {
    const uint16_t bits = half_of(dwords, e);
    return (bits & 0x7c00) == 0 ? 0.0f : valu::to_f32(valu::F16{bits});
  }
};
struct FlushedBfloat16Elements {
  static float get(const uint32_t* dwords, unsigned e) {
    return flush_to_positive(Bfloat16Elements::get(dwords, e));
  }
};

}  // namespace halyard::vgpu::isa::matrix
