// Which waves have used a byte of LDS since the last barrier, and whether the order of their uses
// matters. Pure decisions.
//
// The order of two plain writes of the same value does not matter. So the order matters if
//
//   - a wave changes what another has written, or updated with an atomic;
//   - a wave reads what another has changed, and has not itself written the byte before;
//   - a wave changes what another has read;
//   - a wave updates (with an atomic) what another has read or written. Two updates need no order.
//
// Uses without an order that leave the byte as it was are equal uses.
#pragma once

#include <cstdint>

#include "vgpu/observe/lds_access.h"

namespace halyard::vgpu::observe {

// One bit for each wave. A work-group has at most 1024 work-items: 16 waves of 64, 32 of 32.
using WaveMask = uint32_t;
inline constexpr uint32_t kMostWaves = 32;

class LdsByte {
 public:
  enum class Order : uint8_t { kNone, kEqual, kMatters };
  struct Verdict {
    Order order = Order::kNone;
    WaveMask rivals = 0;  // the other waves
    // The last wave to change the byte before this use, or the first to read it if none did; and
    // where.
    uint32_t user = 0;
    uint64_t user_pc = 0;
  };

  // A wave uses the byte. `phase` counts barriers, from 1 on. `changes`: a write leaves another
  // value than was there.
  Verdict use(uint32_t wave, LdsUse use, uint32_t phase, bool changes, uint64_t pc) {
    if (phase_ != phase) {
      readers_ = writers_ = updaters_ = 0;
      is_changed_ = is_disputed_ = false;
      phase_ = phase;
    }
    const WaveMask self = WaveMask{1} << wave;
    const bool leaves_unknown = !is_written_;
    Verdict verdict = judge(self, use, changes || leaves_unknown);
    verdict.user = user_;
    verdict.user_pc = user_pc_;
    if (use != LdsUse::kRead || (readers_ | writers_ | updaters_) == 0) {
      user_ = static_cast<uint8_t>(wave);
      user_pc_ = pc;
    }
    if (use == LdsUse::kRead) {
      // What it has written itself it reads in any order, as long as the others write the same.
      if ((writers_ & self) == 0) readers_ |= self;
      return verdict;
    }
    if (use == LdsUse::kAtomic) {
      updaters_ |= self;
    } else {
      is_disputed_ |= verdict.order == Order::kMatters;
      writers_ |= self;
    }
    is_changed_ |= use == LdsUse::kAtomic || changes || leaves_unknown;
    is_written_ = true;
    return verdict;
  }

  // By the work-group, since its start.
  bool is_written() const { return is_written_; }

 private:
  Verdict judge(WaveMask self, LdsUse use, bool changes) const {
    const WaveMask writers = writers_ & ~self;
    const WaveMask readers = readers_ & ~self;
    const WaveMask updaters = updaters_ & ~self;
    const auto verdict = [](WaveMask rivals, bool matters) {
      Verdict verdict;
      verdict.rivals = rivals;
      if (rivals != 0) verdict.order = matters ? Order::kMatters : Order::kEqual;
      return verdict;
    };
    switch (use) {
      case LdsUse::kAtomic:
        return verdict(writers | readers, true);
      case LdsUse::kRead:
        if (updaters != 0) return verdict(writers | updaters, true);
        if ((writers_ & self) != 0) return verdict(is_disputed_ ? writers : 0, true);
        return verdict(writers, is_changed_);
      case LdsUse::kWrite:
        return verdict(writers | readers | updaters,
                       updaters != 0 || changes || is_disputed_ || (readers != 0 && is_changed_));
    }
    return {};
  }

  uint32_t phase_ = 0;
  WaveMask readers_ = 0;
  WaveMask writers_ = 0;
  WaveMask updaters_ = 0;     // with atomics
  bool is_changed_ = false;   // since the last barrier
  bool is_disputed_ = false;  // waves have written different values since
  bool is_written_ = false;
  uint8_t user_ = 0;
  uint64_t user_pc_ = 0;
};

}  // namespace halyard::vgpu::observe
