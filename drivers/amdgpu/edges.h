// Edges: how packets of other queues wait for a queue's packets where there is no barrier-value
// packet.
//
// A barrier-AND packet waits until signals are 0 (HSA System Architecture 1.2, 2.9.8), which a
// queue's epoch never is. So behind a packet that others wait for comes one that completes a signal
// of its own, an edge. It is put there when another queue is about to wait, if the packet is the
// last one; behind it would also be behind whatever comes later, and that may need the one who
// waits. Otherwise the host sees to that wait, and from then on the queue puts an edge behind
// everything that signals a semaphore, until nobody uses them for a while. So they cost nothing
// where queues do not wait for each other.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "drivers/amdgpu/hsa.h"

namespace halyard::amdgpu {

class DeviceImpl;
class QueueCore;

// Any thread may use any method.
class Edges {
 public:
  explicit Edges(QueueCore& core) : core_(core) {}
  // The queue is gone.
  ~Edges();
  Edges(const Edges&) = delete;
  Edges& operator=(const Edges&) = delete;

  // How many edge packets are done, of all that there ever were. They count in none of the queue's
  // epoch signals.
  uint64_t done() const {
    if (outstanding_.load(std::memory_order_acquire) == 0) [[likely]]
      return done_.load(std::memory_order_acquire);
    return count();
  }

  // Whether what signals a semaphore gets an edge behind it.
  bool wanted() const { return wanted_.load(std::memory_order_relaxed); }
  void want(bool on) { wanted_.store(on, std::memory_order_relaxed); }

  // Puts an edge behind packet `index`, if that is the last one and there is room. Whether it has.
  bool add(uint64_t index);
  // Whether others can wait for packet `index`, which signals a semaphore. Puts an edge behind it
  // if need be, and if that cannot be, has the queue do so from now on.
  bool prepare(uint64_t index);
  // What packet `by` of `user` has to wait for after prepare(index); null if that is done.
  hsa_signal_t use(uint64_t index, QueueCore& user, uint64_t by);
  // The queue is lost: lets everybody go on who waits for it, and takes nothing any more. Packets
  // of an abandoned queue may still be processed and are counted as before.
  void release();
  // After release(): lets those go on who still wait for a packet that was processed since. Whether
  // that has to be looked at again. Without the mutex.
  bool needs_looks();
  // `device` goes, and nothing of it waits for this queue any more.
  void forget(const DeviceImpl& device);

 private:
  struct User {
    QueueCore* core = nullptr;
    uint64_t packet = 0;
  };
  struct Edge {
    uint64_t index = 0;  // of the packet in front of it
    hsa_signal_t signal = {};
    std::vector<User> users;
    bool done = false;  // of a released one: before that
  };

  static bool in_use(const Edge& edge);  // without the mutex; under Foreign::users()
  Edge* find(uint64_t index) const;      // under mutex_; null if there is none
  uint64_t count() const;
  void count_locked() const;  // under mutex_
  // Without the mutex, as it asks other queues how far they are. Only if there are many.
  void recycle();

  // So many that are still in use, and no more are made.
  static constexpr size_t kMost = 512;
  static constexpr size_t kFew = 16;
  // So many that nobody has used one after the other, and no more are made unasked.
  static constexpr uint32_t kUnused = 64;

  QueueCore& core_;
  std::atomic<bool> wanted_{false};  // written when that changes
  mutable std::mutex mutex_;
  mutable std::deque<Edge> edges_;    // under mutex_: not known to be done, in the ring's order
  mutable std::vector<Edge> passed_;  // under mutex_: done, and maybe looked at still
  size_t recycle_at_ = kFew;          // under mutex_: so many are there
  uint32_t unused_ = 0;               // under mutex_: the last ones that were, in a row
  bool released_ = false;             // under mutex_
  mutable std::atomic<uint64_t> done_{0};
  mutable std::atomic<uint32_t> outstanding_{0};  // edges_.size()
};

}  // namespace halyard::amdgpu
