// Conversions on whole rows, on hosts that convert f16 (RowLoop of loops.h), in the default mode.
#pragma once

#include "vgpu/isa/valu/half_vectors.h"
#include "vgpu/isa/valu/lane_ops_convert.h"
#include "vgpu/isa/valu/loops.h"

namespace halyard::vgpu::isa::valu {

#if defined(__F16C__) && defined(__AVX2__)
template <>
struct RowLoop<cvt_pkrtz_f16_f32_fast> {
  static constexpr bool kHere = true;
  static bool run(const LaneArgs& args) {
    uint32_t* const out = args.out[0];
    const uint32_t* const rows[] = {args.src[0][0], args.src[1][0]};
    for (unsigned n = 0; n < kLanes; n += kVectorLanes) {
      const Floats a = load_floats(rows[0] + n), b = load_floats(rows[1] + n);
      store_lanes(out + n, join(narrow_toward_zero(interleave_lower(a, b)),
                                narrow_toward_zero(interleave_upper(a, b))));
    }
    return true;
  }
};
#endif

}  // namespace halyard::vgpu::isa::valu
