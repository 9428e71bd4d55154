// What the check keeps for one dispatch, for all threads that run its work-groups.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <unordered_map>

#include "vgpu/coherence/accesses.h"
#include "vgpu/isa/work_group.h"
#include "vgpu/races/shadow.h"

namespace halyard::vgpu::races {

// An instruction that accesses memory.
struct Site {
  uint64_t pc = 0;
  coherence::Use use = coherence::Use::kLoad;
  bool is_marked = false;  // a load or a store that its encoding says is atomic
  std::string text;

  bool is_atomic() const { return is_marked || use == coherence::Use::kAtomic; }
};

class Dispatch {
 public:
  Dispatch(const isa::GroupContext& context, Budget& budget)
      : context_(context), shadow_(budget), budget_(budget) {}
  ~Dispatch() { budget_.give(published_bytes_); }
  Dispatch(const Dispatch&) = delete;
  Dispatch& operator=(const Dispatch&) = delete;

  const isa::GroupContext& context() const { return context_; }
  Shadow& shadow() { return shadow_; }

  // The number of the instruction; 0 if there are too many. Its text is made here.
  SiteId site(uint64_t pc, coherence::Use use, bool is_marked);
  const Site& site(SiteId id) const;

  // What a wave knew when it last stored, for who reads its stores with an atomic load.
  void publish(WaveId wave, const Known& known);
  Known published(WaveId wave) const;

  // What it has not seen, as the end of a sentence; the first is kept. `nothing`: no race is found
  // from now on, because some that are none would be.
  void lose(const std::string& what, bool nothing);
  bool is_lost() const { return is_lost_.load(std::memory_order_relaxed); }
  std::string losses() const;

 private:
  const isa::GroupContext& context_;
  Shadow shadow_;
  Budget& budget_;
  std::atomic<bool> is_lost_{false};

  mutable std::mutex mutex_;                      // all below
  std::unordered_map<uint64_t, SiteId> numbers_;  // by pc
  std::deque<Site> sites_;
  std::unordered_map<uint32_t, Known> published_;
  uint64_t published_bytes_ = 0;
  std::string losses_;
};

}  // namespace halyard::vgpu::races
