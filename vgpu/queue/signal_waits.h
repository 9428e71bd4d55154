// Queues that wait for signals of other queues: who writes one wakes them.
//
// Signals are plain memory, so a store by the host is not noticed: a waiting queue looks now and
// then as well.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vgpu/queue/idle.h"

namespace halyard::vgpu::queue {

// One queue's wait. Made and destroyed by the queue's own thread.
class SignalWait final : public WakeSource {
 public:
  static constexpr size_t kMost = 5;

  // For any of `count` signals.
  SignalWait(Idle& idle, const uint64_t* handles, size_t count);
  ~SignalWait() override;
  SignalWait(const SignalWait&) = delete;
  SignalWait& operator=(const SignalWait&) = delete;

  bool arm() override;
  bool is_complete() const override { return false; }

  // Call it after a sequentially consistent store to the signal. Any thread; reads one word if no
  // thread waits. Does not access the signal.
  static void written(uint64_t handle) {
    if (waiting.load(std::memory_order_seq_cst) != 0) [[unlikely]]
      wake(handle);
  }

 private:
  static void wake(uint64_t handle);

  static std::atomic<uint32_t> waiting;  // waits that are armed

  Idle& idle_;
  uint64_t handles_[kMost] = {};
  bool armed_ = false;
  SignalWait* next_ = nullptr;  // of those that are armed
};

}  // namespace halyard::vgpu::queue
