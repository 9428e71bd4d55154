#include "drivers/hip/stream.h"

#include <algorithm>

#include "drivers/hip/semaphore.h"
#include "hal/contract/objects.h"
#include "hal/error.h"
#include "hal/text.h"

namespace halyard::hip {

Result<hipEvent_t> Stream::take_event() {
  {
    const std::lock_guard lock(marks_mutex_);
    if (!events_.empty()) {
      const hipEvent_t event = events_.back();
      events_.pop_back();
      return event;
    }
  }
  // An event belongs to the device that is current when it is made.
  const CurrentDevice current(hip_, device_);
  hipEvent_t event = nullptr;
  HALYARD_RETURN_IF_ERROR(check(hip_, hip_.hipEventCreateWithFlags(&event, hipEventDisableTiming),
                                "Creating an event"));
  return event;
}

bool Stream::write_word(uint64_t number) {
  // What HIP calls the address is not const; the device writes.
  void* const word = const_cast<std::atomic<uint64_t>*>(word_);
  if (hip_.hipStreamWriteValue64(handle_, word, number, 0) == hipSuccess) return true;
  words_->give_up();
  return false;
}

Status Stream::mark(bool for_stream) {
  const uint64_t number = number_.load(std::memory_order_relaxed);
  const bool marked = marked_ == number;
  if (marked && (!for_stream || recorded_ == number)) return {};
  MarkFacts facts;
  if (word_ != nullptr && !marked) {
    if (words_->writes() == DoneWords::Writes::kUnknown && word_->load() != 0) words_->learn(true);
    const DoneWords::Writes writes = words_->writes();
    facts.may_write = writes != DoneWords::Writes::kNever;
    facts.writes_arrive = writes == DoneWords::Writes::kArrive;
  }
  const uint32_t wanted = wants_events_.load(std::memory_order_relaxed);
  if (wanted != 0) wants_events_.store(wanted - 1, std::memory_order_relaxed);
  facts.for_stream = for_stream || wanted != 0;
  facts.kept = number - released_.load(std::memory_order_relaxed);
  facts.all_kept = keep(number - counted_);
  counted_ = number;
  MarkPlan plan = plan_mark_kind(facts);
  Mark mark = {.number = number};
  if (plan.word) {
    mark.written = write_word(number);
    plan.event |= !mark.written;
  }
  hipError_t result = hipSuccess;
  if (plan.event) {
    HALYARD_ASSIGN_OR_RETURN(mark.event, take_event());
    result = hip_.hipEventRecord(mark.event, handle_);
  }
  const std::lock_guard lock(marks_mutex_);
  if (result != hipSuccess) {
    events_.push_back(mark.event);
    const Status status = loss(result, "Recording an event");
    lose_locked(status);
    return status;
  }
  marked_ = number;
  if (plan.event) {
    recorded_ = number;
    let_release(number);
  }
  marks_.push_back(mark);
  return {};
}

bool Stream::offers_event(uint64_t number) {
  wants_events_.store(kEventsAfterWait, std::memory_order_relaxed);
  {
    const std::lock_guard lock(marks_mutex_);
    if (known_done(number)) return true;
    if (const auto mark = event_at(number); mark != marks_.end() && mark->number == number) {
      return true;
    }
  }
  const std::unique_lock lock(order_, std::try_to_lock);
  return lock.owns_lock() && number_.load(std::memory_order_relaxed) == number && !lost() &&
         mark(true).ok();
}

void Stream::release_commands() {
  if (hip_.synchronise(handle_) == hipSuccess) let_release(number());
}

uint64_t Stream::keep(uint64_t operations) {
  static std::atomic<uint64_t> all{0};
  return all.fetch_add(operations, std::memory_order_relaxed) + operations;
}

void Stream::let_release(uint64_t number) {
  keep(released_.load(std::memory_order_relaxed) - counted_);
  counted_ = number;
  released_.store(number, std::memory_order_relaxed);
}

Status Stream::wait_for(const StreamPoint& point) {
  Stream& other = *point.stream;
  {
    // Before it waits: a thread that loses the other one finds either this, or that it has not
    // begun.
    const std::lock_guard lock(marks_mutex_);
    std::erase_if(awaited_, [](const StreamPoint& p) { return p.stream->known_done(p.number); });
    awaited_.push_back(point);
  }
  const Status status = wait_for_event(other, point.number);
  if (!status.ok()) {
    const std::lock_guard lock(marks_mutex_);
    awaited_.pop_back();  // added under order(), as all are
  }
  return status;
}

Status Stream::wait_for_event(Stream& other, uint64_t number) {
  const std::lock_guard lock(other.marks_mutex_);
  // Then its mark may be forgotten, and the next one is for later work.
  if (other.known_done(number)) return {};
  if (other.lost()) return other.fault_;
  const auto mark = other.event_at(number);
  if (mark == other.marks_.end()) {
    return error(StatusCode::kInternal,
                 "Internal error: a stream waits for an operation of another one (number {}) that "
                 "has no event.",
                 number);
  }
  return check(hip_, hip_.hipStreamWaitEvent(handle_, mark->event, 0),
               "Waiting for another stream's event");
}

bool Stream::awaits(const Stream& other) {
  const std::lock_guard lock(marks_mutex_);
  return std::any_of(awaited_.begin(), awaited_.end(), [&other](const StreamPoint& point) {
    return point.stream == &other && !point.stream->known_done(point.number);
  });
}

bool Stream::awaits_device(int device) {
  const std::lock_guard lock(marks_mutex_);
  return std::any_of(awaited_.begin(), awaited_.end(), [device](const StreamPoint& point) {
    return point.stream->device() == device && !point.stream->known_done(point.number);
  });
}

bool Stream::awaits_any() {
  const std::lock_guard lock(marks_mutex_);
  return std::any_of(awaited_.begin(), awaited_.end(), [](const StreamPoint& point) {
    return !point.stream->known_done(point.number);
  });
}

Result<void*> Stream::scratch() {
  if (scratch_ == nullptr) {
    const CurrentDevice current(hip_, device_);
    HALYARD_RETURN_IF_ERROR(
        check(hip_, hip_.hipMalloc(&scratch_, kScratch), "Allocating a stream's scratch memory"));
  }
  return scratch_;
}

// ROCclr 5.2.3 fills up to a multiple of 8, then by 8, then the rest, each with a piece of a 4 KiB
// buffer of the stream's; at its end it waits (KernelBlitManager::ConstantBufferOffset).
bool Stream::takes_fill(uint64_t address, uint64_t size) {
  constexpr uint64_t kPieces = 32;
  const uint64_t head = -address % 8;
  const uint64_t rest = size - head;
  const uint64_t pieces = (head != 0 ? 1u : 0u) + (rest >= 8 ? 1u : 0u) + (rest % 8 != 0 ? 1u : 0u);
  if (fills_ % kPieces + pieces >= kPieces && state_of(number()) == PointState::kPending) {
    return false;
  }
  fills_ += pieces;
  return true;
}

std::deque<Stream::Mark>::iterator Stream::mark_at(uint64_t number) {
  return std::lower_bound(marks_.begin(), marks_.end(), number,
                          [](const Mark& mark, uint64_t n) { return mark.number < n; });
}

std::deque<Stream::Mark>::iterator Stream::event_at(uint64_t number) {
  return std::find_if(mark_at(number), marks_.end(),
                      [](const Mark& mark) { return mark.event != nullptr; });
}

void Stream::forget_done() {
  while (!marks_.empty() && known_done(marks_.front().number)) {
    const Mark& mark = marks_.front();
    if (mark.written && words_->writes() == DoneWords::Writes::kUnknown) {
      words_->learn(word_->load(std::memory_order_acquire) >= mark.number);
    }
    if (mark.event != nullptr) events_.push_back(mark.event);
    marks_.pop_front();
  }
}

bool Stream::passes(size_t index) {
  if (marks_[index].event == nullptr) return false;  // the word would have said so
  const hipError_t result = hip_.query(marks_[index].event);
  if (result == hipErrorNotReady) return false;
  if (result != hipSuccess) {
    lose_locked(loss(result, "Work on a HIP stream"));
    return false;
  }
  const uint64_t number = marks_[index].number;
  if (completed_.load(std::memory_order_relaxed) < number) {
    completed_.store(number, std::memory_order_release);
  }
  forget_done();
  return true;
}

PointState Stream::state_of(uint64_t number) {
  if (known_done(number)) return PointState::kReached;
  const std::lock_guard lock(marks_mutex_);
  forget_done();
  const auto mark = mark_at(number);
  if (!lost() && mark != marks_.end()) passes(static_cast<size_t>(mark - marks_.begin()));
  if (known_done(number)) return PointState::kReached;
  return lost() ? PointState::kFailed : PointState::kPending;
}

PointState Stream::settled_state_of(uint64_t number) {
  if (known_done(number)) return PointState::kReached;
  if (const std::unique_lock lock(order_, std::try_to_lock);
      lock.owns_lock() && marked_ < number && !lost()) {
    mark().ignore();
  }
  return state_of(number);
}

void Stream::poll() {
  const std::lock_guard lock(marks_mutex_);
  forget_done();
  // An event that is not done costs some microseconds, and marks before one that is done are done:
  // in growing steps from the oldest.
  size_t step = 1;
  while (!marks_.empty() && !lost()) {
    if (passes(std::min(step, marks_.size()) - 1)) {
      step *= 2;
    } else if (step == 1) {
      return;
    } else {
      step = 1;
    }
  }
}

// HIP runs callbacks on the thread that lets go of commands. (hipEventElapsedTime waits for that
// thread in 5.2.3, and from 5.7 on for the GPU only.)
hipError_t Stream::probe() {
  const std::unique_lock order(order_, std::try_to_lock);
  if (!order.owns_lock()) return hipErrorNotReady;
  probe_is_through_.store(false, std::memory_order_relaxed);
  const auto on_hips_thread = [](hipStream_t, hipError_t, void* stream) {
    static_cast<Stream*>(stream)->probe_is_through_.store(true, std::memory_order_release);
  };
  const CurrentDevice current(hip_, device_);
  const hipError_t result = hip_.hipStreamAddCallback(handle_, on_hips_thread, this, 0);
  if (result == hipSuccess && !probed_once_) probed_ = number();
  return result;
}

// The thread may take what came later first, but not what came after it has been there. So a second
// probe follows when the first is through.
bool Stream::let_go(uint64_t number) {
  const std::lock_guard lock(probe_mutex_);
  if (lost()) return !may_use(number);
  while (let_go_.load(std::memory_order_relaxed) < number && !lost() && !given_back_.load()) {
    if (!probing_) {
      const hipError_t result = probe();
      if (result == hipErrorNotReady) return false;
      if (result != hipSuccess) return true;  // nothing more can be found out
      probing_ = true;
    }
    if (!probe_is_through_.load(std::memory_order_acquire)) return false;
    probing_ = false;
    if (probed_once_) let_go_.store(probed_, std::memory_order_release);
    probed_once_ = !probed_once_;
  }
  return true;
}

// Operations are done in order, so the first that is not done runs; what is marked together is not
// told apart.
std::string Stream::describe_running() {
  poll();
  const uint64_t first = first_running();
  const uint64_t last = number() + 1;  // which is maybe being put onto the stream
  std::vector<std::string_view> names;
  for (uint64_t number = first; number <= last && number < first + kRemembered; ++number) {
    const Function* const function = launch_at(number);
    if (function == nullptr) continue;
    const std::string_view name = driver::info_of(*function).name;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  if (names.empty()) return {};
  std::string text = names.size() == 1 ? "the kernel " : "one of the kernels ";
  for (size_t i = 0; i < names.size(); ++i) {
    text += fmt::format("{}\"{}\"", i == 0 ? "" : ", ", short_name(names[i]));
  }
  return text;
}

Status Stream::loss(hipError_t result, std::string_view doing) const {
  return error(code_for(result),
               "{} fails: {}. The queue is lost with all that is queued behind it; make a new one.",
               doing, describe(hip_, result));
}

void Stream::lose_locked(const Status& cause) {
  if (lost()) return;
  // What is written later does not count.
  completed_.store(done(), std::memory_order_release);
  fault_ = cause;
  lost_.store(true, std::memory_order_release);
  SemaphoreImpl::count_failure();
}

void Stream::lose(const Status& cause) {
  poll();  // what was done before is done
  const std::lock_guard lock(marks_mutex_);
  lose_locked(cause);
}

bool Stream::abandon(const Status& cause) {
  poll();  // what was done before is done
  const std::lock_guard lock(marks_mutex_);
  if (lost()) return false;
  abandoned_.store(true, std::memory_order_release);
  lose_locked(cause);
  return true;
}

bool Stream::has_ended() {
  // The end of all that is on it shows in a mark; unless a thread is still putting something there.
  if (const std::unique_lock order(order_, std::try_to_lock); order.owns_lock()) mark().ignore();
  const std::lock_guard lock(marks_mutex_);
  if (ended_ || known_idle()) return true;
  ended_ = word_ != nullptr && word_->load(std::memory_order_acquire) >= number();
  if (ended_) return true;
  if (marks_.empty() || marks_.back().number < number()) return false;
  const hipEvent_t last = marks_.back().event;
  ended_ = last != nullptr && hip_.query(last) == hipSuccess;
  return ended_;
}

bool Stream::may_use(uint64_t number) {
  if (known_done(number)) return false;
  if (!lost()) return settled_state_of(number) == PointState::kPending;
  return abandoned() && !has_ended();
}

Status Stream::fault() const {
  const std::lock_guard lock(marks_mutex_);
  return fault_;
}

Streams& Streams::instance() {
  // Leaked on purpose: the vendor's threads outlive main.
  static auto* const streams = new Streams;
  return *streams;
}

// HIP gives a new stream the hardware queue that fewest streams have, so streams made one after the
// other are on different ones, as far as there are some. Whoever uses few at a time is to find them
// apart: the oldest that is free comes first. In one with work left its new user would wait for
// that, so such streams are passed over, unless there are many.
Stream* Streams::take_spare(const Hip& hip, int device, int priority) {
  constexpr size_t kManyBusy = 8;
  Stream* oldest = nullptr;
  Stream* oldest_busy = nullptr;
  size_t busy = 0;
  for (Stream* const stream : spare_) {
    if (&stream->hip() != &hip || stream->device() != device || stream->priority() != priority ||
        stream->external_ || stream->lost()) {
      continue;
    }
    const bool works = stream->settled_state_of(stream->number()) == PointState::kPending;
    busy += works ? 1 : 0;
    Stream*& best = works ? oldest_busy : oldest;
    if (best == nullptr || stream->serial_ < best->serial_) best = stream;
  }
  Stream* const taken = oldest == nullptr && busy >= kManyBusy ? oldest_busy : oldest;
  if (taken != nullptr) spare_.erase(std::find(spare_.begin(), spare_.end(), taken));
  return taken;
}

Result<Stream*> Streams::take(const Hip& hip, int device, int priority) {
  const std::lock_guard lock(mutex_);
  HALYARD_RETURN_IF_ERROR(fault_of_locked(device));
  if (Stream* const spare = take_spare(hip, device, priority); spare != nullptr) return spare;
  const CurrentDevice current(hip, device);
  auto made = std::make_unique<Stream>(hip, device, priority);
  HALYARD_RETURN_IF_ERROR(
      check(hip, hip.hipStreamCreateWithPriority(&made->handle_, hipStreamNonBlocking, priority),
            "Creating a stream"));
  // What other code may put on a hardware queue, nobody here knows.
  if (hip.was_open()) made->share();
  if (DoneWords* const words = DoneWords::of(hip, device); words != nullptr) {
    made->words_ = words;
    made->word_ = words->take();
  }
  return add(std::move(made));
}

Stream* Streams::add(std::unique_ptr<Stream> stream) {
  stream->older_ = newest_.load(std::memory_order_relaxed);
  stream->serial_ = all_.size();
  newest_.store(stream.get(), std::memory_order_release);
  all_.push_back(std::move(stream));
  return all_.back().get();
}

Stream* Streams::import(const Hip& hip, int device, hipStream_t handle) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(spare_.begin(), spare_.end(), [&](const Stream* stream) {
    return &stream->hip() == &hip && stream->device() == device && stream->external_ &&
           stream->known_idle() && !stream->lost();
  });
  Stream* stream = nullptr;
  if (found != spare_.end()) {
    stream = *found;
    spare_.erase(found);
  } else {
    stream = add(std::make_unique<Stream>(hip, device, 0));
  }
  stream->external_ = true;
  stream->given_back_.store(false);
  stream->handle_ = handle;
  return stream;
}

void Streams::give(Stream& stream) {
  if (Hip::process_ends()) return;
  // Its owner may destroy an imported stream from now on; HIP does the work in it before that.
  if (stream.external_ && !stream.lost()) {
    const std::lock_guard lock(stream.order_);
    stream.mark().ignore();
    stream.given_back_.store(true);
  }
  const std::lock_guard lock(mutex_);
  if (!stream.lost()) spare_.push_back(&stream);
}

std::vector<StreamPoint> Streams::busy(uint64_t users) {
  std::vector<StreamPoint> points;
  const std::lock_guard lock(mutex_);
  for (const auto& stream : all_) {
    if ((stream->user_bit() & users) == 0 || stream->known_idle()) continue;
    if (stream->lost() && !stream->abandoned()) continue;
    points.push_back({stream.get(), stream->number()});
  }
  return points;
}

std::vector<StreamPoint> Streams::kept(uint64_t users) {
  std::vector<StreamPoint> points;
  const std::lock_guard lock(mutex_);
  for (const auto& stream : all_) {
    const uint64_t number = stream->number();
    if (stream->let_go_.load(std::memory_order_acquire) < number &&
        (!stream->abandoned() || (stream->user_bit() & users) != 0)) {
      points.push_back({stream.get(), number});
    }
  }
  return points;
}

namespace {

bool is_done(const StreamPoint& point) {
  return !point.stream->may_use(point.number);
}

}  // namespace

bool Streams::all_idle() {
  const std::vector<StreamPoint> points = busy();
  return std::all_of(points.begin(), points.end(), &is_done);
}

bool Streams::idle(int device) {
  std::vector<StreamPoint> points = busy();
  std::erase_if(points, [&](const StreamPoint& p) { return p.stream->device() != device; });
  return std::all_of(points.begin(), points.end(), &is_done);
}

// Work that is not counted, such as a wait for another device's, keeps a stream busy too. One that
// is lost gets no work.
std::optional<StillStreams> Streams::hold_still_locked(std::unique_lock<std::mutex> lock,
                                                       std::optional<int> device) {
  std::optional<StillStreams> still(std::in_place, std::move(lock));
  for (const auto& stream : all_) {
    if ((device.has_value() && stream->device() != *device) || stream->lost()) continue;
    if (!still->add(stream->order_) || !stream->known_idle() || stream->awaits_any()) return {};
  }
  return still;
}

std::optional<StillStreams> Streams::hold_still(std::optional<int> device) {
  if (device.has_value() ? !idle(*device) : !all_idle()) return {};
  return hold_still_locked(std::unique_lock(mutex_), device);
}

// HIP waits for a packet of its own behind the work. Streams share hardware queues, so the work of
// another one could hold that up, and so could the loss of the device: none of them may have work,
// or get some meanwhile.
void Streams::release_commands(Stream& stream) {
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || blocks_locked(stream.device())) return;
  for (const auto& other : all_) {
    if (other->device() != stream.device()) continue;
    if (other->external_ || other->is_shared()) return;
    // Nobody may have waited for its last work. Asking puts a mark behind that, if it has none,
    // so that a later call finds the stream idle.
    if (!other->known_idle()) other->settled_state_of(other->number());
  }
  if (const auto still = hold_still_locked(std::move(lock), stream.device()); still.has_value()) {
    stream.release_commands();
  }
}

std::vector<Stream*> Streams::of_device(int device) {
  std::vector<Stream*> streams;
  const std::lock_guard lock(mutex_);
  for (const auto& stream : all_) {
    if (stream->device() == device) streams.push_back(stream.get());
  }
  return streams;
}

void Streams::lose_device(int device, const Status& cause) {
  const std::lock_guard lock(mutex_);
  std::vector<int> lost = {device};
  for (size_t i = 0; i < lost.size(); ++i) {
    lost_devices_.emplace(lost[i], cause);
    for (const auto& stream : all_) {
      const int other = stream->device();
      if (std::find(lost.begin(), lost.end(), other) == lost.end() &&
          stream->awaits_device(lost[i])) {
        lost.push_back(other);
      }
    }
  }
  for (const auto& stream : all_) {
    if (!lost_devices_.contains(stream->device())) continue;
    stream->abandoned_.store(false, std::memory_order_release);
    stream->lose(cause);
  }
}

void Streams::abandon(Stream& stream, const Status& cause) {
  const std::lock_guard lock(mutex_);
  if (!stream.abandon(cause)) return;
  const Status follows = error(
      StatusCode::kCancelled,
      "The queue's work waits, within HIP, for a queue that was given up, so it cannot go on: {}",
      cause.message());
  std::vector<Stream*> given_up = {&stream};
  for (size_t i = 0; i < given_up.size(); ++i) {
    for (const auto& other : all_) {
      if (!other->lost() && other->awaits(*given_up[i]) && other->abandon(follows)) {
        given_up.push_back(other.get());
      }
    }
  }
}

Status Streams::fault_of_locked(int device) const {
  const auto lost = lost_devices_.find(device);
  return lost != lost_devices_.end() ? lost->second : Status();
}

Status Streams::fault_of(int device) {
  const std::lock_guard lock(mutex_);
  return fault_of_locked(device);
}

bool Streams::blocks_locked(int device) const {
  if (lost_devices_.contains(device)) return true;
  return std::any_of(all_.begin(), all_.end(), [device](const auto& stream) {
    if (stream->device() != device || !stream->lost()) return false;
    return !stream->abandoned() || stream->may_use(stream->number());
  });
}

bool Streams::blocks(int device) {
  const std::lock_guard lock(mutex_);
  return blocks_locked(device);
}

bool Streams::any_blocks() {
  const std::lock_guard lock(mutex_);
  return std::any_of(all_.begin(), all_.end(),
                     [this](const auto& stream) { return blocks_locked(stream->device()); });
}

}  // namespace halyard::hip
