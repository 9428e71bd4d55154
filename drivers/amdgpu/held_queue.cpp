#include "drivers/amdgpu/held_queue.h"

#include <utility>

#include "drivers/amdgpu/device.h"
#include "drivers/amdgpu/plan.h"
#include "drivers/common/clock.h"
#include "drivers/common/loss.h"
#include "drivers/common/service_thread.h"
#include "hal/error.h"

namespace halyard::amdgpu {

HeldQueue::~HeldQueue() {
  if (host_thread_.joinable()) host_thread_.join();
}

Status HeldQueue::push(std::unique_ptr<Operation> operation, const Sync& sync) {
  {
    const std::lock_guard lock(mutex_);
    HALYARD_ASSIGN_OR_RETURN(HeldSync held, HeldSync::add(this, operation->name(), sync));
    Entry& entry = entries_.emplace_back();
    entry.keep_alive = Ref<Device>::retain(&core_.device());
    entry.operation = std::move(operation);
    entry.sync = std::move(held);
    count_.fetch_add(1, std::memory_order_acq_rel);
    core_.add_slow_path();
  }
  core_.device().watcher().add_interest();
  return {};
}

bool HeldQueue::advance() {
  while (any()) {
    Entry* front = nullptr;
    {
      // A deque's elements stay where they are when others are pushed.
      const std::lock_guard lock(mutex_);
      front = &entries_.front();
    }
    const Outcome outcome = front->operation->on_host() ? try_host(*front) : try_issue(*front);
    if (outcome == Outcome::kPoll) return true;
    if (outcome != Outcome::kDone) return false;
    drop_front();
  }
  return false;
}

std::string HeldQueue::describe() {
  const std::lock_guard lock(mutex_);
  const StringView front = entries_.empty() ? StringView() : entries_.front().operation->name();
  return describe_held(front, host_running_.load(std::memory_order_acquire));
}

void HeldQueue::fail_signals(const Status& cause) {
  std::vector<HeldPoint> points;
  {
    const std::lock_guard lock(mutex_);
    for (const Entry& entry : entries_) {
      // What is in the ring, or has been done, knows of itself.
      const bool runs = host_running_.load(std::memory_order_acquire);
      if (entry.issued || (entry.started && !runs)) continue;
      entry.operation->cancel();
      points.insert(points.end(), entry.sync.signals().begin(), entry.sync.signals().end());
    }
  }
  if (points.empty()) return;
  for (const HeldPoint& point : points) point.semaphore->fail_with(cause);
  // The entries may be gone by now, so that these are the last references.
  core_.device().drop_later(std::move(points));
}

void HeldQueue::drop_front() {
  Entry done;
  {
    const std::lock_guard lock(mutex_);
    done = std::move(entries_.front());
    entries_.pop_front();
    // Last: whoever finds nothing held back submits on its own, behind what we have just put there.
    count_.fetch_sub(1, std::memory_order_acq_rel);
    core_.remove_slow_path();
  }
  done.sync.remove();
  // `done` may hold the last reference to anything, the device included.
  DeviceImpl& device = core_.device();
  device.watcher().remove_interest();
}

void HeldQueue::give_up(Entry& entry, const Status& cause) {
  entry.operation->cancel();
  entry.sync.finish(cause);
}

HeldQueue::Outcome HeldQueue::try_issue(Entry& entry) {
  if (entry.issued) return entry.operation->resume(core_) ? Outcome::kDone : Outcome::kPoll;
  if (core_.lost()) {
    give_up(entry, core_.fault());
    return Outcome::kDone;
  }
  const bool on_host = entry.operation->waits_on_host();
  const auto plan_one = [&](const HeldPoint& held) {
    const SemaphorePoint wait = {held.semaphore.get(), held.value};
    const WaitPlan one = plan_waits(core_, {&wait, 1}, false, on_host);
    if (!one.failure.ok()) return WaitAction::kFail;
    return one.hold ? WaitAction::kHost : WaitAction::kNone;
  };
  if (!entry.sync.worth_planning(plan_one)) return Outcome::kLater;
  const WaitPlan plan = plan_waits(core_, views(entry.sync.waits()), false, on_host);
  if (!plan.failure.ok()) {
    give_up(entry, plan.failure);
    return Outcome::kDone;
  }
  if (plan.hold) return Outcome::kLater;
  auto packets = entry.operation->packets() + static_cast<uint32_t>(plan.device.size());
  if (core_.device().profiler().active()) packets += Profiler::kPackets;
  // Other queues' work waits for this thread: it never waits for room.
  if (!core_.has_room(packets)) return Outcome::kPoll;
  const std::vector<SemaphorePoint> signals = views(entry.sync.signals());
  entry.operation->set_waits_for_no_room();
  const Status status = issue(core_, *entry.operation,
                              {.waits = plan.device, .signals = signals, .foreign = plan.foreign});
  if (!status.ok()) {
    give_up(entry, status);
    return Outcome::kDone;
  }
  entry.sync.keep_promises();
  entry.issued = true;
  return entry.operation->resume(core_) ? Outcome::kDone : Outcome::kPoll;
}

HeldQueue::Outcome HeldQueue::try_host(Entry& entry) {
  if (entry.started) {
    if (host_running_.load(std::memory_order_acquire)) return Outcome::kRunning;
    if (host_thread_.joinable()) host_thread_.join();
    return Outcome::kDone;
  }
  if (core_.lost()) {
    entry.sync.finish(core_.fault());
    return Outcome::kDone;
  }
  if (!entry.fenced) {
    const auto plan_one = [](const HeldPoint& wait) {
      const PointState state = wait.semaphore->evaluate(wait.value);
      if (state == PointState::kFailed) return WaitAction::kFail;
      return state == PointState::kReached ? WaitAction::kNone : WaitAction::kHost;
    };
    if (!entry.sync.worth_planning(plan_one)) return Outcome::kLater;
    const WaitPlan plan = plan_waits(core_, views(entry.sync.waits()), true);
    if (!plan.failure.ok()) {
      entry.sync.finish(plan.failure);
      return Outcome::kDone;
    }
    for (const HeldPoint& wait : entry.sync.waits()) {
      if (plan_one(wait) != WaitAction::kNone) return Outcome::kLater;
    }
    const bool idle = core_.idle();
    if (!needs_packet_before_host({.idle = idle, .released = core_.is_released()})) {
      entry.fence = core_.reserved() - 1;
    } else {
      // A barrier with an interrupt, which releases what is before it to the system. The
      // interrupt wakes the watcher when all of that is done.
      if (!core_.has_room(1)) return Outcome::kPoll;
      const uint64_t index = core_.reserve(1);
      if (!core_.wait_for_room(index, 1).ok()) return Outcome::kPoll;
      core_.write_barrier(index, true, {.kind = PacketKind::kBarrier, .observed = true});
      core_.ring(index);
      entry.fence = index;
    }
    entry.fenced = true;
  }
  // The index before the first is -1: nothing was ever submitted.
  if (entry.fence != UINT64_MAX) {
    const PointState state = core_.state_of(entry.fence);
    if (state == PointState::kPending) return Outcome::kLater;
    if (state == PointState::kFailed) {
      entry.sync.finish(core_.fault());
      return Outcome::kDone;
    }
  }
  run_host(entry);
  return Outcome::kRunning;
}

void HeldQueue::run_host(Entry& entry) {
  entry.started = true;
  host_running_.store(true, std::memory_order_release);
  const auto body = [this, &entry] {
    Profiler& profiler = core_.device().profiler();
    const OperationFacts facts = entry.operation->facts();
    const uint64_t begin_ns = profiler.wants(facts.kind) ? now_ns() : 0;
    // A host function may tell threads of the program what it has seen, and what it does itself.
    DeviceImpl& device = core_.device();
    device.host_observed();
    const Status outcome = entry.operation->issue(core_, {});
    device.host_observed();
    // Before anybody learns that it is done, and ends the profile.
    if (begin_ns != 0) profiler.add_host(facts, core_, begin_ns, now_ns());
    entry.sync.finish(outcome);
    host_running_.store(false, std::memory_order_release);
    core_.device().watcher().progress();
  };
  host_thread_ = start_service_thread("halyard-host", body);
  // Better late wake-ups than none.
  if (!host_thread_.joinable()) body();
}

}  // namespace halyard::amdgpu
