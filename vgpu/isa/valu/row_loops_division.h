// The steps of a division on whole rows (RowLoop of loops.h). VCC is looked at once. Exponents and
// signs of f64 are in the upper dwords, so that nothing but the fma needs values of 64 bits, which
// the host's vectors would have to join and split.
#pragma once

#include "vgpu/isa/valu/lane_ops_division.h"
#include "vgpu/isa/valu/loops.h"
#include "vgpu/isa/valu/row_loops_wide.h"

namespace halyard::vgpu::isa::valu {

// The biased exponent of an f64 by its upper dword.
constexpr int exponent_in_high_dword(uint32_t high) {
  return static_cast<int>(high >> 20 & 0x7ff);
}

template <>
struct RowLoop<div_scale_fast<double>> {
  static constexpr bool kHere = true;
  // A NaN that is to be scaled, but is neither of the operands, stays as it is.
  static constexpr bool kFindsNans = true;
  static bool run(const LaneArgs& args) {
    const uint32_t *const low = args.src[0][0], *const high = args.src[0][1];
    const uint32_t *const denominator = args.src[1][1], *const numerator = args.src[2][1];
    uint32_t *const out_low = args.out[0], *const out_high = args.out[1];
    uint32_t* const flag = args.flag_out;
    uint32_t rare = 0;
#pragma GCC ivdep
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      rare |= may_be_scaled<double>(exponent_in_high_dword(denominator[lane]),
                                    exponent_in_high_dword(numerator[lane]));
      out_low[lane] = low[lane];
      out_high[lane] = high[lane];
      flag[lane] = 0;
    }
    return rare >> 31 == 0;
  }
};

template <auto kFma>
struct DivFmasLoop {
  static constexpr bool kHere = true;
  static bool run(const LaneArgs& args) {
    if (any_flag(*reinterpret_cast<const LaneBuffer*>(args.flag_in))) return false;
    loop<kFma>(args, kDefaultMode);
    if constexpr (Signature<decltype(kFma)>::kFlagResult)
      return !any_flag(*reinterpret_cast<const LaneBuffer*>(args.flag_out));
    return true;
  }
};
template <>
struct RowLoop<div_fmas_f32_fast> : DivFmasLoop<fma_f32_fast> {};
template <>
struct RowLoop<div_fmas_f64_fast> : DivFmasLoop<fma_fast<double>> {};

template <>
struct RowLoop<div_fixup_fast<double>> {
  static constexpr bool kHere = true;
  static bool run(const LaneArgs& args) {
    const uint32_t *const low = args.src[0][0], *const high = args.src[0][1];
    const uint32_t *const denominator = args.src[1][1], *const numerator = args.src[2][1];
    uint32_t *const out_low = args.out[0], *const out_high = args.out[1];
    uint32_t rare = 0;
#pragma GCC ivdep
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const uint32_t d = denominator[lane], n = numerator[lane];
      rare |= may_be_fixed<double>(exponent_in_high_dword(d), exponent_in_high_dword(n));
      out_low[lane] = low[lane];
      out_high[lane] = (high[lane] & 0x7fffffff) | ((d ^ n) & 0x80000000);
    }
    return rare >> 31 == 0;
  }
};

}  // namespace halyard::vgpu::isa::valu
