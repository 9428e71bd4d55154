// The clocks of one work-group: what its waves know of each other and of other waves.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "vgpu/races/cell.h"
#include "vgpu/races/clock.h"

namespace halyard::vgpu::races {

class Waves {
 public:
  Waves(uint32_t group, uint32_t count) : group_(group), known_(count), told_(count) {}

  Time now() const { return now_; }
  // Too many barriers and releases: from then on times are not comparable.
  bool is_full() const { return now_ + 1 >= Access::kTimes; }
  WaveId id(uint32_t wave) const { return {group_, wave}; }
  const Known& known(uint32_t wave) const { return known_[wave]; }

  Order order(uint32_t wave) const { return {id(wave), barrier_, known_[wave].get()}; }

  // A wave has accessed memory: what it releases from now on is more.
  void accessed() { is_dirty_ = true; }
  void barrier();
  void acquire(uint32_t wave, const Known& known) { known_[wave] = joined(known_[wave], known); }
  // What the wave has done and knows, for who acquires it.
  Known release(uint32_t wave);

  // Atomics on LDS order the work-group's waves, by the byte's offset.
  Known& lds(uint64_t offset) { return lds_[offset]; }
  const Known* find_lds(uint64_t offset) const;

 private:
  void tick();

  uint32_t group_;
  Time now_ = 1;
  Time barrier_ = 1;  // the time after the last one
  bool is_dirty_ = false;
  std::vector<Known> known_;
  struct Told {
    Known clock;
    Known from;  // what the wave knew then
    Time time = 0;
  };
  std::vector<Told> told_;
  std::unordered_map<uint64_t, Known> lds_;
};

}  // namespace halyard::vgpu::races
