#include "drivers/hip/queue_core.h"

#include <utility>

#include "drivers/hip/device.h"
#include "drivers/hip/handover.h"
#include "drivers/hip/progress.h"
#include "hal/error.h"
#include "plugins/sdk/loss.h"
#include "plugins/sdk/workers.h"

namespace halyard::hip {

WaitAction QueueCore::plan_wait_for(const SemaphorePoint& wait, StreamPoint* point,
                                    bool* later) const {
  const SemaphoreImpl::Ahead ahead = impl(*wait.semaphore).look_ahead(wait.value, &stream_);
  *point = ahead.point;
  *later = ahead.later;
  WaitFacts facts;
  facts.reached = ahead.state == PointState::kReached;
  facts.failed = ahead.state == PointState::kFailed;
  if (ahead.state == PointState::kPending) {
    facts.submitted = point->stream != nullptr;
    facts.same_queue = point->stream == &stream_;
    facts.on_device =
        facts.submitted && !facts.same_queue && point->stream->offers_event(point->number);
  }
  return plan_wait(facts);
}

QueueCore::WaitPlan QueueCore::plan_waits(Span<const SemaphorePoint> waits, bool on_host) const {
  WaitPlan plan;
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
        plan.awaits_stream |= later || point.stream != nullptr;
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
  if (const StreamPoint after = operation.after(); after.stream != nullptr) {
    HALYARD_RETURN_IF_ERROR(stream_.wait_for(after));
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
  // In a profile, HIP's times of the work are not to be later than the host knew that it was done:
  // an event is later than they are by more than the two clocks differ, and a word is not.
  const bool with_event = operation.needs_mark() || profiler.active();
  if (const Status marked = stream_.mark(with_event); !marked.ok()) {
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
    : HeldQueue(device, stream.order()),
      device_(device),
      stream_(stream),
      capacity_(stream_capacity(capacity)),
      queue_id_(device.next_queue_id()) {
  stream_.set_capacity(capacity_);
}

// What is on a stream depends on nothing that is still to come, so there will be room.
std::unique_lock<std::mutex> QueueCore::lock_with_room() {
  std::unique_lock lock(stream_.order());
  while (stream_.in_flight() >= capacity_ && !any() && !stream_.lost()) [[unlikely]] {
    const uint64_t first = stream_.number() + 1 - capacity_;
    lock.unlock();
    Progress::instance().wait_until([&] { return stream_.settled_state_of(first); },
                                    Deadline::infinite());
    lock.lock();
  }
  return lock;
}

Status QueueCore::submit(Operation& operation, const Sync& sync) {
  Status result;
  bool announce = !sync.signal.empty();
  {
    const std::unique_lock lock = lock_with_room();
    if (stream_.lost()) [[unlikely]]
      return stream_.fault();
    const WaitPlan plan =
        any() ? WaitPlan{.hold = true} : plan_waits(sync.wait, operation.waits_on_host());
    if (!plan.failure.ok()) {
      operation.cancel();
      fail_signals(sync.signal, plan.failure);
    } else if (plan.hold) {
      HALYARD_ASSIGN_OR_RETURN(std::unique_ptr<Operation> copy, operation.hold());
      HALYARD_RETURN_IF_ERROR(push(std::move(copy), sync));
      announce = true;
    } else {
      result = put(operation, plan, sync.signal);
    }
  }
  if (announce) changed();
  return result;
}

Status QueueCore::submit_steps(std::vector<std::unique_ptr<QueueOperation>> steps,
                               const Sync& sync) {
  {
    const std::lock_guard lock(stream_.order());
    if (stream_.lost()) return stream_.fault();
    HALYARD_RETURN_IF_ERROR(push_steps(std::move(steps), sync));
  }
  changed();
  return {};
}

Status QueueCore::submit_host(std::unique_ptr<QueueOperation> operation, const Sync& sync) {
  {
    const std::lock_guard lock(stream_.order());
    if (stream_.lost()) return stream_.fault();
    HALYARD_RETURN_IF_ERROR(push(std::move(operation), sync));
  }
  changed();
  return {};
}

void QueueCore::changed() {
  Progress::instance().changed();
}

void QueueCore::holds(bool any) {
  if (any) {
    Progress::instance().add_holder(shared_from_this());
  } else {
    Progress::instance().remove_holder(*this);
  }
}

std::string QueueCore::describe_unfinished() {
  if (std::string running = stream_.describe_running(); !running.empty()) {
    return running + " has not ended";
  }
  if (!stream_.known_idle()) {
    return fmt::format("operation {} of its stream has not ended", stream_.first_running());
  }
  return describe();
}

void QueueCore::abandon() {
  Streams::instance().abandon(stream_, queue_abandoned(device_.info().name, describe_unfinished()));
  changed();
}

WaitAction QueueCore::action_for(const QueueOperation& operation, const HeldPoint& wait) {
  StreamPoint point;
  bool later = false;
  const WaitAction action = plan_wait_for({wait.semaphore.get(), wait.value}, &point, &later);
  const bool seen_by_host = operation.waits_on_host() && action == WaitAction::kDevice;
  const bool seen_by_poll = action == WaitAction::kHost && point.stream != nullptr;
  awaits_stream_.store(later || seen_by_host || seen_by_poll, std::memory_order_release);
  return seen_by_host ? WaitAction::kHost : action;
}

Result<HeldQueue::Turn> QueueCore::issue(QueueOperation& held, const HeldSync& sync) {
  auto& operation = static_cast<Operation&>(held);
  const WaitPlan plan = plan_waits(views(sync.waits()), operation.waits_on_host());
  awaits_stream_.store(plan.awaits_stream, std::memory_order_release);
  HALYARD_RETURN_IF_ERROR(plan.failure);
  if (plan.hold) return Turn::kLater;
  HALYARD_RETURN_IF_ERROR(put(operation, plan, views(sync.signals())));
  return Turn::kDone;
}

Result<HeldQueue::Turn> QueueCore::reach_host(const QueueOperation&, const HeldSync& sync,
                                              uint64_t id) {
  const WaitPlan plan = plan_waits(views(sync.waits()), false);
  awaits_stream_.store(plan.awaits_stream, std::memory_order_release);
  HALYARD_RETURN_IF_ERROR(plan.failure);
  if (plan.hold) return Turn::kLater;
  for (const StreamPoint& point : plan.points) HALYARD_RETURN_IF_ERROR(stream_.wait_for(point));
  if (plan.points.empty() && stream_.state_of(stream_.number()) == PointState::kReached) {
    return Turn::kDone;
  }
  HALYARD_RETURN_IF_ERROR(ask_for_arrival(id));
  return Turn::kArrives;
}

Status QueueCore::ask_for_arrival(uint64_t id) {
  auto arrival = std::make_unique<Arrival>(shared_from_this(), Ref<Device>::retain(&device_), id);
  hand_over(arrival.get());
  hipError_t result = hipSuccess;
  if (hip().hipLaunchHostFunc != nullptr) {
    result = hip().hipLaunchHostFunc(stream_.handle(), &on_arrival, arrival.get());
  } else {
    result = hip().hipStreamAddCallback(
        stream_.handle(), [](hipStream_t, hipError_t, void* data) { on_arrival(data); },
        arrival.get(), 0);
  }
  HALYARD_RETURN_IF_ERROR(check(hip(), result, "Asking to be told when a stream has come so far"));
  arrival.release();  // NOLINT(bugprone-unused-return-value): on_arrival owns it
  return {};
}

// On HIP's thread, which is not for our work.
void QueueCore::on_arrival(void* data) {
  take_over(data);
  Workers::instance().run([data] {
    const std::unique_ptr<Arrival> arrival(static_cast<Arrival*>(data));
    arrival->core->arrived(arrival->id);
  });
}

bool QueueCore::is_timed(const OperationFacts& facts) const {
  return device_.profiler().wants(facts.kind);
}

void QueueCore::add_time(const OperationFacts& facts, uint64_t begin_ns, uint64_t end_ns) {
  device_.profiler().add_host(facts, queue_id_, begin_ns, end_ns);
}

}  // namespace halyard::hip
