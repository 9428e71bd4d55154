// Minimum and maximum on whole rows (RowLoop of loops.h): f64 whose rare cases are found in the
// upper dwords, so that vectors of f64 need no flags, and packed f16 as words.
#pragma once

#include <cstdint>

#include "vgpu/isa/valu/lane_ops_packed.h"
#include "vgpu/isa/valu/loops.h"

namespace halyard::vgpu::isa::valu {

inline const LaneBuffer& buffer_of(const uint32_t* row) {
  return *reinterpret_cast<const LaneBuffer*>(row);
}

template <auto kFunction>
struct DoubleOrderLoop {
  static constexpr bool kHere = true;
  static constexpr bool kFindsNans = true;  // among the sources
  static bool run(const LaneArgs& args) {
    const uint32_t *const a = args.src[0][1], *const b = args.src[1][1];
    if (any_nan64(buffer_of(args.src[0][0]), buffer_of(a))) return false;
    if (any_nan64(buffer_of(args.src[1][0]), buffer_of(b))) return false;
    // Zeros of different sign; or denormals nearly as small.
    uint32_t rare = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const bool zeros = (a[lane] & 0x7fffffff) == 0;
      rare |= unsigned{both(zeros, (a[lane] ^ b[lane]) == 0x80000000)};
    }
    if (rare != 0) return false;
    loop<kFunction>(args, kDefaultMode);
    return true;
  }
};
template <>
struct RowLoop<min_fast<double>> : DoubleOrderLoop<lower_of<double>> {};
template <>
struct RowLoop<max_fast<double>> : DoubleOrderLoop<higher_of<double>> {};

template <bool kHigher>
struct PackedOrderLoop {
  static constexpr bool kHere = true;
  static constexpr bool kFindsNans = true;  // among the sources
  static bool run(const LaneArgs& args) {
    if (any_nan16(buffer_of(args.src[0][0]))) return false;
    if (any_nan16(buffer_of(args.src[1][0]))) return false;
    const auto* const a = reinterpret_cast<const int16_t*>(args.src[0][0]);
    const auto* const b = reinterpret_cast<const int16_t*>(args.src[1][0]);
    auto* const out = reinterpret_cast<int16_t*>(args.out[0]);
#pragma GCC ivdep
    for (unsigned half = 0; half < 2 * kLanes; ++half) {
      const int16_t x = flipped(a[half]), y = flipped(b[half]);
      out[half] = flipped(kHigher ? higher_of(x, y) : lower_of(x, y));
    }
    return true;
  }

 private:
  // to_ordered() and from_ordered() in a word.
  static int16_t flipped(int16_t x) { return static_cast<int16_t>(x ^ (x >> 15 & 0x7fff)); }
};
template <>
struct RowLoop<pk_min_f16_fast> : PackedOrderLoop<false> {};
template <>
struct RowLoop<pk_max_f16_fast> : PackedOrderLoop<true> {};

}  // namespace halyard::vgpu::isa::valu
