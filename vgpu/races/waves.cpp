#include "vgpu/races/waves.h"

#include <algorithm>

namespace halyard::vgpu::races {

void Waves::tick() {
  if (!is_full()) ++now_;
  is_dirty_ = false;
}

void Waves::barrier() {
  tick();
  barrier_ = now_;
  lds_.clear();
  Known all;
  for (const Known& known : known_) all = joined(all, known);
  std::fill(known_.begin(), known_.end(), all);
}

Known Waves::release(uint32_t wave) {
  Told& told = told_[wave];
  const Known& known = known_[wave];
  if (!told.clock || told.time != now_ || told.from != known) {
    auto clock = known ? std::make_shared<Clock>(*known) : std::make_shared<Clock>();
    clock->add_group(group_, barrier_ - 1);
    clock->add_wave(id(wave), now_);
    told = {clock, known, now_};
  }
  if (is_dirty_) tick();
  return told.clock;
}

const Known* Waves::find_lds(uint64_t offset) const {
  const auto found = lds_.find(offset);
  return found == lds_.end() ? nullptr : &found->second;
}

}  // namespace halyard::vgpu::races
