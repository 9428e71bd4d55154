// QueueLoss: whether a queue is lost, why, and how far it was then.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "hal/status.h"

namespace halyard::amdgpu {

// Any thread may use any method.
class QueueLoss {
 public:
  // Nothing of the queue completes any more.
  bool lost() const { return lost_.load(std::memory_order_acquire); }
  // The queue is lost because it was given up, and its work may still run.
  bool abandoned() const { return abandoned_.load(std::memory_order_acquire); }
  // Only if lost(): why, and how many packets were done then.
  Status cause() const {
    const std::lock_guard lock(mutex_);
    return cause_;
  }
  uint64_t completed() const { return completed_.load(std::memory_order_relaxed); }

  // The first cause counts; false if there was one before. `completed()` says how many packets are
  // done.
  template <typename Completed>
  bool lose(const Status& cause, bool abandoned, Completed&& completed) {
    const std::lock_guard lock(mutex_);
    if (lost()) return false;
    completed_.store(completed(), std::memory_order_relaxed);
    cause_ = cause;
    abandoned_.store(abandoned, std::memory_order_release);
    lost_.store(true, std::memory_order_release);
    return true;
  }
  // Nothing runs there any more: the device is lost.
  void forget_work() { abandoned_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> lost_{false};
  std::atomic<bool> abandoned_{false};
  std::atomic<uint64_t> completed_{0};
  mutable std::mutex mutex_;
  Status cause_;  // under mutex_
};

}  // namespace halyard::amdgpu
