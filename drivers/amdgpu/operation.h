// Operation: something that goes into a queue, now or, if it has to be held back, later; and how
// packets are put into a ring.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "drivers/amdgpu/queue_core.h"
#include "drivers/amdgpu/semaphore.h"
#include "hal/queue.h"
#include "hal/ref.h"
#include "hal/status.h"
#include "plugins/sdk/operation.h"

namespace halyard::amdgpu {

class Profiler;

// What goes with an operation into the ring.
struct IssueContext {
  // Packets of other queues that have to be done before it; for each there is one that waits.
  Span<const QueuePoint> waits;
  Span<const SemaphorePoint> signals;
  // It waited for something that this queue did not do.
  bool foreign = false;
};

class Operation : public QueueOperation {
 public:
  // Slots of the ring that it takes, without those of its waits.
  virtual uint32_t packets() const = 0;
  // Puts it into the ring. A failure has queued nothing.
  virtual Status issue(QueueCore& core, const IssueContext& context) = 0;
  // One that is larger than the ring is from now on put there as far as there is room. The caller
  // has seen to room for packets().
  virtual void set_waits_for_no_room() {}
  // After that, and issue(): puts more of it into the ring. Whether all of it is there, or never
  // will be.
  virtual bool resume(QueueCore&) { return true; }
  // Calls `then`, which needs kRoomForThen free slots, when all of it is in the ring: at once, or
  // in resume().
  static constexpr uint32_t kRoomForThen = 2;
  virtual void when_whole(const std::function<void()>& then) { then(); }
  // A copy that refers to nothing of the caller's and keeps alive what it needs.
  virtual Result<std::unique_ptr<Operation>> hold() = 0;
  // issue() while a profile is being taken.
  virtual Status issue_timed(QueueCore& core, const IssueContext& context, Profiler& profiler);
};

// Writes one packet for each of a context's waits, from `index` on, and has CrossWaits know of
// them. `last` is the last packet of the operation behind them, which signals `signals`. Takes the
// parts of the context, so that emit() need not have it in memory.
void write_waits(QueueCore& core, uint64_t index, uint64_t last, Span<const QueuePoint> waits,
                 Span<const SemaphorePoint> signals);
// Reserves slots for the context's waits and `packets` more, fills in the waits, has
// `fill(index, interrupt)` write and publish the rest from `index` on (the last one raises an
// interrupt if `interrupt`),
// registers the signals and rings. Inline, as it is the path of every dispatch.
template <typename Fill>
inline Status emit(QueueCore& core, uint32_t packets, const IssueContext& context, Fill&& fill) {
  const auto waits = static_cast<uint32_t>(context.waits.size());
  const bool interrupt = !context.signals.empty();
  const uint64_t first = core.ring().reserve(waits + packets);
  if (Status status = core.room().wait(first, waits + packets); !status.ok()) [[unlikely]]
    return status;
  const uint64_t last = first + waits + packets - 1;
  // Before the packets are valid: whoever sees them done finds the points.
  for (const SemaphorePoint& signal : context.signals) {
    impl(*signal.semaphore).add_point(signal.value, {&core, last});
  }
  if (waits != 0) [[unlikely]]
    write_waits(core, first, last, context.waits, context.signals);
  fill(first + waits, interrupt);
  core.ring().ring_doorbell(last);
  if (interrupt && core.edges().wanted()) [[unlikely]]
    core.edges().add(last);
  return {};
}

// Puts the operation into the ring, and has it timed if a profile is being taken.
Status issue(QueueCore& core, Operation& operation, const IssueContext& context);

// The path of everything that is not a plain dispatch: decides how to wait, and issues the
// operation or holds it back.
Status submit(QueueCore& core, Operation& operation, const Sync& sync);
// Of what the host does, in the queue's order.
Status submit_host(QueueCore& core, std::unique_ptr<QueueOperation> operation, const Sync& sync);

// Only waits and signals.
class BarrierOperation final : public Operation {
 public:
  // `kind` is what it is to the caller.
  explicit BarrierOperation(ProfileKind kind = ProfileKind::kBarrier) : kind_(kind) {}
  uint32_t packets() const override { return 1; }
  Status issue(QueueCore& core, const IssueContext& context) override;
  Result<std::unique_ptr<Operation>> hold() override;
  OperationFacts facts() const override { return facts_of(kind_); }

 private:
  ProfileKind kind_;
};

}  // namespace halyard::amdgpu
