// A queue of the GPU: a ring that the host fills and a thread that empties it. AqlQueue and
// SdmaQueue say what a packet is.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include "vgpu/queue/device.h"

namespace halyard::vgpu {
struct HostFault;
}

namespace halyard::vgpu::queue {

class HardwareQueue {
 public:
  HardwareQueue(const Device& device, uint32_t id, const char* kind);
  HardwareQueue(const HardwareQueue&) = delete;
  HardwareQueue& operator=(const HardwareQueue&) = delete;
  virtual ~HardwareQueue() = default;

  // Starts the thread; false if the system has none to give.
  bool start();
  // Ends a running dispatch early, waits for the thread to end, and guarantees that nothing of the
  // queue (ring, indices, signals) is touched after it returns. Once; any thread but the queue's.
  void stop();
  // A paused queue takes no further packet; one that is being processed is finished.
  void set_paused(bool paused);

  // How urgent its dispatches are (isa::Dispatch::priority), from the next one on.
  void set_priority(int priority) { priority_.store(priority, std::memory_order_relaxed); }

  uint32_t id() const { return id_; }
  bool failed() const { return failed_.load(std::memory_order_acquire); }
  Idle& idle() { return idle_; }

 protected:
  // The thread's work: returns when stopping() or when the queue has failed.
  virtual void run() = 0;

  bool stopping() const { return __atomic_load_n(&cancel_, __ATOMIC_ACQUIRE); }
  int priority() const { return priority_.load(std::memory_order_relaxed); }
  bool paused() const { return paused_.load(std::memory_order_relaxed); }
  // Called before the cause is reported.
  void set_failed();
  // Reports a refused access to stderr and to the memory event; the queue must stop then. Returns
  // false if no thread listens for memory events.
  bool fail_with_memory_fault(const MemoryFault& fault, const std::string& text);
  std::string describe(uint64_t address) const;

  const Device device_;
  const uint32_t id_;
  Idle idle_;
  // Engine::run polls this as a plain volatile: written with atomic builtins.
  volatile bool cancel_ = false;

 private:
  void fail_unmapped(const HostFault& gone);

  const char* kind_;
  std::atomic<bool> paused_{false};
  std::atomic<int> priority_{0};
  std::atomic<bool> failed_{false};
  std::thread thread_;
};

}  // namespace halyard::vgpu::queue
