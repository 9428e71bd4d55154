// v_perm_b32 on whole rows, on hosts that shuffle bytes (RowLoop of loops.h).
#pragma once

#include "vgpu/isa/valu/lane_ops_bytes.h"
#include "vgpu/isa/valu/loops.h"
#include "vgpu/isa/valu/row_vectors.h"

namespace halyard::vgpu::isa::valu {

#if defined(__AVX2__)
// The host shuffles within 16 bytes: where the dword of each lane is in its four.
struct alignas(kVectorBytes) DwordStarts {
  uint32_t lane[4 * 4];
};
inline constexpr DwordStarts kDwordStarts = {{0, 0x04040404, 0x08080808, 0x0c0c0c0c,  //
                                              0, 0x04040404, 0x08080808, 0x0c0c0c0c,  //
                                              0, 0x04040404, 0x08080808, 0x0c0c0c0c,  //
                                              0, 0x04040404, 0x08080808, 0x0c0c0c0c}};

template <>
struct RowLoop<perm_b32_fast> {
  static constexpr bool kHere = true;
  static bool run(const LaneArgs& args) {
    uint32_t* const out = args.out[0];
    const uint32_t* const rows[] = {args.src[0][0], args.src[1][0], args.src[2][0]};
    const Dwords first = load_lanes(kDwordStarts.lane);
    Dwords rare{};
    for (unsigned n = 0; n < kLanes; n += kVectorLanes) {
      const Dwords selectors = load_lanes(rows[2] + n);
      const Dwords from = (selectors & 0x03030303) + first;
      const Bytes high = Bytes(shuffle_bytes(load_lanes(rows[0] + n), from));
      const Bytes low = Bytes(shuffle_bytes(load_lanes(rows[1] + n), from));
      const Bytes sel = Bytes(selectors);
      const Bytes data = (sel & 4) != 0 ? high : low;
      store_lanes(out + n, Dwords(sel < 12 ? data : Bytes(sel > 12)));
      rare |= Dwords(sel - 8 < 4);
    }
    return !any_bit(rare);
  }
};
#endif

}  // namespace halyard::vgpu::isa::valu
