#include "vgpu/queue/aql_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "vgpu/queue/barrier_value.h"
#include "vgpu/queue/kernel_fault.h"
#include "vgpu/queue/signal.h"
#include "vgpu/queue/signal_waits.h"
#include "vgpu/shared_memory_access.h"

namespace halyard::vgpu::queue {

namespace {

constexpr uint16_t kTypeMask = 0xff;

// If packets take no time: a batch smaller than this is followed by this many pauses, or by this
// many if a thread may wait for it.
constexpr uint64_t kWorthwhileBatch = 32;
constexpr uint32_t kBatchRelax = 64;
constexpr uint32_t kToldRelax = 16;

// A packet lies in memory that the host writes.
template <typename Packet>
Packet copy_of(const Packet& packet) {
  const SharedMemoryAccess host_sees;
  return packet;
}

// Of any packet: it is in the same place in all of them.
uint64_t completion_signal(const hsa_kernel_dispatch_packet_t& packet) {
  const SharedMemoryAccess host_sees;
  return packet.completion_signal.handle;
}

}  // namespace

QueueError error_of(isa::Fault::Kind kind) {
  switch (kind) {
    case isa::Fault::Kind::kAperture:
    case isa::Fault::Kind::kMemory:
      return QueueError::kAperture;
    case isa::Fault::Kind::kIllegalInstruction:
      return QueueError::kIllegalInstruction;
    default:
      return QueueError::kTrap;
  }
}

AqlQueue::AqlQueue(const Device& device, uint32_t id, const Ring& ring,
                   const AqlQueueMemory& memory)
    : HardwareQueue(device, id, "aql", ring),
      memory_(memory),
      signals_(device.memory),
      runtime_signals_(device.runtime_memory),
      mailboxes_(device.runtime_memory),
      code_(device.memory),
      pm4_(device_, id, idle_, pm4_owner_) {
  // A dispatch that runs takes long enough to publish every index. One that does not would only
  // pass the index's cache line to and fro.
  if (device.engine == nullptr)
    publish_interval_ = std::clamp<uint64_t>(packets_in_ring() / 4, 1, 32);
}

// Several packets of a batch that takes no time often share a signal: they finish at once, and
// their signal's line, which the host may be watching, is written once.
void AqlQueue::complete(const Completion& completion) {
  if (completion.signal == 0) return;
  if (completion.signal != pending_.signal) {
    flush();
    pending_ = completion;
  } else {
    ++pending_.count;
    pending_.index = completion.index;
    pending_.end = completion.end;
  }
  if (device_.engine != nullptr) flush();
}

// The time stamps of a finished packet, then value -= 1 (or, for several packets that finish at
// once, -= count), then the sleepers. The signal is looked at again: a kernel may have run for
// long.
void AqlQueue::flush() {
  if (pending_.signal == 0) return;
  const Completion done = std::exchange(pending_, {});
  amd_signal_t* const signal = check_signal(done.signal, done.index, "completion signal");
  if (signal == nullptr) return;
  const Wakeup wakeup = wakeup_of(*signal);
  if (wakeup.mailbox != 0 && !mailbox_usable(wakeup.mailbox)) {
    return stop_at(wakeup.mailbox, done.index,
                   fmt::format("the completion signal ({:#x}) has an invalid mailbox ({:#x})",
                               done.signal, wakeup.mailbox));
  }
  const SharedMemoryAccess host_sees;
  signal->start_ts = done.start;
  signal->end_ts = done.end;
  // Sequentially consistent, on x86 what a release costs anyway: wake() says why.
  __atomic_fetch_sub(&signal->value, done.count, __ATOMIC_SEQ_CST);
  SignalWait::written(done.signal);
  wake(wakeup, *device_.interrupts);
  told_ |= wakeup.mailbox != 0;
}

void AqlQueue::publish(uint64_t index) {
  flush();
  if (index == published_) return;
  published_ = index;
  __atomic_store_n(ring().read_index, index, __ATOMIC_RELEASE);
}

void AqlQueue::run() {
  uint64_t next = __atomic_load_n(ring().read_index, __ATOMIC_ACQUIRE);
  published_ = next;
  while (!stopping() && !failed()) {
    offer_ring();
    const uint64_t write = write_index();
    if (next == write || paused() || !ring().exists()) {
      publish(next);
      pause_for_doorbell();
      continue;
    }
    const uint64_t batch = next;
    told_ = false;
    if (device_.engine == nullptr) now_ = device_.clock.now();
    while (next != write) {
      Packet& packet = packet_at(next);
      const uint16_t header = __atomic_load_n(&packet.header, __ATOMIC_ACQUIRE);
      if ((header & kTypeMask) == HSA_PACKET_TYPE_INVALID) break;  // reserved, not written yet
      idle_.reset();
      if (write - next > 2) __builtin_prefetch(&packet_at(next + 2), 1);
      const uint32_t ring_before = ring_changes();
      Completion completion;
      const bool done = device_.observer == nullptr
                            ? process(packet, next, header, completion)
                            : process_observed(packet, next, header, completion);
      if (!done) {
        publish(next);
        return;
      }
      // The slot goes back before the signal tells: a producer that counts completions instead of
      // reading the index may then write into it.
      const bool is_same_ring = ring_changes() == ring_before;
      if (is_same_ring)
        __atomic_store_n(&packet.header, uint16_t{HSA_PACKET_TYPE_INVALID}, __ATOMIC_RELEASE);
      ++next;
      if (next - published_ >= publish_interval_) publish(next);
      complete(completion);
      if (paused() || stopping() || failed() || !is_same_ring) break;
    }
    flush();
    if (next != write) {
      publish(next);
      pause_for_doorbell();
    } else if (device_.engine == nullptr && next - batch < kWorthwhileBatch) {
      // Each look at the write index takes its cache line from the producer. Nothing is gained by
      // looking as often as it writes: let it get ahead. One that has waited will write soon.
      relax(told_ ? kToldRelax : kBatchRelax);
    }
  }
  publish(next);
}

uint64_t AqlQueue::valid_below(uint64_t index) const {
  if (!ring().exists()) return index;
  const uint64_t end = std::min(write_index(), index + packets_in_ring() - 1);
  while (index < end) {
    const uint16_t header = __atomic_load_n(&packet_at(index).header, __ATOMIC_ACQUIRE);
    if ((header & kTypeMask) == HSA_PACKET_TYPE_INVALID) break;
    ++index;
  }
  return index;
}

void AqlQueue::Ahead::start_behind(uint64_t index) {
  current_ = index;
  next_ = std::max(next_, index + 1);
}

const AqlQueue::Packet* AqlQueue::Ahead::find(uint16_t& header) const {
  const uint64_t room = queue_.ring().exists() ? queue_.packets_in_ring() : 0;
  if (next_ >= std::min(queue_.write_index(), current_ + room)) return nullptr;
  const Packet& packet = queue_.packet_at(next_);
  header = __atomic_load_n(&packet.header, __ATOMIC_ACQUIRE);
  return (header & kTypeMask) == HSA_PACKET_TYPE_INVALID ? nullptr : &packet;
}

std::optional<PacketObserver::AqlPacket> AqlQueue::Ahead::next() {
  uint16_t header = 0;
  const Packet* const packet = find(header);
  if (packet == nullptr) return std::nullopt;
  return queue_.observed(*packet, next_++, header);
}

// The observer has a lock to take, and a packet that waits asks often.
void AqlQueue::look_ahead() {
  uint16_t header = 0;
  if (device_.observer == nullptr || ahead_.find(header) == nullptr) return;
  device_.observer->look(device_.node, id_);
}

PacketObserver::AqlPacket AqlQueue::observed(const Packet& packet, uint64_t index,
                                             uint16_t header) const {
  const SharedMemoryAccess host_sees;
  PacketObserver::AqlPacket facts;
  facts.node = device_.node;
  facts.queue = id_;
  facts.index = index;
  facts.header = header;
  facts.signals = packet.dispatch.completion_signal.handle != 0;
  switch (header & kTypeMask) {
    case HSA_PACKET_TYPE_KERNEL_DISPATCH:
      facts.kernel_object = packet.dispatch.kernel_object;
      facts.kernarg = reinterpret_cast<uintptr_t>(packet.dispatch.kernarg_address);
      break;
    case HSA_PACKET_TYPE_BARRIER_AND:
    case HSA_PACKET_TYPE_BARRIER_OR:
      for (const hsa_signal_t& signal : packet.barrier.dep_signal)
        facts.waits |= signal.handle != 0;
      break;
    case HSA_PACKET_TYPE_VENDOR_SPECIFIC: {
      BarrierValue barrier;
      std::memcpy(&barrier, &packet, sizeof barrier);
      facts.waits = (barrier.header >> 16 & 0xff) == kAmdFormatBarrierValue && barrier.signal != 0;
      break;
    }
    default:
      break;
  }
  return facts;
}

bool AqlQueue::process_observed(Packet& packet, uint64_t index, uint16_t header,
                                Completion& completion) {
  PacketObserver::AqlPacket facts = observed(packet, index, header);
  ahead_.start_behind(index);
  device_.observer->begin(facts, ahead_);
  const bool done = process(packet, index, header, completion);
  facts.failed = !done;
  device_.observer->end(facts, valid_below(index + 1));
  return done;
}

bool AqlQueue::process(Packet& packet, uint64_t index, uint16_t header, Completion& completion) {
  completion.signal = completion_signal(packet.dispatch);
  completion.index = index;
  completion.count = 1;
  if (completion.signal != 0 &&
      check_signal(completion.signal, index, "completion signal") == nullptr) {
    return false;
  }
  const uint16_t type = header & kTypeMask;
  if (type == HSA_PACKET_TYPE_KERNEL_DISPATCH) return process_dispatch(packet, index, completion);

  // The next packets can wait for other queues, which can wait for the pending completions here.
  flush();
  if (failed()) return false;
  completion.start = device_.engine == nullptr ? now_ : device_.clock.now();
  bool done = false;
  switch (type) {
    case HSA_PACKET_TYPE_BARRIER_AND:
      done = process_barrier(copy_of(packet), index, true);
      break;
    case HSA_PACKET_TYPE_BARRIER_OR:
      done = process_barrier(copy_of(packet), index, false);
      break;
    case HSA_PACKET_TYPE_VENDOR_SPECIFIC:
      done = process_vendor(copy_of(packet), reinterpret_cast<uintptr_t>(&packet), index);
      break;
    default:
      return fail(QueueError::kPacketFormat, index,
                  fmt::format("packet type ({}) is not one that a GPU queue takes: 0 vendor "
                              "specific, 2 kernel dispatch, 3 barrier-AND, 5 barrier-OR",
                              type));
  }
  if (completion.signal != 0) completion.end = device_.clock.now();
  return done;
}

bool AqlQueue::process_dispatch(const Packet& packet, uint64_t index, Completion& completion) {
  isa::Dispatch dispatch;
  if (!check_dispatch(packet.dispatch, index, dispatch)) return false;
  if (device_.engine == nullptr) {
    completion.start = now_;
    completion.end = now_;
    return true;
  }
  if (!check_code(packet.dispatch, index, dispatch)) return false;
  completion.start = device_.clock.now();
  const isa::DispatchResult result = [this, &dispatch] {
    const RingReleased released(*this);
    return execute(dispatch);
  }();
  completion.end = device_.clock.now();
  // A cancelled dispatch has not done its work, so its completion is not signalled.
  if (stopping()) return false;
  if (result.fault.kind == isa::Fault::Kind::kNone) return true;
  return fail_dispatch(dispatch.kernel_object, index, result);
}

bool AqlQueue::check_dispatch(const hsa_kernel_dispatch_packet_t& packet, uint64_t index,
                              isa::Dispatch& dispatch) {
  const SharedMemoryAccess host_sees;
  const uint32_t dimensions = packet.setup & 3;
  if (dimensions == 0) {
    return fail(QueueError::kDimensions, index,
                "the setup field's number of dimensions (0) must be 1, 2 or 3");
  }
  // Sizes beyond the number of dimensions are ignored: they count as 1.
  const uint32_t grid[3] = {packet.grid_size_x, packet.grid_size_y, packet.grid_size_z};
  const uint16_t group[3] = {packet.workgroup_size_x, packet.workgroup_size_y,
                             packet.workgroup_size_z};
  uint64_t items = 1;
  for (uint32_t d = 0; d < dimensions; ++d) {
    if (grid[d] == 0) {
      return fail(QueueError::kDimensions, index,
                  fmt::format("the grid ({}x{}x{}) is empty", grid[0], grid[1], grid[2]));
    }
    dispatch.grid[d] = grid[d];
    dispatch.group[d] = group[d];
    items *= group[d];
  }
  if (items == 0 || items > device_.limits.work_group_size) {
    return fail(QueueError::kWorkGroupSize, index,
                fmt::format("the work-group ({}x{}x{}) must have 1 to {} work-items", group[0],
                            group[1], group[2], device_.limits.work_group_size));
  }
  if (packet.group_segment_size > device_.limits.group_segment_bytes) {
    return fail(QueueError::kGroupMemory, index,
                fmt::format("the group segment ({} bytes) exceeds the LDS ({} bytes)",
                            packet.group_segment_size, device_.limits.group_segment_bytes));
  }
  if (packet.kernel_object == 0) {
    return fail(QueueError::kCode, index, "the kernel object is null");
  }
  dispatch.packet_address = reinterpret_cast<uintptr_t>(&packet);
  dispatch.queue_address = memory_.address;
  dispatch.kernel_object = packet.kernel_object;
  dispatch.kernarg_address = reinterpret_cast<uintptr_t>(packet.kernarg_address);
  dispatch.dispatch_id = index;
  dispatch.priority = priority();
  dispatch.private_segment_size = packet.private_segment_size;
  dispatch.group_segment_size = packet.group_segment_size;
  const amd_queue_t* const queue = memory_.queue;
  dispatch.shared_aperture_hi =
      queue != nullptr ? queue->group_segment_aperture_base_hi : kSharedApertureHi;
  dispatch.private_aperture_hi =
      queue != nullptr ? queue->private_segment_aperture_base_hi : kPrivateApertureHi;
  return true;
}

// Both forms of a kernel object, the 64-byte descriptor and amd_kernel_code_t, hold the entry's
// distance at 16 and COMPUTE_PGM_RSRC1 at 48.
bool AqlQueue::check_code(const hsa_kernel_dispatch_packet_t& packet, uint64_t index,
                          const isa::Dispatch& dispatch) {
  const SharedMemoryAccess host_sees;
  const uint64_t object = packet.kernel_object;
  const uint8_t* const bytes = object % 64 == 0 ? code_.find(object, 64) : nullptr;
  if (bytes == nullptr) {
    return fail(
        QueueError::kCode, index,
        fmt::format("the kernel object ({:#x}) is not 64-byte aligned memory of the GPU; {}",
                    object, describe(object)));
  }
  int64_t entry_distance;
  uint32_t rsrc1;
  std::memcpy(&entry_distance, bytes + 16, sizeof entry_distance);
  std::memcpy(&rsrc1, bytes + 48, sizeof rsrc1);
  const uint64_t entry = object + static_cast<uint64_t>(entry_distance);
  if (entry % 4 != 0 || !code_.accessible(entry, 4)) {
    return fail(QueueError::kCode, index,
                fmt::format("the kernel object ({:#x}) leads to code at {:#x}, which is not memory "
                            "of the GPU; {}",
                            object, entry, describe(entry)));
  }
  const DeviceLimits& limits = device_.limits;
  const uint32_t items = uint32_t{dispatch.group[0]} * dispatch.group[1] * dispatch.group[2];
  const uint32_t waves = (items + 63) / 64;
  const uint32_t waves_per_simd = (waves + limits.simds_per_cu - 1) / limits.simds_per_cu;
  const uint32_t vgprs = ((rsrc1 & 0x3f) + 1) * limits.vgpr_granule;
  if (waves_per_simd * vgprs > limits.vgprs_per_simd) {
    return fail(QueueError::kRegisters, index,
                fmt::format("a work-group of {} work-items with {} VGPRs each does not fit: a SIMD "
                            "has {} and must hold {} waves of it",
                            items, vgprs, limits.vgprs_per_simd, waves_per_simd));
  }
  return true;
}

bool AqlQueue::process_barrier(const Packet& packet, uint64_t index, bool wait_for_all) {
  uint64_t handles[5];
  const amd_signal_t* waiting[5];
  size_t count = 0;
  for (const hsa_signal_t& signal : packet.barrier.dep_signal) {
    const uint64_t handle = signal.handle;
    if (handle == 0) continue;
    const amd_signal_t* const found = check_signal(handle, index, "dependency signal");
    if (found == nullptr) return false;
    handles[count] = handle;
    waiting[count++] = found;
  }
  if (count == 0) return true;
  SignalWait wait(idle_, handles, count);
  const auto is_zero = [](const amd_signal_t* one) { return load_signal(*one) == 0; };
  for (bool first = true;; first = false) {
    // A signal that was 0 once is satisfied, even if it changes afterwards.
    const size_t left =
        static_cast<size_t>(std::remove_if(waiting, waiting + count, is_zero) - waiting);
    if (left == 0 || (!wait_for_all && left < count)) break;
    count = left;
    if (first) publish(index);
    if (stopping()) return false;
    look_ahead();
    pause(&wait);
  }
  idle_.reset();
  return true;
}

amd_signal_t* AqlQueue::find_signal(uint64_t handle) {
  if (handle % 64 != 0) return nullptr;
  uint8_t* found = signals_.find(handle, sizeof(amd_signal_t));
  if (found == nullptr) found = runtime_signals_.find(handle, sizeof(amd_signal_t));
  return reinterpret_cast<amd_signal_t*>(found);
}

amd_signal_t* AqlQueue::check_signal(uint64_t handle, uint64_t index, const char* role) {
  amd_signal_t* const found = find_signal(handle);
  if (found == nullptr) [[unlikely]]
    stop_at(handle, index, fmt::format("the {} ({:#x}) is not a signal", role, handle));
  return found;
}

bool AqlQueue::mailbox_usable(uint64_t mailbox) {
  return mailbox % 8 == 0 && mailboxes_.accessible(mailbox, 8);
}

// What a signal leads to is no memory of the GPU's or of the runtime's.
void AqlQueue::stop_at(uint64_t address, uint64_t index, const std::string& what) {
  set_failed();
  fail_with_memory_fault({device_.node, address, true, false},
                         fmt::format("halyard vgpu: queue {} stopped at packet {}: {}; {}", id_,
                                     index, what, describe(address)));
}

bool AqlQueue::fail(QueueError error, uint64_t index, const std::string& text) {
  report(fmt::format("halyard vgpu: queue {} stopped at packet {}: {} (queue error {:#x})", id_,
                     index, text, static_cast<uint32_t>(error)));
  publish(index);
  set_failed();
  // A program without that signal waits, at best, for the events of faults.
  if (!tell_of_error(error)) device_.interrupts->memory_fault({device_.node, 0, false, true});
  return false;
}

// Stores the error into queue_inactive_signal and wakes its sleepers.
bool AqlQueue::tell_of_error(QueueError error) {
  const uint64_t handle =
      memory_.queue != nullptr ? memory_.queue->queue_inactive_signal.handle : 0;
  amd_signal_t* const signal = handle != 0 ? find_signal(handle) : nullptr;
  if (signal == nullptr) return false;
  const Wakeup wakeup = wakeup_of(*signal);
  __atomic_store_n(&signal->value, static_cast<int64_t>(error), __ATOMIC_SEQ_CST);
  if (wakeup.mailbox == 0 || mailbox_usable(wakeup.mailbox)) {
    wake(wakeup, *device_.interrupts);
    return true;
  }
  report(
      fmt::format("halyard vgpu: queue {} cannot wake the threads that wait for its error: the "
                  "signal ({:#x}) has an invalid mailbox ({:#x}); {}",
                  id_, handle, wakeup.mailbox, describe(wakeup.mailbox)));
  return true;
}

bool AqlQueue::fail_dispatch(uint64_t object, uint64_t index, const isa::DispatchResult& result) {
  const isa::Fault& fault = result.fault;
  const std::string text = fmt::format(
      "halyard vgpu: queue {} stopped at packet {}: {} in kernel {}", id_, index,
      fault_name(fault.kind), failed_kernel(result, object, *device_.memory, "kernel object"));
  publish(index);
  set_failed();
  if (fault.kind == isa::Fault::Kind::kMemory) {
    const MemoryFault access{device_.node, fault.address, fault.is_write, false};
    // The runtime gets it from the memory event. If no thread listens, the queue's own signal is
    // the best substitute.
    if (fail_with_memory_fault(access, text)) return false;
  } else {
    report(text);
  }
  if (!tell_of_error(error_of(fault.kind)) && fault.kind != isa::Fault::Kind::kMemory)
    device_.interrupts->memory_fault({device_.node, 0, false, true});
  return false;
}

}  // namespace halyard::vgpu::queue
