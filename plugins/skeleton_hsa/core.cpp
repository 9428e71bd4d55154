#include "queue.h"

#include <hsa/amd_hsa_queue.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "device.h"
#include "drivers/common/loss.h"
#include "executable.h"
#include "hal/error.h"
#include "hal/text.h"

namespace halyard::skeleton {
namespace {

// The thread looks so often whether its queue is lost, or the process ends.
constexpr uint64_t kLooksPerSecond = 100;
// So long Core::abandon waits for what can run to be begun.
constexpr uint64_t kBeginsWithinNs = 100'000'000;

}  // namespace

Result<std::unique_ptr<Core>> Core::create(DeviceImpl& device) {
  std::unique_ptr<Core> core(new Core(device));
  HALYARD_RETURN_IF_ERROR(core->open());
  return core;
}

Status Core::open() {
  const Hsa& hsa = device_.hsa();
  HALYARD_RETURN_IF_ERROR(
      hsa.check(hsa.hsa_signal_create(0, 0, nullptr, &signal_), "Creating a signal"));
  HALYARD_RETURN_IF_ERROR(
      device_.memory().heap(MemoryType::kHost).raw_allocate(kArenaBytes, &arena_base_));
  arena_ = static_cast<std::byte*>(arena_base_);
  HALYARD_RETURN_IF_ERROR(hsa.check(
      hsa.hsa_queue_create(device_.agent(), device_.facts().queue_size, HSA_QUEUE_TYPE_MULTI,
                           &on_error, this, UINT32_MAX, UINT32_MAX, &queue_),
      fmt::format("Creating a queue on {}", device_.info().name)));
  return thread_.start("halyard-queue", "queues need one each", [this] { return look(); });
}

Core::~Core() {
  const Hsa& hsa = device_.hsa();
  thread_.stop();
  if (queue_ != nullptr) hsa.hsa_queue_destroy(queue_);
  if (arena_base_ != nullptr) hsa.hsa_amd_memory_pool_free(arena_base_);
  if (signal_.handle != 0) hsa.hsa_signal_destroy(signal_);
}

HiddenValues Core::hidden_values() const {
  const auto* const amd_queue = reinterpret_cast<const amd_queue_t*>(queue_);
  return {reinterpret_cast<uint64_t>(queue_), amd_queue->private_segment_aperture_base_hi,
          amd_queue->group_segment_aperture_base_hi};
}

uint32_t Core::capacity(const DeviceImpl& device, uint32_t wanted) {
  constexpr uint32_t kUsual = 4096;
  const uint32_t asked = device.options().capacity(wanted);
  return std::max(
      device.facts().queue_size,
      std::bit_ceil(std::min(asked == 0 ? kUsual : asked, device.facts().max_queue_size)));
}

bool Core::take(uint32_t capacity) {
  if (!is_idle() || !fault().ok() || taken_.exchange(true)) return false;
  capacity_.store(capacity);
  return true;
}

Status Core::submit(Operation operation, const Sync& sync) {
  // Where something is held back the caller may be the one to end that, and a host call may not
  // wait for its own queue.
  const auto room = [&] {
    const std::lock_guard lock(mutex_);
    const bool full =
        fault_.ok() && entries_.size() >= capacity_.load() && sync.wait.empty() && held_ == 0;
    return full ? PointState::kPending : PointState::kReached;
  };
  if (!thread_.is_current()) Progress::instance().wait_until(room, Deadline::infinite());
  {
    const std::lock_guard lock(mutex_);
    if (!fault_.ok()) return fault_;
    HALYARD_ASSIGN_OR_RETURN(HeldSync held, HeldSync::add(this, operation.name, sync));
    Entry& entry = entries_.emplace_back();
    static_cast<Operation&>(entry) = std::move(operation);
    entry.sync = std::move(held);
    entry.keep_alive = Ref<Device>::retain(&device_);
    entry.index = submitted_.fetch_add(1, std::memory_order_acq_rel);
    if (!sync.wait.empty()) ++held_;
    // Where nothing can keep a dealloca from its turn others may have the memory behind it.
    if (entry.given_back && held_ == 0) entry.given_back->done(point_of(entry));
    if (entry.given_back && sync.wait.empty()) entry.given_back->ahead(point_of(entry).queue);
  }
  Progress::instance().notify();
  return {};
}

Status Core::fault() const {
  const std::lock_guard lock(mutex_);
  return fault_;
}

std::string Core::describe() const {
  const std::lock_guard lock(mutex_);
  if (!running_.empty()) return running_;
  return entries_.empty() ? "nothing" : fmt::format("a {}", entries_.front().name);
}

void Core::on_error(hsa_status_t status, hsa_queue_t*, void* data) {
  auto& core = *static_cast<Core*>(data);
  core.lose(error(StatusCode::kInternal,
                  "On {} {} fails: {}. The queue is lost with all that is queued behind it; make a "
                  "new one.",
                  core.device_.info().name, core.describe(), core.device_.hsa().words(status)),
            Loss::kDead);
}

void Core::lose(const Status& cause, Loss loss) {
  {
    const std::lock_guard lock(mutex_);
    if (!fault_.ok()) return;
    fault_ = cause;
    loss_ = loss;
    lost_.store(true);
  }
  Progress::instance().notify();
}

// The thread may be within a host call that does not end: the semaphores fail at once.
void Core::abandon() {
  // What could run is begun, as on a queue that the device itself goes through.
  const auto begun = [this] {
    const std::lock_guard lock(mutex_);
    if (entries_.empty() || entries_.front().begun || !fault_.ok()) return PointState::kReached;
    Status ignored;
    const bool held = evaluate_waits(entries_.front(), &ignored) == PointState::kPending;
    return held ? PointState::kReached : PointState::kPending;
  };
  Progress::instance().wait_until(begun, Deadline::after_ns(kBeginsWithinNs));
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
  Progress::instance().notify();
}

bool Core::look() {
  const uint64_t seen = Progress::instance().changes();
  bool progress = false;
  while (advance()) progress = true;
  if (!in_flight_) {
    Progress::instance().wait(seen, Deadline::after_ns(1'000'000'000 / kLooksPerSecond));
  }
  return progress;
}

// Operations start in order as soon as they need not wait, although the device does one at a time:
// a failure shows, and a dealloca counts, while a kernel in front of them runs.
bool Core::start_next() {
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
bool Core::advance() {
  bool progress = false;
  while (start_next()) progress = true;
  if (progress) Progress::instance().notify();
  Entry* front = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (entries_.empty()) return false;
    if (fault_.ok()) front = &entries_.front();
  }
  if (front == nullptr) return drop_lost();
  Status failure;
  if (!front->started || (in_flight_ && !is_signal_done(&failure))) return false;
  Step step = Step::kDone;
  if (failure.ok() && front->work) {
    failure = guarded([&]() -> Status {
      HALYARD_ASSIGN_OR_RETURN(step, front->work(*this));
      return {};
    });
  }
  in_flight_ = failure.ok() && step == Step::kSignal;
  if (!failure.ok() || step == Step::kDone) return finish(0, failure), true;
  bool told = true;
  {
    const std::lock_guard lock(mutex_);
    std::swap(told, front->begun);
  }
  if (!told) Progress::instance().notify();
  return step == Step::kSignal;
}

PointState Core::evaluate_waits(const Entry& entry, Status* failure) {
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

void Core::finish(size_t position, const Status& outcome) {
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
  device_.memory().retired().collect();
  done.sync.finish(outcome);
  done.sync.remove();
  {
    const std::lock_guard lock(mutex_);
    completed_.store(entries_.empty() ? submitted_.load() : entries_.front().index,
                     std::memory_order_release);
  }
  Progress::instance().notify();
  // `done` may have the last reference to the device, which then waits for nothing of this thread.
}

// What is in flight of an abandoned queue keeps its place, and its memory, until it ends.
bool Core::drop_lost() {
  Status cause;
  bool abandoned = false;
  size_t count = 0;
  {
    const std::lock_guard lock(mutex_);
    cause = fault_;
    abandoned = loss_ == Loss::kAbandoned;
    count = entries_.size();
  }
  Status ignored;
  if (in_flight_ && abandoned && !is_signal_done(&ignored)) return false;
  in_flight_ = false;
  for (; count != 0; --count) finish(0, cause);
  return true;
}

bool Core::is_signal_done(Status* failure) {
  const Hsa& hsa = device_.hsa();
  const hsa_signal_value_t left = hsa.hsa_signal_wait_scacquire(
      signal_, HSA_SIGNAL_CONDITION_LT, 1, device_.info().timestamp_hz / kLooksPerSecond,
      HSA_WAIT_STATE_BLOCKED);
  if (left > 0) return false;
  *failure = std::exchange(transfer_failure_, {});
  if (left < 0 && failure->ok()) {
    *failure = error(StatusCode::kInternal, "On {} {} fails.", device_.info().name, describe());
  }
  return true;
}

Step Core::launch(const Function& function, const std::string& group, const Dim3& grid,
                  const Dim3& workgroup, uint32_t lds_bytes) {
  if (grid.volume() == 0) return Step::kDone;
  const Hsa& hsa = device_.hsa();
  const FunctionImpl& kernel = FunctionImpl::of(function);
  {
    const std::lock_guard lock(mutex_);
    running_ = fmt::format("kernel \"{}\"", short_name(kernel.info().name));
    if (!group.empty()) running_ += fmt::format(" in {}", group);
  }
  hsa.hsa_signal_store_screlease(signal_, 1);
  // There is never more than one packet, so that there is room.
  const uint64_t index = hsa.hsa_queue_add_write_index_scacq_screl(queue_, 1);
  auto* const packet =
      static_cast<hsa_kernel_dispatch_packet_t*>(queue_->base_address) + index % queue_->size;
  packet->workgroup_size_x = static_cast<uint16_t>(workgroup.x);
  packet->workgroup_size_y = static_cast<uint16_t>(workgroup.y);
  packet->workgroup_size_z = static_cast<uint16_t>(workgroup.z);
  packet->reserved0 = 0;
  packet->grid_size_x = grid.x;
  packet->grid_size_y = grid.y;
  packet->grid_size_z = grid.z;
  packet->private_segment_size = kernel.private_bytes();
  packet->group_segment_size = lds_bytes;
  packet->kernel_object = kernel.object();
  packet->kernarg_address = arena_;
  packet->reserved2 = 0;
  packet->completion_signal = signal_;
  // The first word last: with it the packet is the device's.
  const uint32_t word = HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE |
                        1 << HSA_PACKET_HEADER_BARRIER |
                        HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                        HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE |
                        grid_dimensions(grid) << (16 + HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS);
  __atomic_store_n(reinterpret_cast<uint32_t*>(packet), word, __ATOMIC_RELEASE);
  hsa.hsa_signal_store_screlease(queue_->doorbell_signal, static_cast<int64_t>(index));
  return Step::kSignal;
}

Result<Step> Core::copy(const std::vector<Piece>& pieces, MemoryType target, MemoryType source) {
  const Hsa& hsa = device_.hsa();
  if (target == MemoryType::kHost && source == MemoryType::kHost) {
    for (const Piece& piece : pieces) std::memmove(piece.target, piece.source, piece.size);
    return Step::kDone;
  }
  const auto agent = [this](MemoryType type) {
    return type == MemoryType::kDevice ? device_.agent() : device_.host_agent();
  };
  auto left = static_cast<hsa_signal_value_t>(pieces.size());
  hsa.hsa_signal_store_screlease(signal_, left);
  for (const Piece& piece : pieces) {
    transfer_failure_ =
        hsa.check(hsa.hsa_amd_memory_async_copy(piece.target, agent(target), piece.source,
                                                agent(source), piece.size, 0, nullptr, signal_),
                  fmt::format("Queueing a copy of {} bytes", piece.size));
    if (!transfer_failure_.ok()) break;
    --left;
  }
  // Those that were not queued; the failure is told when the others are done.
  if (left != 0) hsa.hsa_signal_subtract_scacq_screl(signal_, left);
  return Step::kSignal;
}

Status Core::copy_now(const Piece& piece, MemoryType target, MemoryType source) {
  HALYARD_ASSIGN_OR_RETURN(const Step step, copy({piece}, target, source));
  Status failure;
  while (step == Step::kSignal && !is_signal_done(&failure)) HALYARD_RETURN_IF_ERROR(fault());
  return failure;
}

}  // namespace halyard::skeleton
