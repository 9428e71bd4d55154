#include "drivers/amdgpu/queue_core.h"

#include <hsa/amd_hsa_signal.h>
#include <immintrin.h>
#include <sched.h>
#include <time.h>

#include <algorithm>

#include "drivers/amdgpu/device.h"
#include "drivers/amdgpu/edges.h"
#include "drivers/amdgpu/foreign.h"
#include "drivers/amdgpu/held_queue.h"
#include "drivers/amdgpu/program.h"
#include "drivers/amdgpu/semaphore.h"
#include "drivers/amdgpu/transfers.h"
#include "hal/error.h"
#include "hal/text.h"
#include "plugins/objects.h"

namespace halyard::amdgpu {

QueueCore::QueueCore(DeviceImpl& device, uint32_t capacity, QueueOptions::Priority priority)
    : device_(&device),
      hsa_(device.hsa()),
      mask_(capacity - 1),
      kernarg_block_(device.kernarg_block()),
      capacity_(capacity),
      priority_(priority),
      signals_(hsa_),
      notes_(capacity),
      held_(std::make_unique<RingHeldQueue>(*this)),
      transfers_(std::make_unique<Transfers>(*this)),
      edges_(std::make_unique<Edges>(*this)),
      acquires_(Foreign::instance().unheard_memory()) {}

Result<std::unique_ptr<QueueCore>> QueueCore::create(DeviceImpl& device, uint32_t capacity,
                                                     QueueOptions::Priority priority) {
  std::unique_ptr<QueueCore> core(new QueueCore(device, capacity, priority));
  HALYARD_RETURN_IF_ERROR(core->open());
  return core;
}

Status QueueCore::open() {
  const uint64_t kernarg_bytes = (uint64_t{capacity_} + kMaxKernargBlocks - 1) * kernarg_block_;
  void* kernarg = nullptr;
  HALYARD_RETURN_IF_ERROR(device_->memory().allocate_kernarg(kernarg_bytes, &kernarg));
  kernarg_ = static_cast<std::byte*>(kernarg);

  HALYARD_RETURN_IF_ERROR(signals_.open());
  const hsa_status_t status =
      hsa_.hsa_queue_create(device_->agent(), capacity_, HSA_QUEUE_TYPE_MULTI, &on_error, this,
                            UINT32_MAX, UINT32_MAX, &queue_);
  if (status != HSA_STATUS_SUCCESS) {
    queue_ = nullptr;
    return check(
        hsa_, status,
        fmt::format("Creating a queue of {} packets on {}", capacity_, device_->info().name));
  }
  ring_ = static_cast<Packet*>(queue_->base_address);
  room_.store(capacity_, std::memory_order_release);

  // The fields that the packet processor itself reads (amd_hsa_queue.h). A queue that a tool has
  // put itself in front of has another kind of doorbell; it is then driven through the runtime.
  auto* const amd_queue = reinterpret_cast<amd_queue_t*>(queue_);
  const auto* const doorbell =
      reinterpret_cast<const amd_signal_t*>(queue_->doorbell_signal.handle);
  if (doorbell->kind == AMD_SIGNAL_KIND_DOORBELL) {
    doorbell_ = doorbell->hardware_doorbell_ptr;
    write_index_ = &amd_queue->write_dispatch_id;
  }
  hidden_.queue_address = reinterpret_cast<uint64_t>(amd_queue);
  hidden_.private_base = amd_queue->private_segment_aperture_base_hi;
  hidden_.shared_base = amd_queue->group_segment_aperture_base_hi;

  if (priority_ != QueueOptions::Priority::kNormal && hsa_.hsa_amd_queue_set_priority != nullptr) {
    const hsa_amd_queue_priority_t level = priority_ == QueueOptions::Priority::kHigh
                                               ? HSA_AMD_QUEUE_PRIORITY_HIGH
                                               : HSA_AMD_QUEUE_PRIORITY_LOW;
    HALYARD_RETURN_IF_ERROR(
        check(hsa_, hsa_.hsa_amd_queue_set_priority(queue_, level), "Setting a queue's priority"));
  }
  return {};
}

QueueCore::~QueueCore() {
  // Waits for a running error callback, so nothing that it takes may be held here.
  if (queue_ != nullptr) hsa_.hsa_queue_destroy(queue_);
  transfers_.reset();
  edges_.reset();
  if (kernarg_ != nullptr) device_->memory().free_kernarg(kernarg_);
}

bool QueueCore::reserve_behind(uint64_t index) {
  uint64_t expected = index + 1;
  if (write_index_ != nullptr) [[likely]] {
    return __atomic_compare_exchange_n(write_index_, &expected, index + 2, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_RELAXED);
  }
  return hsa_.hsa_queue_cas_write_index_scacq_screl(queue_, expected, index + 2) == expected;
}

uint64_t QueueCore::reserve_batch(uint32_t leading, const BatchLayout& layout,
                                  const Program* program) {
  const auto lock = uncounted_.lock();
  const uint64_t first = reserve(static_cast<uint32_t>(leading + layout.slots()));
  for (uint32_t i = 0; i < layout.chunks; ++i) {
    uncounted_.add({.first = first + leading + layout.slot(i),
                    .count = layout.size(i),
                    .program = program,
                    .at = layout.begin(i)});
  }
  return first;
}

void QueueCore::publish_run(uint64_t index, const Packet* packets, uint32_t count) {
  if (count == 0) return;
  // The packet processor stops at the first slot, which is invalid until all are written.
  Packet& first = slot(index);
  const uint32_t head = packets[0].words[0];
  for (uint32_t i = 1; i < 16; ++i) first.words[i] = packets[0].words[i];
  constexpr uint32_t kAhead = 8;
  for (uint32_t i = 1; i < count; ++i) {
    prefetch_for_write(&ring_[(index + i + kAhead) & mask_]);
    store_packet(slot(index + i), packets[i]);
  }
  __atomic_store_n(&first.words[0], head, __ATOMIC_RELEASE);
}

uint64_t QueueCore::refresh_room() {
  const uint64_t limit =
      room_limit(completed(), hsa_.hsa_queue_load_read_index_scacquire(queue_), capacity_);
  uint64_t known = room_.load(std::memory_order_relaxed);
  while (known < limit && !room_.compare_exchange_weak(known, limit, std::memory_order_acq_rel)) {
  }
  return limit;
}

bool QueueCore::has_room_at(uint64_t index, uint32_t packets) {
  const uint64_t end = index + packets;
  return end <= room_.load(std::memory_order_acquire) || end <= refresh_room();
}

Status QueueCore::wait_for_room_slowly(uint64_t index, uint32_t packets) {
  constexpr uint32_t kSpins = 32;
  constexpr uint32_t kYields = 256;
  for (uint32_t attempt = 0;; ++attempt) {
    if (lost()) return fault();
    if (index + packets <= refresh_room()) return {};
    if (attempt < kSpins) {
      // Some pauses between looks: each takes the signals' cache lines from the device.
      for (int i = 0; i < 8; ++i) _mm_pause();
    } else if (attempt < kSpins + kYields) {
      sched_yield();
    } else {
      // A kernel that runs for long: leave the core to other threads.
      const timespec pause = {0, 50'000};
      nanosleep(&pause, nullptr);
      transfers_->advance();
    }
  }
}

void QueueCore::write_barrier(uint64_t index, bool interrupt, uint16_t header,
                              hsa_signal_t dependency, hsa_signal_t* completion_override) {
  hsa_barrier_and_packet_t& packet = slot(index).barrier;
  packet.reserved1 = 0;
  packet.dep_signal[0] = dependency;
  for (int i = 1; i < 5; ++i) packet.dep_signal[i].handle = 0;
  packet.reserved2 = 0;
  packet.completion_signal =
      completion_override != nullptr ? *completion_override : signals_.completion(interrupt);
  notes_.note(index, nullptr, interrupt);
  publish(index, header, 0);
}

uint64_t QueueCore::completed() const {
  const uint64_t counted = signals_.completions() + edges_->done();
  // Read after the signals: once they have been tampered with to release waiters, this is set.
  if (lost_.load(std::memory_order_acquire)) [[unlikely]]
    return frozen_.load(std::memory_order_relaxed);
  return with_uncounted(counted);
}

hsa_signal_value_t QueueCore::interrupt_value(uint64_t index) const {
  for (uint32_t attempt = 0; !lost(); ++attempt) {
    // While the number of interrupts stands still, it is that of the packets that are done and
    // raise one, wherever in that time the other two numbers were read.
    uint64_t interrupts = signals_.interrupt_completions();
    const uint64_t counted = signals_.polled_completions() + interrupts + edges_->done();
    if (signals_.interrupt_completions() != interrupts || lost()) continue;
    const uint64_t done = with_uncounted(counted);
    if (done > index) return EpochSignals::interrupt_value(interrupts);
    uint64_t at = done;
    for (; at <= index; ++at) {
      const uint64_t tag = notes_.tag(at);
      if (tag_index(tag) != at) {
        // Of an uncounted run, of which nothing is noted; otherwise not written yet by another
        // thread, or done meanwhile and its slot used again.
        UncountedRun run;
        if (!uncounted_.find(at, &run)) break;
        at = run.counting() - 1;
        continue;
      }
      interrupts += tag_interrupts(tag) ? 1 : 0;
    }
    if (at > index) return EpochSignals::interrupt_value(interrupts);
    if (attempt > 64) sched_yield();
  }
  return EpochSignals::interrupt_value(0);
}

PointState QueueCore::state_of(uint64_t index) const {
  if (completed() > index) return PointState::kReached;
  return lost() ? PointState::kFailed : PointState::kPending;
}

bool QueueCore::is_through(uint64_t index) const {
  if (completed() >= index) return true;
  if (!lost() || (abandoned() && completed_since() < index)) return false;
  return transfers_->quiescent();
}

uint64_t QueueCore::completed_since() const {
  const std::optional<uint64_t> counted = signals_.completions_of_lost();
  if (!counted.has_value()) return frozen_.load(std::memory_order_relaxed);
  return with_uncounted(*counted + edges_->done());
}

Status QueueCore::fault() const {
  const std::lock_guard lock(fault_mutex_);
  return fault_;
}

bool QueueCore::lose(const Status& cause) {
  return lose(cause, false);
}

bool QueueCore::abandon(const Status& cause) {
  return lose(cause, true);
}

bool QueueCore::lose(const Status& cause, bool abandoned) {
  const std::lock_guard lock(fault_mutex_);
  if (lost()) return false;
  frozen_.store(completed(), std::memory_order_relaxed);
  fault_ = cause;
  abandoned_.store(abandoned, std::memory_order_release);
  lost_.store(true, std::memory_order_release);
  SemaphoreImpl::count_failure();
  add_slow_path();
  return true;
}

bool QueueCore::try_release(uint64_t* end) {
  if (lost() && !abandoned()) return true;
  const uint64_t reserved = this->reserved();
  // Packets that raise an interrupt are observed, and release.
  const auto releases = [this](uint64_t index) { return notes_.raises_interrupt(index); };
  if (*end == 0 || releases(*end - 1)) return true;
  if (release_end_.load(std::memory_order_acquire) == reserved || releases(reserved - 1)) {
    *end = reserved;
    return true;
  }
  if (!has_room_at(reserved, 1) || !reserve_behind(reserved - 1)) return false;
  write_barrier(reserved, false, {.kind = PacketKind::kBarrier, .observed = true});
  ring(reserved);
  *end = reserved + 1;
  release_end_.store(*end, std::memory_order_release);
  return true;
}

void QueueCore::release_waiters() {
  signals_.release_waiters();
  edges_->release();
}

std::string QueueCore::describe_current() const {
  // Packets are done in order: the first that is not done is the one being worked on.
  const uint64_t index = completed();
  if (index >= reserved()) return "no kernel (the queue is idle)";
  if (UncountedRun run; uncounted_.find(index, &run) && run.program != nullptr) {
    return describe_run(run);
  }
  const Function* const function = notes_.function(index);
  if (function == nullptr) return fmt::format("a barrier or transfer (packet {})", index);
  return fmt::format("kernel \"{}\" (packet {})", short_name(driver::info_of(*function).name),
                     index);
}

std::string QueueCore::describe_unfinished() const {
  return idle() ? held_->describe() : describe_current() + " has not ended";
}

// Nothing tells how far a run is but the read index, which may be ahead of what is executed; never
// past a barrier, though.
std::string QueueCore::describe_run(const UncountedRun& run) const {
  const uint64_t taken = hsa_.hsa_queue_load_read_index_scacquire(queue_);
  const uint64_t at = std::clamp(taken, run.first, run.counting());
  if (at == run.counting()) return run.program->describe(run.at + run.count - 1);
  return run.program->describe(static_cast<uint32_t>(run.at + (at - run.first)));
}

void QueueCore::on_error(hsa_status_t status, hsa_queue_t*, void* data) {
  auto* const core = static_cast<QueueCore*>(data);
  core->device_->queue_failed(*core, status);
}

}  // namespace halyard::amdgpu
