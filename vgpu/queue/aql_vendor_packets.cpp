// AMD's packets in AQL queues: buffers of PM4, and barriers that compare a signal's value.

#include <fmt/format.h>

#include <cstring>

#include "vgpu/queue/aql_queue.h"
#include "vgpu/queue/barrier_value.h"
#include "vgpu/queue/signal.h"
#include "vgpu/queue/signal_waits.h"

namespace halyard::vgpu::queue {
namespace {

constexpr uint8_t kAmdFormatPm4 = 1;

bool holds(uint32_t condition, int64_t a, int64_t b) {
  switch (condition) {
    case HSA_SIGNAL_CONDITION_EQ:
      return a == b;
    case HSA_SIGNAL_CONDITION_NE:
      return a != b;
    case HSA_SIGNAL_CONDITION_LT:
      return a < b;
    default:
      return a >= b;
  }
}

}  // namespace

bool AqlQueue::process_barrier_value(const Packet& packet, uint64_t index) {
  BarrierValue barrier;
  std::memcpy(&barrier, &packet, sizeof barrier);
  if (barrier.condition > HSA_SIGNAL_CONDITION_GTE) {
    return fail(QueueError::kVendorPacketFormat, index,
                fmt::format("the barrier-value packet's condition ({}) must be 0 (==), 1 (!=), 2 "
                            "(<) or 3 (>=)",
                            barrier.condition));
  }
  if (barrier.signal == 0) return true;
  const amd_signal_t* const signal = check_signal(barrier.signal, index, "dependency signal");
  if (signal == nullptr) return false;
  SignalWait wait(idle_, &barrier.signal, 1);
  for (bool first = true;; first = false) {
    if (holds(barrier.condition, load_signal(*signal) & barrier.mask, barrier.value)) break;
    if (first) publish(index);
    if (stopping()) return false;
    look_ahead();
    pause(&wait);
  }
  idle_.reset();
  return true;
}

bool AqlQueue::process_vendor(const Packet& packet, uint64_t address, uint64_t index) {
  const uint32_t format = (packet.words[0] >> 16) & 0xff;
  if (format == kAmdFormatPm4) return process_pm4(packet, address, index);
  if (format == kAmdFormatBarrierValue) return process_barrier_value(packet, index);
  return fail(QueueError::kVendorPacketFormat, index,
              fmt::format("the vendor packet's format ({}) must be 1 (PM4 indirect buffer) or 2 "
                          "(barrier value)",
                          format));
}

void AqlQueue::Pm4Owner::pause(WakeSource* source) {
  if (is_first_) queue_.publish(index_);
  is_first_ = false;
  queue_.look_ahead();
  queue_.pause(source);
}

isa::DispatchResult AqlQueue::Pm4Owner::run(const isa::Dispatch& dispatch) {
  const RingReleased released(queue_);
  return queue_.execute(dispatch);
}

// The packet processor finishes a buffer before it takes another packet: its dispatches count as
// the packet's.
PacketObserver::Pm4Place AqlQueue::Pm4Owner::place() {
  return {index_, index_, queue_.valid_below(index_ + 1)};
}

// The packet's next four dwords are a PM4 INDIRECT_BUFFER (ROCR, amd_aql_pm4_ib).
bool AqlQueue::process_pm4(const Packet& packet, uint64_t address, uint64_t index) {
  constexpr uint64_t kHeaderBytes = 4;
  pm4_owner_.begin(index);
  const std::span<const uint32_t> jump(&packet.words[1], 4);
  if (pm4_.run_buffer_of(jump, address + kHeaderBytes)) return true;
  return fail_pm4(pm4_.failure(), index);
}

bool AqlQueue::fail_pm4(const pm4::Failure& failure, uint64_t index) {
  using Kind = pm4::Failure::Kind;
  if (failure.kind == Kind::kCancelled) return false;
  if (failure.kind == Kind::kPacket)
    return fail(QueueError::kVendorPacketFormat, index, "the PM4 packet " + failure.text);
  const std::string text = fmt::format(
      "halyard vgpu: queue {} stopped at packet {}: the PM4 packet {}", id_, index, failure.text);
  const bool is_access =
      failure.kind == Kind::kAccess || failure.fault == isa::Fault::Kind::kMemory;
  publish(index);
  set_failed();
  if (is_access) {
    if (fail_with_memory_fault(failure.access, text)) return false;
  } else {
    report(text);
  }
  tell_of_error(is_access ? QueueError::kAperture : error_of(failure.fault));
  return false;
}

}  // namespace halyard::vgpu::queue
