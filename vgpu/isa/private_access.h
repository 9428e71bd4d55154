// Accesses of a wave's private segment at offsets that differ between lanes: indexed arrays. They
// need no check of the memory map, because the engine owns the segment.
#pragma once

#include "vgpu/isa/lane_access.h"

namespace halyard::vgpu::isa {

// base + position[l] = lane l of `data`, for the lanes of `mask`.
inline void store_scattered(const VectorRegister& data, uint64_t mask, uint8_t* base,
                            const uint32_t* position) {
#if defined(__AVX512F__)
  for (unsigned l = 0; l < kLanes; l += 16) {
    _mm512_mask_i32scatter_epi32(base, static_cast<__mmask16>(mask >> l),
                                 _mm512_load_si512(position + l), _mm512_load_si512(data.lane + l),
                                 1);
  }
#else
  for_each_lane(mask, [&](unsigned l) { std::memcpy(base + position[l], &data.lane[l], 4); });
#endif
}

// Lane l's private byte is at `start` + offset[l], where `start` is counted in bytes of the whole
// wave's segment. `records`: what offsets must stay below, as a buffer descriptor says. False:
// nothing was done, because an access straddles dwords or is not inside; the general way knows
// what to do or to report.
template <class Op>
bool access_private(Wave& w, VectorRegister* dst, const VectorRegister* data, uint64_t mask,
                    uint32_t start, uint64_t records, const uint32_t* offset) {
  static_assert(!Op::kAtomic);
  constexpr uint32_t kLargest = 32 << 20;  // positions of larger segments have more than 31 bits
  constexpr uint32_t kLastByte = (Op::kBytes - 1) / 4 * kSwizzledStep + (Op::kBytes - 1) % 4;
  const uint32_t lane_bytes = w.scratch_bytes_per_lane;
  if (lane_bytes < Op::kBytes || lane_bytes >= kLargest || records < Op::kBytes) return false;
  const uint32_t segment = lane_bytes * kLanes;
  if (start >= segment || start % 4 != 0) return false;
  const auto highest =
      static_cast<uint32_t>(std::min<uint64_t>(lane_bytes - Op::kBytes, records - Op::kBytes));
  // Lanes that are not active count as being at 0.
  alignas(64) uint32_t active[kLanes];
  if (mask == kAllLanes) {
    std::memcpy(active, offset, sizeof active);
  } else {
    for (unsigned l = 0; l < kLanes; ++l) active[l] = (mask >> l & 1) != 0 ? offset[l] : 0;
  }
  alignas(64) uint32_t position[kLanes];
  uint32_t bad = 0;
  for (unsigned l = 0; l < kLanes; ++l) {
    const uint32_t at = active[l];
    position[l] = start + ((at & ~3u) << 6) + l * 4 + (at & 3);
    bad |= static_cast<uint32_t>(at > highest) |
           static_cast<uint32_t>(position[l] >= segment - kLastByte);
    bad |= Op::kBytes >= 4 ? at & 3 : static_cast<uint32_t>((at & 3) + Op::kBytes > 4);
  }
  if (bad != 0) return false;
  if constexpr (Op::kWrites) w.stores_pending = true;
  uint8_t* const scratch = scratch_memory(w);
  if constexpr (Op::kRows) {
    uint32_t apart = mask == kAllLanes ? 0 : 1;
    for (unsigned l = 0; l < kLanes; ++l) apart |= position[l] ^ (position[0] + l * 4);
    if (apart == 0) {
      Op::rows(dst, data, scratch + position[0], kSwizzledStep);
      return true;
    }
    for (unsigned k = 0; k < Op::kBytes / 4; ++k) {
      uint8_t* const row = scratch + k * kSwizzledStep;
      if constexpr (Op::kLoads) {
        load_scattered<1>(dst + k, mask, row, position);
      } else {
        store_scattered(data[k], mask, row, position);
      }
    }
  } else {
    for_each_lane(
        mask, [&](unsigned l) { Op::lane(dst, data, l, scratch + position[l], kSwizzledStep); });
  }
  return true;
}

}  // namespace halyard::vgpu::isa
