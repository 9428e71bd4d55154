#include "drivers/hip/queue_core.h"

#include <utility>

#include "drivers/common/loss.h"
#include "drivers/hip/device.h"
#include "drivers/hip/handover.h"
#include "drivers/hip/progress.h"
#include "drivers/hip/workers.h"
#include "hal/error.h"

namespace halyard::hip {

WaitAction QueueCore::plan_wait_for(const SemaphorePoint& wait, StreamPoint* point,
                                    bool* later) const {
  const SemaphoreImpl& semaphore = impl(*wait.semaphore);
  WaitFacts facts;
  const PointState state = semaphore.evaluate(wait.value, nullptr);
  facts.reached = state == PointState::kReached;
  facts.failed = state == PointState::kFailed;
  if (state == PointState::kPending) {
    *point = semaphore.point_for(wait.value, &stream_, later);
    facts.submitted = point->stream != nullptr;
    facts.same_queue = point->stream == &stream_;
    facts.on_device = true;  // every point has an event
  }
  return plan_wait(facts);
}

QueueCore::WaitPlan QueueCore::plan_waits(Span<const SemaphorePoint> waits,
                                          const StreamPoint& after, bool on_host) const {
  WaitPlan plan;
  if (after.stream != nullptr) plan.points.push_back(after);
  for (const SemaphorePoint& wait : waits) {
    StreamPoint point;
    bool later = false;
    switch (plan_wait_for(wait, &point, &later)) {
      case WaitAction::kNone:
        break;
      case WaitAction::kDevice:
        if (on_host) {
          plan.hold = plan.awaits_stream = true;
        } else {
          plan.points.push_back(point);
        }
        break;
      case WaitAction::kHost:
        plan.hold = true;
        plan.awaits_stream |= later;
        break;
      case WaitAction::kFail:
        plan.failure = impl(*wait.semaphore).failure();
        return plan;
    }
  }
  return plan;
}

Status QueueCore::put(Operation& operation, const WaitPlan& plan,
                      Span<const SemaphorePoint> signals) {
  for (const StreamPoint& point : plan.points) {
    HALYARD_RETURN_IF_ERROR(stream_.wait_for(point));
  }
  Profiler& profiler = device_.profiler();
  if (profiler.active() && operation.timed_as_a_whole()) [[unlikely]] {
    HALYARD_RETURN_IF_ERROR(
        profiler.around(*this, operation.facts(), {}, [&] { return operation.issue(*this); }));
  } else {
    HALYARD_RETURN_IF_ERROR(operation.issue(*this));
  }
  stream_.count();
  if (signals.empty() && !operation.needs_mark()) return {};
  if (const Status marked = stream_.mark(); !marked.ok()) {
    // The operation is on the stream, and nothing will tell when it is done.
    operation.cancel();
    fail_signals(signals, marked);
    return {};
  }
  operation.placed(stream_.number());
  for (const SemaphorePoint& signal : signals) {
    impl(*signal.semaphore).add_point(signal.value, {&stream_, stream_.number()});
  }
  return {};
}

QueueCore::QueueCore(DeviceImpl& device, Stream& stream, uint32_t capacity)
    : device_(device),
      stream_(stream),
      capacity_(stream_capacity(capacity)),
      queue_id_(device.next_queue_id()) {
  stream_.set_capacity(capacity_);
}

// What is on a stream depends on nothing that is still to come, so there will be room.
std::unique_lock<std::mutex> QueueCore::lock_with_room() {
  std::unique_lock lock(stream_.order());
  while (stream_.in_flight() >= capacity_ && entries_.empty() && !stream_.lost()) [[unlikely]] {
    const uint64_t first = stream_.number() + 1 - capacity_;
    lock.unlock();
    Progress::instance().wait_until(
        [&](bool* on_device) {
          *on_device = true;
          return stream_.settled_state_of(first);
        },
        Deadline::infinite());
    lock.lock();
  }
  return lock;
}

Status QueueCore::submit(Operation& operation, const Sync& sync, const StreamPoint& after) {
  Status result;
  bool tell = !sync.signal.empty();
  {
    const std::unique_lock lock = lock_with_room();
    if (stream_.lost()) [[unlikely]] {
      result = stream_.fault();
    } else if (!entries_.empty() || operation.on_host()) {
      HALYARD_RETURN_IF_ERROR(hold(operation, sync, after));
      tell = true;
    } else {
      const WaitPlan plan = plan_waits(sync.wait, after, operation.waits_on_host());
      if (!plan.failure.ok()) {
        operation.cancel();
        fail_signals(sync.signal, plan.failure);
      } else if (plan.hold) {
        HALYARD_RETURN_IF_ERROR(hold(operation, sync, after));
        tell = true;
      } else {
        result = put(operation, plan, sync.signal);
      }
    }
  }
  if (tell) Progress::instance().changed();
  return result;
}

Status QueueCore::submit_steps(std::vector<std::unique_ptr<Operation>> steps, const Sync& sync) {
  Status result;
  {
    const std::lock_guard lock(stream_.order());
    if (stream_.lost()) {
      result = stream_.fault();
    } else {
      HALYARD_ASSIGN_OR_RETURN(HeldSync held, HeldSync::add(this, steps.back()->name(), sync));
      const auto shared = std::make_shared<Steps>();
      for (size_t i = 0; i + 1 < steps.size(); ++i) {
        push(std::move(steps[i]), held.split_waits(), {}, shared);
      }
      push(std::move(steps.back()), std::move(held), {}, shared);
    }
  }
  Progress::instance().changed();
  return result;
}

Status QueueCore::hold(Operation& operation, const Sync& sync, const StreamPoint& after) {
  HALYARD_ASSIGN_OR_RETURN(std::unique_ptr<Operation> copy, operation.hold());
  HALYARD_ASSIGN_OR_RETURN(HeldSync held, HeldSync::add(this, copy->name(), sync));
  push(std::move(copy), std::move(held), after, nullptr);
  return {};
}

void QueueCore::push(std::unique_ptr<Operation> operation, HeldSync sync, const StreamPoint& after,
                     std::shared_ptr<Steps> steps) {
  auto entry = std::make_unique<Entry>();
  entry->core = this;
  entry->id = next_id_++;
  entry->keep_alive = Ref<Device>::retain(&device_);
  entry->operation = std::move(operation);
  entry->sync = std::move(sync);
  entry->after = after;
  entry->steps = std::move(steps);
  if (entries_.empty()) Progress::instance().add_holder(shared_from_this());
  entries_.push_back(std::move(entry));
}

bool QueueCore::advance() {
  bool changed = false;
  for (;;) {
    std::unique_ptr<Entry> done;  // may hold the last reference to anything: goes without the lock
    {
      const std::lock_guard lock(stream_.order());
      if (stream_.lost()) fail_held(stream_.fault());
      if (entries_.empty() || !try_front(*entries_.front())) return changed;
      done = std::move(entries_.front());
      entries_.pop_front();
      if (entries_.empty()) Progress::instance().remove_holder(*this);
    }
    done->sync.remove();
    changed = true;
  }
}

void QueueCore::fail_held(const Status& cause) {
  if (std::exchange(held_failed_, true)) return;
  for (const std::unique_ptr<Entry>& entry : entries_) {
    entry->operation->cancel();
    for (const HeldPoint& signal : entry->sync.signals()) signal.semaphore->fail_with(cause);
  }
}

std::string QueueCore::describe_unfinished() {
  if (std::string running = stream_.describe_running(); !running.empty()) {
    return running + " has not ended";
  }
  if (!stream_.known_idle()) {
    return fmt::format("operation {} of its stream has not ended", stream_.first_running());
  }
  // Somebody who submits may be held up in HIP.
  const std::unique_lock lock(stream_.order(), std::try_to_lock);
  if (!lock.owns_lock()) return "something is being submitted";
  if (entries_.empty()) return describe_held({}, false);
  const Entry& front = *entries_.front();
  return describe_held(front.operation->name(), front.phase == Phase::kRunning);
}

void QueueCore::abandon() {
  Streams::instance().abandon(stream_, queue_abandoned(device_.info().name, describe_unfinished()));
  Progress::instance().changed();
}

// The operation's signals become true, or fail.
bool QueueCore::finish(Entry& entry, const Status& status) {
  if (!status.ok()) {
    entry.operation->cancel();
    if (entry.steps != nullptr) entry.steps->failure = status;
  }
  entry.sync.finish(status);
  return true;
}

bool QueueCore::try_front(Entry& entry) {
  awaits_stream_.store(false, std::memory_order_release);
  if (entry.phase == Phase::kRunning) return false;
  if (stream_.lost()) return finish(entry, stream_.fault());
  if (entry.phase == Phase::kArriving) return false;
  WaitPlan plan;
  if (entry.phase == Phase::kRan) {
    if (!entry.outcome.ok() || !entry.operation->issues_after_run()) {
      return finish(entry, entry.outcome);
    }
  } else {
    if (entry.steps != nullptr && !entry.steps->failure.ok()) {
      return finish(entry, entry.steps->failure);
    }
    const bool on_host = entry.operation->waits_on_host();
    const auto plan_one = [&](const HeldPoint& wait) {
      StreamPoint point;
      bool later = false;
      const WaitAction action = plan_wait_for({wait.semaphore.get(), wait.value}, &point, &later);
      const bool seen_by_host = on_host && action == WaitAction::kDevice;
      awaits_stream_.store(later || seen_by_host, std::memory_order_release);
      return seen_by_host ? WaitAction::kHost : action;
    };
    if (!entry.sync.worth_planning(plan_one)) return false;
    plan = plan_waits(views(entry.sync.waits()), entry.after, on_host);
    if (!plan.failure.ok()) return finish(entry, plan.failure);
    awaits_stream_.store(plan.awaits_stream, std::memory_order_release);
    if (plan.hold) return false;
    if (entry.operation->on_host()) return start_host(entry, plan);
  }
  if (const Status status = put(*entry.operation, plan, views(entry.sync.signals()));
      !status.ok()) {
    return finish(entry, status);
  }
  entry.sync.keep_promises();
  return true;
}

bool QueueCore::start_host(Entry& entry, const WaitPlan& plan) {
  for (const StreamPoint& point : plan.points) {
    if (const Status status = stream_.wait_for(point); !status.ok()) return finish(entry, status);
  }
  entry.phase = Phase::kArriving;
  if (plan.points.empty() && stream_.state_of(stream_.number()) == PointState::kReached) {
    Workers::instance().run(
        [core = shared_from_this(), keep = entry.keep_alive, id = entry.id] { core->arrived(id); });
    return false;
  }
  auto arrival = std::make_unique<Arrival>(shared_from_this(), entry.keep_alive, entry.id);
  hand_over(arrival.get());
  hipError_t result = hipSuccess;
  if (hip().hipLaunchHostFunc != nullptr) {
    result = hip().hipLaunchHostFunc(stream_.handle(), &on_arrival, arrival.get());
  } else {
    result = hip().hipStreamAddCallback(
        stream_.handle(), [](hipStream_t, hipError_t, void* data) { on_arrival(data); },
        arrival.get(), 0);
  }
  if (result != hipSuccess) {
    return finish(entry, check(hip(), result, "Asking to be told when a stream has come so far"));
  }
  arrival.release();  // NOLINT(bugprone-unused-return-value): on_arrival owns it
  return false;
}

// On HIP's thread, which is not for our work.
void QueueCore::on_arrival(void* data) {
  take_over(data);
  Workers::instance().run([data] {
    const std::unique_ptr<Arrival> arrival(static_cast<Arrival*>(data));
    arrival->core->arrived(arrival->id);
  });
}

void QueueCore::arrived(uint64_t id) {
  Entry* entry = nullptr;
  {
    const std::lock_guard lock(stream_.order());
    // It is gone if the stream has been lost meanwhile.
    if (entries_.empty() || entries_.front()->id != id) return;
    entry = entries_.front().get();
    entry->phase = Phase::kRunning;
    const bool timed = device_.profiler().wants(entry->operation->facts().kind);
    if (timed) entry->began_ns = now_ns();
  }
  entry->operation->run(*this, *entry);
}

void QueueCore::ran(Entry& entry, const Status& outcome) {
  const std::shared_ptr<QueueCore> keep = shared_from_this();
  const Ref<Device> device = entry.keep_alive;
  {
    const std::lock_guard lock(stream_.order());
    if (entry.began_ns != 0 && !entry.operation->issues_after_run()) {
      device_.profiler().add_host(*this, entry.operation->facts(), entry.began_ns, now_ns());
    }
    entry.outcome = outcome;
    entry.phase = Phase::kRan;
  }
  Progress::instance().changed();
}

}  // namespace halyard::hip
