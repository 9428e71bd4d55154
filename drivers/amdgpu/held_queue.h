// RingHeldQueue: how operations that were held back get into a queue's ring. The watcher's thread
// sees to it as soon as what they wait for is reached.
#pragma once

#include <cstdint>
#include <mutex>

#include "drivers/amdgpu/operation.h"
#include "plugins/sdk/held_queue.h"

namespace halyard::amdgpu {

class RingHeldQueue final : public HeldQueue {
 public:
  explicit RingHeldQueue(QueueCore& core);

  // Holds the operation back, and has the watcher's thread look at it.
  Status hold(std::unique_ptr<QueueOperation> operation, const Sync& sync);

 private:
  Status fault() const override;
  WaitAction action_for(const QueueOperation& operation, const HeldPoint& wait) override;
  Result<Turn> issue(QueueOperation& operation, const HeldSync& sync) override;
  bool resume(QueueOperation& operation) override;
  Result<Turn> reach_host(const QueueOperation& operation, const HeldSync& sync,
                          uint64_t id) override;
  void holds(bool any) override;
  void host_observed() override;
  bool is_timed(const OperationFacts& facts) const override;
  void add_time(const OperationFacts& facts, uint64_t begin_ns, uint64_t end_ns) override;
  void changed() override;

  QueueCore& core_;
  std::mutex order_;
  uint64_t fenced_ = 0;  // under order_: the operation of the host's whose barrier is in the ring
  uint64_t fence_ = 0;   // under order_: the end of what has to be done before it
};

}  // namespace halyard::amdgpu
