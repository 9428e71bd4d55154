#include "vgpu/isa/wave_slots.h"

#include <algorithm>
#include <bit>

namespace halyard::vgpu::isa {
namespace {

constexpr uint32_t kSimdShift = 4;
constexpr uint32_t kSimdSlots = 1 << kSimdShift;
constexpr uint64_t kSimdMask = kSimdSlots - 1;
constexpr uint32_t kMaxSimds = 4;

uint64_t waves_of(uint64_t used, uint32_t simd) {
  return used >> (simd * kSimdSlots) & 0xffff;
}

// The SIMD with the fewest waves, the first of those.
uint32_t emptiest(uint64_t used, uint32_t simds) {
  uint32_t best = 0;
  for (uint32_t simd = 1; simd < simds; ++simd) {
    if (std::popcount(waves_of(used, simd)) < std::popcount(waves_of(used, best))) best = simd;
  }
  return best;
}

}  // namespace

WaveSlots::WaveSlots(uint32_t units, uint32_t simds_per_unit, uint32_t waves_per_simd)
    : simds_(std::clamp(simds_per_unit, 1u, kMaxSimds)),
      waves_per_simd_(std::clamp(waves_per_simd, 1u, kSimdSlots)),
      used_(std::max(units, 1u)) {}

bool WaveSlots::take(uint32_t unit, uint32_t waves, TakenSlots& taken) {
  taken.mask = 0;
  if (unit >= used_.size()) return false;
  std::atomic<uint64_t>& used = used_[unit];
  uint64_t before = used.load(std::memory_order_relaxed);
  uint64_t after = 0;
  do {
    after = before;
    if (waves > TakenSlots::kMaxWaves ||
        waves > simds_ * waves_per_simd_ - static_cast<uint32_t>(std::popcount(before)))
      return false;
    for (uint32_t n = 0; n < waves; ++n) {
      const uint32_t simd = emptiest(after, simds_);
      const auto wave = static_cast<uint32_t>(std::countr_one(waves_of(after, simd)));
      const uint32_t slot = simd << kSimdShift | static_cast<uint32_t>(wave & kSimdMask);
      taken.slot[n] = static_cast<uint8_t>(slot);
      after |= uint64_t{1} << slot;
    }
  } while (!used.compare_exchange_weak(before, after, std::memory_order_relaxed));
  taken.mask = before ^ after;
  return true;
}

void WaveSlots::give(uint32_t unit, const TakenSlots& taken) {
  if (taken.mask == 0) return;
  used_[unit].fetch_and(~taken.mask, std::memory_order_relaxed);
}

}  // namespace halyard::vgpu::isa
