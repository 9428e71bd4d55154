// Which waves of each compute unit are in use.
//
// A resident wave has a SIMD of its unit and a number there, which HW_ID shows (Vega ISA 3.x:
// WAVE_ID 3:0, SIMD_ID 5:4). Kernels index memory with it, so two resident waves may not share one.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

namespace halyard::vgpu::isa {

// The waves of a work-group, as bits 5:0 of their HW_IDs.
struct TakenSlots {
  static constexpr uint32_t kMaxWaves = 16;
  uint64_t mask = 0;  // bit s: slot s is taken; 0: none is
  uint8_t slot[kMaxWaves] = {};
};

// Any thread.
class WaveSlots {
 public:
  // At most 4 SIMDs in a unit and 16 waves in a SIMD: HW_ID has 2 bits for SIMD_ID, 4 for WAVE_ID.
  WaveSlots(uint32_t units, uint32_t simds_per_unit, uint32_t waves_per_simd);

  // Slots of `unit` for `waves` waves, spread over its SIMDs. False, and nothing is taken, if it
  // has too few.
  bool take(uint32_t unit, uint32_t waves, TakenSlots& taken);
  void give(uint32_t unit, const TakenSlots& taken);

 private:
  const uint32_t simds_;
  const uint32_t waves_per_simd_;
  std::vector<std::atomic<uint64_t>> used_;  // of each unit
};

}  // namespace halyard::vgpu::isa
