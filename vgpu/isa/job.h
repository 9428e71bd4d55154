// A dispatch under way, as the threads that execute its work-groups share it.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "vgpu/isa/engine.h"
#include "vgpu/isa/kernel.h"
#include "vgpu/isa/work_group.h"

namespace halyard::vgpu::isa {

// The parts of the program's private memory that a dispatch's work-groups have: each one for its
// time. Any thread.
class ScratchParts {
 public:
  void limit(uint32_t count) { count_ = count; }
  bool limited() const { return count_ != 0; }

  // False: none is free.
  bool take(uint32_t& part) {
    if (!limited()) return true;
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      part = free_.back();
      free_.pop_back();
      return true;
    }
    if (next_ == count_) return false;
    part = next_++;
    return true;
  }
  void give(uint32_t part) {
    if (!limited()) return;
    const std::lock_guard lock(mutex_);
    free_.push_back(part);
  }

 private:
  uint32_t count_ = 0;  // 0: the engine itself has the memory
  std::mutex mutex_;
  uint32_t next_ = 0;  // from here on none has been taken yet
  std::vector<uint32_t> free_;
};

// A dispatch under way. Lives on the stack of Engine::run; helpers are gone before that returns.
struct Job {
  GroupContext context;
  Kernel kernel;
  uint64_t total = 0;  // work-groups
  uint32_t waves = 1;  // of each
  uint64_t resident_limit = 0;
  ScratchParts scratch_parts;
  const volatile bool* cancel = nullptr;
  uint32_t rank = 0;

  // Written for every work-group, and so kept away from read-only data.
  alignas(64) std::atomic<uint64_t> next{0};  // the next work-group to start
  std::atomic<uint64_t> resident{0};          // started and not finished
  alignas(64) std::atomic<bool> stop{false};  // a fault, or cancelled

  std::mutex mutex;  // result
  DispatchResult result;

  // Makes one more work-group resident, unless the device is full.
  bool reserve() {
    uint64_t before = resident.load(std::memory_order_relaxed);
    do {
      if (before >= resident_limit) return false;
    } while (!resident.compare_exchange_weak(before, before + 1, std::memory_order_relaxed));
    return true;
  }

  // Under the engine's lock.
  uint32_t helpers = 0;
  bool starting = false;  // counts in starting_: has work-groups to start
};

}  // namespace halyard::vgpu::isa
