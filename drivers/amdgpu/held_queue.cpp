#include "drivers/amdgpu/held_queue.h"

#include <utility>

#include "drivers/amdgpu/barrier_packet.h"
#include "drivers/amdgpu/device.h"
#include "drivers/amdgpu/plan.h"

namespace halyard::amdgpu {

RingHeldQueue::RingHeldQueue(QueueCore& core) : HeldQueue(core.device(), order_), core_(core) {}

Status RingHeldQueue::hold(std::unique_ptr<QueueOperation> operation, const Sync& sync) {
  const std::lock_guard lock(order_);
  return push(std::move(operation), sync);
}

Status RingHeldQueue::fault() const {
  return core_.loss().lost() ? core_.loss().cause() : Status();
}

void RingHeldQueue::holds(bool any) {
  Watcher& watcher = core_.device().watcher();
  if (any) {
    core_.add_slow_path();
    watcher.add_interest();
  } else {
    core_.remove_slow_path();
    watcher.remove_interest();
  }
}

WaitAction RingHeldQueue::action_for(const QueueOperation& operation, const HeldPoint& wait) {
  if (operation.on_host()) {
    const PointState state = wait.semaphore->evaluate(wait.value);
    if (state == PointState::kFailed) return WaitAction::kFail;
    return state == PointState::kReached ? WaitAction::kNone : WaitAction::kHost;
  }
  const SemaphorePoint point = {wait.semaphore.get(), wait.value};
  const WaitPlan plan = plan_waits(core_, {&point, 1}, false, operation.waits_on_host());
  if (!plan.failure.ok()) return WaitAction::kFail;
  return plan.hold ? WaitAction::kHost : WaitAction::kNone;
}

Result<HeldQueue::Turn> RingHeldQueue::issue(QueueOperation& held, const HeldSync& sync) {
  auto& operation = static_cast<Operation&>(held);
  const WaitPlan plan = plan_waits(core_, views(sync.waits()), false, operation.waits_on_host());
  HALYARD_RETURN_IF_ERROR(plan.failure);
  if (plan.hold) return Turn::kLater;
  auto packets = operation.packets() + static_cast<uint32_t>(plan.device.size());
  if (core_.device().profiler().active()) packets += Profiler::kPackets;
  // Other queues' work waits for this thread: it never waits for room.
  if (!core_.room().has(packets)) return Turn::kSoon;
  const std::vector<SemaphorePoint> signals = views(sync.signals());
  operation.set_waits_for_no_room();
  HALYARD_RETURN_IF_ERROR(amdgpu::issue(
      core_, operation, {.waits = plan.device, .signals = signals, .foreign = plan.foreign}));
  return Turn::kDone;
}

bool RingHeldQueue::resume(QueueOperation& operation) {
  return static_cast<Operation&>(operation).resume(core_);
}

Result<HeldQueue::Turn> RingHeldQueue::reach_host(const QueueOperation& operation,
                                                  const HeldSync& sync, uint64_t id) {
  if (fenced_ != id) {
    const WaitPlan plan = plan_waits(core_, views(sync.waits()), true);
    HALYARD_RETURN_IF_ERROR(plan.failure);
    for (const HeldPoint& wait : sync.waits()) {
      if (action_for(operation, wait) != WaitAction::kNone) return Turn::kLater;
    }
    fence_ = core_.ring().reserved();
    if (needs_packet_before_host(
            {.idle = core_.epoch().idle(), .released = core_.fences().is_released()})) {
      // A barrier with an interrupt, which releases what is before it to the system. The
      // interrupt wakes the watcher when all of that is done.
      if (!core_.room().has(1)) return Turn::kSoon;
      const uint64_t index = core_.ring().reserve(1);
      if (!core_.room().wait(index, 1).ok()) return Turn::kSoon;
      write_barrier(core_, index, true, {.kind = PacketKind::kBarrier, .observed = true});
      core_.ring().ring_doorbell(index);
      fence_ = index + 1;
    }
    fenced_ = id;
  }
  const PointState state = fence_ == 0 ? PointState::kReached : core_.epoch().state_of(fence_ - 1);
  if (state == PointState::kFailed) return core_.loss().cause();
  return state == PointState::kPending ? Turn::kLater : Turn::kDone;
}

// A host function may tell threads of the program what it has seen, and what it does itself.
void RingHeldQueue::host_observed() {
  core_.device().host_observed();
}

bool RingHeldQueue::is_timed(const OperationFacts& facts) const {
  return core_.device().profiler().wants(facts.kind);
}

void RingHeldQueue::add_time(const OperationFacts& facts, uint64_t begin_ns, uint64_t end_ns) {
  core_.device().profiler().add_host(facts, core_.queue_id(), begin_ns, end_ns);
}

void RingHeldQueue::changed() {
  // Here rather than on the watcher's thread, which would have to wake first.
  advance();
  core_.device().progress();
}

}  // namespace halyard::amdgpu
