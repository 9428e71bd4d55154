// One access of a wave to memory, as the shadow of memory keeps it: who, when, and by which
// instruction, in 64 bits.
#pragma once

#include <cstdint>

namespace halyard::vgpu::races {

// A wave of a dispatch: its work-group's number, x fastest, and its own in the work-group.
struct WaveId {
  uint32_t group = 0;
  uint32_t index = 0;

  friend bool operator==(const WaveId&, const WaveId&) = default;
};

// A work-group's clock. It starts at 1, and moves on at each barrier, and when one of the waves has
// released what it did before (see order.h).
using Time = uint32_t;

// The number of an instruction in the dispatch; 0: none.
using SiteId = uint32_t;

class Access {
 public:
  // What does not fit is not watched, and the check says so.
  static constexpr unsigned kIndexBits = 5, kGroupBits = 24, kTimeBits = 20, kSiteBits = 14;
  static constexpr uint32_t kGroups = 1u << kGroupBits;
  static constexpr Time kTimes = 1u << kTimeBits;
  static constexpr SiteId kSites = 1u << kSiteBits;

  Access() = default;
  // `is_atomic`: it has no race with another atomic one.
  Access(WaveId wave, Time time, SiteId site, bool is_atomic)
      : bits_(uint64_t{is_atomic} << 63 | uint64_t{wave.group} << kGroupShift |
              uint64_t{wave.index} << kIndexShift | uint64_t{time} << kSiteBits | site) {}

  explicit operator bool() const { return bits_ != 0; }
  WaveId wave() const {
    return {static_cast<uint32_t>(bits_ >> kGroupShift) & (kGroups - 1),
            static_cast<uint32_t>(bits_ >> kIndexShift) & ((1u << kIndexBits) - 1)};
  }
  Time time() const { return static_cast<uint32_t>(bits_ >> kSiteBits) & (kTimes - 1); }
  SiteId site() const { return static_cast<uint32_t>(bits_) & (kSites - 1); }
  bool is_atomic() const { return bits_ >> 63 != 0; }

  friend bool operator==(const Access&, const Access&) = default;

 private:
  static constexpr unsigned kIndexShift = kSiteBits + kTimeBits;
  static constexpr unsigned kGroupShift = kIndexShift + kIndexBits;
  static_assert(kGroupShift + kGroupBits == 63);

  uint64_t bits_ = 0;
};

}  // namespace halyard::vgpu::races
