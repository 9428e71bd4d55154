// What is known to have happened before: for work-groups and for waves, up to which time.
//
// Waves learn of other work-groups by atomics only, so most clocks are empty. A kernel that passes
// something on from work-group to work-group (a decoupled look-back, a queue) makes clocks that
// have all of them; work-groups side by side mostly have equal times then, and are one run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "vgpu/races/access.h"

namespace halyard::vgpu::races {

class Clock {
 public:
  // A clock of more runs becomes the one that knows everything: no race is found by mistake, and
  // some are missed.
  static constexpr size_t kMostRuns = 2048;

  bool knows(const Access& access) const {
    if (everything_) return true;
    const WaveId wave = access.wave();
    return time_of(groups_, wave.group) >= access.time() ||
           time_of(waves_, key_of(wave)) >= access.time();
  }

  // All waves of `group`, or one wave, up to `time`, that included. No effect for time 0.
  void add_group(uint32_t group, Time time);
  void add_wave(WaveId wave, Time time);
  void join(const Clock& other);
  // Whether joining `other` would change nothing.
  bool includes(const Clock& other) const;

  void set_everything();
  bool is_everything() const { return everything_; }
  size_t runs() const { return groups_.size() + waves_.size(); }

 private:
  // [begin, end), in order, apart from each other.
  struct Run {
    uint32_t begin = 0, end = 0;
    Time time = 0;
  };
  using Runs = std::vector<Run>;

  // Waves of equal index are side by side.
  static uint32_t key_of(WaveId wave) { return wave.index << Access::kGroupBits | wave.group; }
  static Time time_of(const Runs& runs, uint32_t key);
  static void join(Runs& runs, const Runs& others);
  static bool includes(const Runs& runs, const Runs& others);
  void bound();

  Runs groups_;
  Runs waves_;
  bool everything_ = false;
};

// Clocks are shared, and never changed once they are. Null knows nothing.
using Known = std::shared_ptr<const Clock>;

// A clock that knows what both know.
Known joined(const Known& a, const Known& b);

}  // namespace halyard::vgpu::races
