#include "drivers/amdgpu/operation.h"

#include <algorithm>

#include "drivers/amdgpu/barrier_packet.h"
#include "drivers/amdgpu/cross_waits.h"
#include "drivers/amdgpu/device.h"
#include "drivers/amdgpu/held_queue.h"
#include "drivers/amdgpu/plan.h"

namespace halyard::amdgpu {

namespace {

void write_barrier_value(QueueCore& core, uint64_t index, const QueuePoint& wait) {
  constexpr uint16_t kHeader = packet_header(
      FenceFacts{.kind = PacketKind::kBarrierValue, .observed = false, .reads_foreign = true});
  Packet& slot = core.ring().slot(index);
  hsa_amd_barrier_value_packet_t& packet = slot.barrier_value;
  packet.reserved0 = 0;
  packet.signal = wait.core->epoch().signals().interrupt();
  packet.value = wait.core->epoch().interrupt_value(wait.index) + 1;
  packet.mask = -1;
  packet.cond = HSA_SIGNAL_CONDITION_LT;
  packet.reserved1 = 0;
  packet.reserved2 = 0;
  packet.reserved3 = 0;
  packet.completion_signal = core.epoch().signals().completion(false);
  core.notes().note(index, nullptr, false);
  // The upper half of the first word is the AMD packet format (hsa_amd_vendor_packet_header_t).
  publish(slot, kHeader, HSA_AMD_PACKET_TYPE_BARRIER_VALUE);
}

}  // namespace

void write_waits(QueueCore& core, uint64_t index, uint64_t last, Span<const QueuePoint> waits,
                 Span<const SemaphorePoint> signals) {
  core.device().cross_waits().add(core, last, waits, signals);
  for (const QueuePoint& wait : waits) {
    if (core.device().barrier_value()) {
      write_barrier_value(core, index, wait);
    } else {
      write_barrier(core, index, false, {.kind = PacketKind::kBarrier, .reads_foreign = true},
                    {.dependency = wait.core->edges().use(wait.index, core, index)});
    }
    ++index;
  }
}

namespace {

WaitFacts facts_of(const SemaphoreImpl& semaphore, uint64_t value, QueueCore& core,
                   bool behind_held_back, QueuePoint* point) {
  WaitFacts facts;
  DeviceImpl& device = core.device();
  const PointState state = semaphore.evaluate(value);
  facts.reached = state == PointState::kReached;
  facts.failed = state == PointState::kFailed;
  if (state != PointState::kPending) return facts;
  *point = semaphore.point_for(value, &core);
  // Packets wait for those of any GPU of the runtime: signals are in memory that all of them see.
  facts.submitted = point->core != nullptr && &point->core->device().hsa() == &device.hsa();
  facts.same_queue = point->core == &core;
  facts.behind_held_back = behind_held_back;
  if (facts.submitted && !facts.same_queue && !behind_held_back) {
    facts.on_device = device.barrier_value() || point->core->edges().prepare(point->index);
  }
  const bool of_another = &semaphore.device() != &device ||
                          (point->core != nullptr && &point->core->device() != &device);
  const bool on_host = !facts.same_queue && !facts.on_device;
  // Nothing of another device's wakes this one's watcher.
  if (of_another && on_host) device.share_semaphores();
  return facts;
}

}  // namespace

namespace {

// Of several packets of one queue the last is done last.
void add_wait(std::vector<QueuePoint>* waits, const QueuePoint& point) {
  for (QueuePoint& known : *waits) {
    if (known.core != point.core) continue;
    known.index = std::max(known.index, point.index);
    return;
  }
  waits->push_back(point);
}

}  // namespace

WaitPlan plan_waits(QueueCore& core, Span<const SemaphorePoint> waits, bool behind_held_back,
                    bool on_host) {
  WaitPlan plan;
  plan.hold = behind_held_back;
  for (const SemaphorePoint& wait : waits) {
    const SemaphoreImpl& semaphore = impl(*wait.semaphore);
    QueuePoint point;
    const WaitFacts facts =
        facts_of(semaphore, wait.value, core, behind_held_back || on_host, &point);
    plan.foreign |= !facts.same_queue;
    switch (plan_wait(facts)) {
      case WaitAction::kNone:
        break;
      case WaitAction::kDevice:
        add_wait(&plan.device, point);
        break;
      case WaitAction::kHost:
        plan.hold = true;
        break;
      case WaitAction::kFail:
        plan.failure = semaphore.failure();
        return plan;
    }
  }
  // So many packets do not fit into the ring beside the operation.
  if (plan.device.size() > core.ring().capacity() / 4) {
    plan.device.clear();
    plan.hold = true;
    core.device().share_semaphores();  // some may be another device's
  }
  return plan;
}

Status Operation::issue_timed(QueueCore& core, const IssueContext& context, Profiler& profiler) {
  return profiler.issue(core, *this, context);
}

Status issue(QueueCore& core, Operation& operation, const IssueContext& context) {
  Profiler& profiler = core.device().profiler();
  if (profiler.active()) return operation.issue_timed(core, context, profiler);
  return operation.issue(core, context);
}

Status submit(QueueCore& core, Operation& operation, const Sync& sync) {
  if (core.loss().lost()) return core.loss().cause();
  const WaitPlan plan = plan_waits(core, sync.wait, core.held().any(), operation.waits_on_host());
  if (!plan.failure.ok()) {
    operation.cancel();
    fail_signals(sync.signal, plan.failure);
    return {};
  }
  if (!plan.hold) {
    return issue(core, operation,
                 {.waits = plan.device, .signals = sync.signal, .foreign = plan.foreign});
  }
  HALYARD_ASSIGN_OR_RETURN(std::unique_ptr<Operation> copy, operation.hold());
  return core.held().hold(std::move(copy), sync);
}

Status submit_host(QueueCore& core, std::unique_ptr<QueueOperation> operation, const Sync& sync) {
  if (core.loss().lost()) return core.loss().cause();
  return core.held().hold(std::move(operation), sync);
}

Status BarrierOperation::issue(QueueCore& core, const IssueContext& context) {
  return emit(core, 1, context, [&](uint64_t index, bool interrupt) {
    core.fences().acquires_foreign(index);
    write_barrier(core, index, interrupt,
                  {.kind = PacketKind::kBarrier, .observed = interrupt, .reads_foreign = true});
  });
}

Result<std::unique_ptr<Operation>> BarrierOperation::hold() {
  return std::unique_ptr<Operation>(std::make_unique<BarrierOperation>(kind_));
}

}  // namespace halyard::amdgpu
