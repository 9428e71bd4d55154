// A GPU for packet processor tests: all of memory is accessible except what a test forbids, the
// engine records dispatches, and interrupts are counted.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "vgpu/queue/device.h"

namespace halyard::vgpu::queue::testing {

// Where GPUs see registered memory: at the host's address with this bit set, which no host address
// has.
inline constexpr uint64_t kRegistered = uint64_t{1} << 47;

// Every address is there twice, as those of registered memory are.
class FakeMemory final : public isa::AddressSpace {
 public:
  isa::MemoryRange find(uint64_t address) const override {
    if (address >= kForbidden) return {};
    const uint64_t host = address & ~kRegistered;
    const uint64_t distance = address - host;
    const isa::MemoryRange range = find_host(host);
    if (range.end == 0) return {};
    return {range.begin + distance, range.end + distance, uint64_t{0} - distance};
  }
  uint64_t epoch() const override { return gone_.load() == kForbidden ? 1 : 2; }
  void describe(uint64_t, char* text, uint64_t capacity) const override {
    if (capacity > 0) std::string("it is forbidden").copy(text, capacity - 1);
  }

  // Addresses from here on are not the GPU's.
  static constexpr uint64_t kForbidden = uint64_t{1} << 48;

  // What begins there, a signal's size of it, is no longer the GPU's. Once; any thread.
  void take_away(uint64_t address) { gone_ = address; }

 private:
  static constexpr uint64_t kGone = 64;

  isa::MemoryRange find_host(uint64_t address) const {
    if (address < 0x10000) return {};
    const uint64_t gone = gone_.load();
    if (address >= gone && address < gone + kGone) return {};
    // Not further down than the address's page: what a search below would read need not exist.
    const uint64_t page = address & ~uint64_t{4095};
    if (address < gone) return {page, std::min(gone, kRegistered), 0};
    return {std::max(page, gone + kGone), kRegistered, 0};
  }

  std::atomic<uint64_t> gone_{kForbidden};
};

class FakeInterrupts final : public Interrupts {
 public:
  void raise(uint32_t event_id) override {
    const std::lock_guard lock(mutex_);
    ++raised_[event_id];
  }
  void raise_end_of_pipe(uint32_t context) override { raise(context); }
  bool memory_fault(const MemoryFault& fault) override {
    const std::lock_guard lock(mutex_);
    faults_.push_back(fault);
    return listening;
  }
  int raised(uint32_t event_id) {
    const std::lock_guard lock(mutex_);
    return raised_[event_id];
  }
  std::vector<MemoryFault> faults() {
    const std::lock_guard lock(mutex_);
    return faults_;
  }
  void forget_faults() {
    const std::lock_guard lock(mutex_);
    faults_.clear();
  }

  bool listening = true;

 private:
  std::mutex mutex_;
  std::map<uint32_t, int> raised_;
  std::vector<MemoryFault> faults_;
};

class FakeEngine final : public isa::Engine {
 public:
  isa::DispatchResult run(const isa::Dispatch& dispatch, const volatile bool& cancel) override {
    {
      const std::lock_guard lock(mutex_);
      dispatches_.push_back(dispatch);
    }
    return behaviour ? behaviour(dispatch, cancel) : isa::DispatchResult{};
  }
  void invalidate_code() override {
    const std::lock_guard lock(mutex_);
    ++invalidations_;
  }
  std::vector<isa::Dispatch> dispatches() {
    const std::lock_guard lock(mutex_);
    return dispatches_;
  }
  int invalidations() {
    const std::lock_guard lock(mutex_);
    return invalidations_;
  }

  // Set before the queue starts.
  std::function<isa::DispatchResult(const isa::Dispatch&, const volatile bool&)> behaviour;

 private:
  std::mutex mutex_;
  std::vector<isa::Dispatch> dispatches_;
  int invalidations_ = 0;
};

struct FakeGpu {
  FakeMemory memory;
  FakeInterrupts interrupts;
  FakeEngine engine;

  Device device(bool execute = true) {
    Device device;
    device.node = 1;
    device.memory = &memory;
    device.runtime_memory = &memory;
    device.engine = execute ? &engine : nullptr;
    device.interrupts = &interrupts;
    device.idle.spin_ns = 10000;
    return device;
  }
};

// Polls until `done` holds. A test that never gets there is ended by its time limit.
template <typename F>
void wait_until(F done) {
  while (!done()) std::this_thread::yield();
}

}  // namespace halyard::vgpu::queue::testing
