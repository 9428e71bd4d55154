// A queue of the GPU: a ring that the host fills and a thread that empties it. AqlQueue and
// SdmaQueue say what a packet is.
//
// The program may give a queue another ring while it runs (UPDATE_QUEUE), and do with the old one
// what it likes as soon as that call returns. So the thread holds the ring while it touches it, and
// lets go of it where a packet or a wait may take long.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "vgpu/queue/device.h"

namespace halyard::vgpu {
struct HostFault;
}

namespace halyard::vgpu::queue {

// Indices count packets or bytes, as the kind of queue says, and never wrap.
struct Ring {
  void* base = nullptr;  // null: there is none, and the queue takes no packets
  uint64_t bytes = 0;    // a power of two, or 0, as null
  uint64_t* write_index = nullptr;
  uint64_t* read_index = nullptr;

  bool exists() const { return base != nullptr && bytes != 0; }
};

class HardwareQueue {
 public:
  HardwareQueue(const Device& device, uint32_t id, const char* kind, const Ring& ring);
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
  // The ring's memory, from the next packet on; the indices go on. The old memory is not touched
  // after it returns.
  void set_ring(void* base, uint64_t bytes);

  // The compute units that its dispatches may use, from the next one on. None: no dispatch can run.
  void set_units(std::vector<uint32_t> units);

  // How urgent its dispatches are (isa::Dispatch::priority), from the next one on.
  void set_priority(int priority) { priority_.store(priority, std::memory_order_relaxed); }

  uint32_t id() const { return id_; }
  bool failed() const { return failed_.load(std::memory_order_acquire); }
  Idle& idle() { return idle_; }

 protected:
  // The thread's work: returns when stopping() or when the queue has failed. It begins with the
  // ring held, and may end so.
  virtual void run() = 0;

  bool stopping() const { return __atomic_load_n(&cancel_, __ATOMIC_ACQUIRE); }
  int priority() const { return priority_.load(std::memory_order_relaxed); }
  // Has the engine run it, on the queue's compute units.
  isa::DispatchResult execute(isa::Dispatch dispatch);
  // Null: all.
  using Units = std::shared_ptr<const std::vector<uint32_t>>;
  Units units() const;
  bool paused() const { return paused_.load(std::memory_order_relaxed); }
  // Waits as Idle does, without the ring, which the caller holds.
  void pause(WakeSource* source);
  void pause_for_doorbell();
  // While one lives, the ring may change: ring_changes() then differs.
  class RingReleased {
   public:
    explicit RingReleased(HardwareQueue& queue) : queue_(queue) { queue_.release_ring(); }
    ~RingReleased() { queue_.hold_ring(); }
    RingReleased(const RingReleased&) = delete;
    RingReleased& operator=(const RingReleased&) = delete;

   private:
    HardwareQueue& queue_;
  };
  uint32_t ring_changes() const { return ring_changes_; }
  // Lets a change through that waits for the ring. The thread may be busy for long.
  void offer_ring() {
    if (ring_wanted_.load(std::memory_order_relaxed) != 0) [[unlikely]]
      give_ring();
  }
  const Ring& ring() const { return ring_; }

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
  void hold_ring();
  void release_ring();
  void give_ring();

  const char* kind_;
  std::atomic<bool> paused_{false};
  std::atomic<int> priority_{0};
  std::atomic<bool> failed_{false};
  std::mutex ring_mutex_;  // the two below
  Ring ring_;
  uint32_t ring_changes_ = 0;
  std::atomic<uint32_t> ring_wanted_{0};  // how many threads wait for it
  bool holds_ring_ = false;               // the thread's own: a fault jumps over destructors
  mutable std::mutex units_mutex_;
  Units units_;
  std::thread thread_;
};

}  // namespace halyard::vgpu::queue
