#include "plugins/sdk/serial_core.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "hal/error.h"
#include "hal/text.h"
#include "plugins/sdk/clock.h"
#include "plugins/sdk/device_clock.h"
#include "plugins/sdk/loss.h"
#include "plugins/sdk/serial_device.h"
#include "plugins/sdk/serial_executable.h"

namespace halyard {
namespace {

// So long SerialCore::abandon waits for what can run to be begun.
constexpr uint64_t kBeginsWithinNs = 100'000'000;

}  // namespace

Result<std::unique_ptr<SerialCore>> SerialCore::create(SerialDevice& device) {
  std::unique_ptr<SerialCore> core(new SerialCore(device));
  HALYARD_RETURN_IF_ERROR(core->open());
  return core;
}

Status SerialCore::open() {
  HALYARD_RETURN_IF_ERROR(device_.allocate_memory(MemoryType::kHost, kArenaBytes, &arena_));
  HALYARD_ASSIGN_OR_RETURN(engine_, device_.make_engine(*this));
  return thread_.start("halyard-queue", "queues need one each", [this] { return look(); });
}

SerialCore::~SerialCore() {
  thread_.stop();
  engine_ = nullptr;
  if (arena_ != nullptr) device_.free_memory(arena_);
}

uint32_t SerialCore::capacity(const SerialDevice& device, uint32_t wanted) {
  constexpr uint32_t kUsual = 4096;
  const uint32_t asked = device.options().capacity(wanted);
  const DeviceDetails& details = device.facts().details;
  const uint32_t most = details.max_queue_packets != 0 ? details.max_queue_packets : kUsual;
  return std::max(details.min_queue_packets,
                  std::bit_ceil(std::min(asked == 0 ? kUsual : asked, most)));
}

bool SerialCore::take(uint32_t capacity) {
  if (taken_.exchange(true)) return false;
  // Asked only now: until then another queue can have it, use it and let it go.
  if (!is_idle() || !fault().ok()) {
    taken_.store(false);
    return false;
  }
  capacity_.store(capacity);
  queue_id_ = DriverDevice::next_queue_id();
  return true;
}

Status SerialCore::submit(SerialOperation operation, const Sync& sync) {
  // Where something is held back the caller may be the one to end that, and a host call may not
  // wait for its own queue.
  const auto room = [&] {
    const std::lock_guard lock(mutex_);
    const bool full =
        fault_.ok() && entries_.size() >= capacity_.load() && sync.wait.empty() && held_ == 0;
    return full ? PointState::kPending : PointState::kReached;
  };
  if (!thread_.is_current()) SerialProgress::instance().wait_until(room, Deadline::infinite());
  {
    const std::lock_guard lock(mutex_);
    if (!fault_.ok()) return fault_;
    HALYARD_ASSIGN_OR_RETURN(HeldSync held, HeldSync::add(this, operation.name(), sync));
    Entry& entry = entries_.emplace_back();
    static_cast<SerialOperation&>(entry) = std::move(operation);
    entry.sync = std::move(held);
    entry.keep_alive = Ref<Device>::retain(&device_);
    entry.index = submitted_.fetch_add(1, std::memory_order_acq_rel);
    entry.timed = device_.profiler().wants_any(entry.kinds);
    if (entry.timed) timed_.fetch_add(1);
    if (!sync.wait.empty()) ++held_;
    // Where nothing can keep a dealloca from its turn others may have the memory behind it.
    if (entry.given_back && held_ == 0) entry.given_back->done(point_of(entry));
    if (entry.given_back && sync.wait.empty()) entry.given_back->ahead(point_of(entry).queue);
  }
  SerialProgress::instance().notify();
  return {};
}

Status SerialCore::fault() const {
  const std::lock_guard lock(mutex_);
  return fault_;
}

std::string SerialCore::describe() const {
  const std::lock_guard lock(mutex_);
  if (!running_.empty()) return running_;
  return entries_.empty() ? "nothing" : fmt::format("a {}", entries_.front().name());
}

void SerialCore::lose(std::string_view words) {
  lose(error(StatusCode::kInternal,
             "On {} {} fails: {}. The queue is lost with all that is queued behind it; make a new "
             "one.",
             device_.info().name, describe(), words));
}

void SerialCore::lose(const Status& cause) {
  lose(cause, Loss::kDead);
}

void SerialCore::lose(const Status& cause, Loss loss) {
  {
    const std::lock_guard lock(mutex_);
    if (!fault_.ok()) return;
    fault_ = cause;
    loss_ = loss;
    lost_.store(true);
  }
  SerialProgress::instance().notify();
}

// The thread may be within a host call that does not end: the semaphores fail at once.
void SerialCore::abandon() {
  // What could run is begun, as on a queue that the device itself goes through.
  const auto begun = [this] {
    const std::lock_guard lock(mutex_);
    if (entries_.empty() || entries_.front().begun || !fault_.ok()) return PointState::kReached;
    Status ignored;
    const bool held = evaluate_waits(entries_.front(), &ignored) == PointState::kPending;
    return held ? PointState::kReached : PointState::kPending;
  };
  SerialProgress::instance().wait_until(begun, Deadline::after_ns(kBeginsWithinNs));
  const std::string doing = describe();
  std::vector<HeldPoint> points;
  {
    const std::lock_guard lock(mutex_);
    if (!fault_.ok()) return;
    const bool waits = !entries_.empty() && !entries_.front().started;
    fault_ = queue_abandoned(device_.info().name,
                             entries_.empty() ? "nothing is queued"
                             : waits          ? "operations that wait for semaphores are queued"
                                              : doing + " has not ended");
    loss_ = Loss::kAbandoned;
    lost_.store(true);
    for (Entry& entry : entries_) {
      const std::vector<HeldPoint>& signals = entry.sync.signals();
      points.insert(points.end(), signals.begin(), signals.end());
      if (entry.given_back) entry.given_back->cancel(point_of(entry));
    }
  }
  for (const HeldPoint& point : points) point.semaphore->fail_with(fault());
  SerialProgress::instance().notify();
}

bool SerialCore::look() {
  const uint64_t seen = SerialProgress::instance().changes();
  bool progress = false;
  while (advance()) progress = true;
  if (!in_flight_) {
    SerialProgress::instance().wait(
        seen, Deadline::after_ns(1'000'000'000 / SerialEngine::kLooksPerSecond));
  }
  return progress;
}

// Operations start in order as soon as they need not wait, although the device does one at a time:
// a failure shows, and a dealloca counts, while a kernel in front of them runs.
bool SerialCore::start_next() {
  Entry* next = nullptr;
  size_t at = 0;
  {
    const std::lock_guard lock(mutex_);
    while (at < entries_.size() && entries_[at].started) ++at;
    if (at == entries_.size() || !fault_.ok()) return false;
    next = &entries_[at];
  }
  Status failure;
  const PointState state = evaluate_waits(*next, &failure);
  if (state == PointState::kPending) return false;
  if (state == PointState::kFailed) return finish(at, failure), true;
  const std::lock_guard lock(mutex_);
  next->started = true;
  if (!next->sync.waits().empty()) --held_;
  if (next->given_back) next->given_back->done(point_of(*next));
  return true;
}

// Whether there may be more to do at once.
bool SerialCore::advance() {
  bool progress = false;
  while (start_next()) progress = true;
  if (progress) SerialProgress::instance().notify();
  Entry* front = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (entries_.empty()) return false;
    if (fault_.ok()) front = &entries_.front();
  }
  if (front == nullptr) return drop_lost();
  if (!front->started) return false;
  Status failure;
  if (in_flight_) {
    const Result<bool> ended = engine_->is_done();
    if (ended.ok() && !*ended) return false;
    failure = ended.status();
    in_flight_ = false;
  }
  if (!front->begun) {
    times_ = front->timed;
    begin_timing(front->facts, {});
  }
  SerialStep step = SerialStep::kDone;
  if (failure.ok() && front->work) {
    failure = guarded([&]() -> Status {
      HALYARD_ASSIGN_OR_RETURN(step, front->work(*this));
      return {};
    });
  }
  // The work has waited itself, and the queue is lost meanwhile.
  if (in_flight_) return true;
  if (failure.ok() && step == SerialStep::kDone) {
    // It has been abandoned while this thread saw to the end of the work.
    const std::lock_guard lock(mutex_);
    if (loss_ == Loss::kAbandoned) failure = fault_;
  }
  in_flight_ = failure.ok() && step == SerialStep::kStarted;
  if (!failure.ok() || step == SerialStep::kDone) {
    if (failure.ok()) end_timing();
    timing_.reset();
    return finish(0, failure), true;
  }
  bool begun_before = true;
  {
    const std::lock_guard lock(mutex_);
    std::swap(begun_before, front->begun);
  }
  if (!begun_before) SerialProgress::instance().notify();
  return step == SerialStep::kStarted;
}

PointState SerialCore::evaluate_waits(const Entry& entry, Status* failure) {
  PointState all = PointState::kReached;
  for (const HeldPoint& wait : entry.sync.waits()) {
    const PointState state = wait.semaphore->evaluate(wait.value);
    if (state == PointState::kPending) all = state;
    if (state != PointState::kFailed) continue;
    *failure = wait.semaphore->failure();
    return state;
  }
  return all;
}

void SerialCore::finish(size_t position, const Status& outcome) {
  Entry done;
  {
    const std::lock_guard lock(mutex_);
    done = std::move(entries_[position]);
    entries_.erase(entries_.begin() + static_cast<ptrdiff_t>(position));
    if (!done.started && !done.sync.waits().empty()) --held_;
    if (position == 0) running_.clear();
  }
  // Whoever sees the signals finds free what it has used, or has its memory back.
  if (done.given_back) done.given_back->cancel(point_of(done));
  done.given_back = nullptr;
  done.work = nullptr;
  done.blocks.clear();
  if (done.timed) timed_.fetch_sub(1);
  device_.memory().retired().collect();
  done.sync.finish(outcome);
  done.sync.remove();
  {
    const std::lock_guard lock(mutex_);
    completed_.store(entries_.empty() ? submitted_.load() : entries_.front().index,
                     std::memory_order_release);
  }
  SerialProgress::instance().notify();
  // `done` may have the last reference to the device, which then waits for nothing of this thread.
}

// What is in flight of an abandoned queue keeps its place, and its memory, until it ends.
bool SerialCore::drop_lost() {
  Status cause;
  bool abandoned = false;
  size_t count = 0;
  {
    const std::lock_guard lock(mutex_);
    cause = fault_;
    abandoned = loss_ == Loss::kAbandoned;
    count = entries_.size();
  }
  if (in_flight_ && abandoned) {
    const Result<bool> ended = engine_->is_done();
    if (ended.ok() && !*ended) return false;
  }
  in_flight_ = false;
  timing_.reset();
  for (; count != 0; --count) finish(0, cause);
  return true;
}

Result<SerialStep> SerialCore::launch(const SerialLaunch& launch, const std::string& group) {
  if (launch.grid.volume() == 0) return SerialStep::kDone;
  {
    const std::lock_guard lock(mutex_);
    running_ = fmt::format("kernel \"{}\"", short_name(launch.function.info().name));
    if (!group.empty()) running_ += fmt::format(" in {}", group);
  }
  HALYARD_RETURN_IF_ERROR(engine_->launch(launch));
  if (timing_) timing_->launched = true;
  return SerialStep::kStarted;
}

uint64_t SerialCore::next_execution() {
  return device_.profiler().next_execution();
}

void SerialCore::begin_timing(const OperationFacts& facts, const RecordedPlace& place) {
  timing_.reset();
  const bool is_one = facts.kind != ProfileKind::kUnknown;
  if (!is_one || !times_ || !device_.profiler().wants(facts.kind)) return;
  timing_ = Timing{ProfileNote(facts, queue_id_, place), now_ns()};
}

void SerialCore::end_timing() {
  if (!timing_) return;
  TimeSpan span = {timing_->begin_ns, now_ns()};
  uint64_t begin = 0;
  uint64_t end = 0;
  if (timing_->launched && engine_->launch_ticks(&begin, &end)) {
    // The clocks are brought together by some microseconds; it was between what the host has seen.
    const SystemClock clock(device_.clock_source());
    span.begin_ns = std::clamp(clock.to_host_ns(begin), span.begin_ns, span.end_ns);
    span.end_ns = std::clamp(clock.to_host_ns(end), span.begin_ns, span.end_ns);
  }
  device_.profiler().add_ended(std::move(timing_->note), span);
  timing_.reset();
}

Result<SerialStep> SerialCore::copy(const SerialCopy& copy) {
  if (copy.target.host != nullptr && copy.source.host != nullptr) {
    std::memmove(copy.target.host, copy.source.host, copy.size);
    return SerialStep::kDone;
  }
  HALYARD_RETURN_IF_ERROR(engine_->copy(copy));
  return SerialStep::kStarted;
}

Status SerialCore::copy_now(const SerialCopy& what) {
  HALYARD_ASSIGN_OR_RETURN(const SerialStep step, copy(what));
  if (step == SerialStep::kDone) return {};
  Result<bool> ended = engine_->is_done();
  while (ended.ok() && !*ended) {
    in_flight_ = !fault().ok();
    if (in_flight_) return fault();
    ended = engine_->is_done();
  }
  return ended.status();
}

}  // namespace halyard
