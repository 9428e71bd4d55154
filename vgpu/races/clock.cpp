#include "vgpu/races/clock.h"

#include <algorithm>
#include <utility>

namespace halyard::vgpu::races {

Time Clock::time_of(const Runs& runs, uint32_t key) {
  const auto after = std::upper_bound(runs.begin(), runs.end(), key,
                                      [](uint32_t k, const Run& run) { return k < run.begin; });
  if (after == runs.begin()) return 0;
  const Run& run = *(after - 1);
  return key < run.end ? run.time : 0;
}

void Clock::join(Runs& runs, const Runs& others) {
  if (others.empty()) return;
  Runs both;
  both.reserve(runs.size() + others.size());
  const auto put = [&](uint32_t begin, uint32_t end, Time time) {
    if (!both.empty() && both.back().end == begin && both.back().time == time) {
      both.back().end = end;
    } else {
      both.push_back({begin, end, time});
    }
  };
  size_t a = 0;
  size_t b = 0;
  uint32_t at = 0;  // all below is done
  while (a < runs.size() || b < others.size()) {
    const Run* const one = a < runs.size() ? &runs[a] : nullptr;
    const Run* const two = b < others.size() ? &others[b] : nullptr;
    const uint32_t first_one = one != nullptr ? std::max(one->begin, at) : ~0u;
    const uint32_t first_two = two != nullptr ? std::max(two->begin, at) : ~0u;
    const uint32_t begin = std::min(first_one, first_two);
    const bool in_one = first_one == begin;
    const bool in_two = first_two == begin;
    uint32_t end = ~0u;
    if (one != nullptr) end = std::min(end, in_one ? one->end : first_one);
    if (two != nullptr) end = std::min(end, in_two ? two->end : first_two);
    put(begin, end, std::max(in_one ? one->time : 0, in_two ? two->time : 0));
    at = end;
    if (one != nullptr && one->end <= at) ++a;
    if (two != nullptr && two->end <= at) ++b;
  }
  runs = std::move(both);
}

bool Clock::includes(const Runs& runs, const Runs& others) {
  size_t a = 0;
  for (const Run& other : others) {
    uint32_t at = other.begin;
    while (at < other.end) {
      while (a < runs.size() && runs[a].end <= at) ++a;
      if (a == runs.size() || runs[a].begin > at || runs[a].time < other.time) return false;
      at = runs[a].end;
    }
  }
  return true;
}

void Clock::bound() {
  if (runs() > kMostRuns) set_everything();
}

void Clock::set_everything() {
  groups_ = {};
  waves_ = {};
  everything_ = true;
}

void Clock::add_group(uint32_t group, Time time) {
  if (everything_ || time == 0) return;
  join(groups_, {{group, group + 1, time}});
  bound();
}

void Clock::add_wave(WaveId wave, Time time) {
  if (everything_ || time == 0) return;
  const uint32_t key = key_of(wave);
  join(waves_, {{key, key + 1, time}});
  bound();
}

void Clock::join(const Clock& other) {
  if (everything_) return;
  if (other.everything_) return set_everything();
  join(groups_, other.groups_);
  join(waves_, other.waves_);
  bound();
}

bool Clock::includes(const Clock& other) const {
  if (everything_) return true;
  return !other.everything_ && includes(groups_, other.groups_) && includes(waves_, other.waves_);
}

Known joined(const Known& a, const Known& b) {
  if (!b || a == b || (a && a->includes(*b))) return a;
  if (!a || b->includes(*a)) return b;
  auto both = std::make_shared<Clock>(*a);
  both->join(*b);
  return both;
}

}  // namespace halyard::vgpu::races
