#include "drivers/amdgpu/packet_ring.h"

#include <hsa/amd_hsa_signal.h>

#include <utility>

#include "drivers/amdgpu/device.h"
#include "hal/error.h"

namespace halyard::amdgpu {

PacketRing::PacketRing(DeviceImpl& device, uint32_t capacity, QueueOptions::Priority priority)
    : hsa_(device.hsa()),
      mask_(capacity - 1),
      kernarg_block_(device.kernarg_block()),
      capacity_(capacity),
      priority_(priority),
      device_(device) {}

PacketRing::~PacketRing() {
  if (kernarg_ != nullptr) device_.memory().free_kernarg(kernarg_);
}

void PacketRing::close(bool lost) {
  HsaQueue* const queue = std::exchange(hsa_queue_, nullptr);
  if (queue == nullptr) return;
  queue->stop_listening();
  if (!lost) hsa_.hsa_amd_profiling_set_profiler_enabled(queue_, 0);
  if (!lost && priority_ != QueueOptions::Priority::kNormal)
    set_priority(HSA_AMD_QUEUE_PRIORITY_NORMAL);
  queue_ = nullptr;
  HsaQueues::instance().give(*queue, lost);
}

hsa_status_t PacketRing::set_priority(hsa_amd_queue_priority_t level) {
  if (hsa_.hsa_amd_queue_set_priority == nullptr) return HSA_STATUS_SUCCESS;
  return hsa_.hsa_amd_queue_set_priority(queue_, level);
}

Status PacketRing::open() {
  const uint64_t kernarg_bytes = (uint64_t{capacity_} + kMaxKernargBlocks - 1) * kernarg_block_;
  void* kernarg = nullptr;
  HALYARD_RETURN_IF_ERROR(device_.memory().allocate_kernarg(kernarg_bytes, &kernarg));
  kernarg_ = static_cast<std::byte*>(kernarg);

  HALYARD_RETURN_IF_ERROR(
      check(hsa_, HsaQueues::instance().take(hsa_, device_.agent(), capacity_, &hsa_queue_),
            fmt::format("Creating a queue of {} packets on {}", capacity_, device_.info().name)));
  queue_ = hsa_queue_->native();
  first_ = hsa_.hsa_queue_load_write_index_scacquire(queue_);
  slots_ = static_cast<Packet*>(queue_->base_address);

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

  if (priority_ == QueueOptions::Priority::kNormal) return {};
  return check(
      hsa_,
      set_priority(priority_ == QueueOptions::Priority::kHigh ? HSA_AMD_QUEUE_PRIORITY_HIGH
                                                              : HSA_AMD_QUEUE_PRIORITY_LOW),
      "Setting a queue's priority");
}

bool PacketRing::reserve_behind(uint64_t index) {
  uint64_t expected = index + 1;
  if (write_index_ != nullptr) [[likely]] {
    return __atomic_compare_exchange_n(write_index_, &expected, index + 2, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_RELAXED);
  }
  return hsa_.hsa_queue_cas_write_index_scacq_screl(queue_, expected, index + 2) == expected;
}

void PacketRing::publish_run(uint64_t index, const Packet* packets, uint32_t count) {
  if (count == 0) return;
  // The packet processor stops at the first slot, which is invalid until all are written.
  Packet& first = slot(index);
  const uint32_t head = packets[0].words[0];
  for (uint32_t i = 1; i < 16; ++i) first.words[i] = packets[0].words[i];
  constexpr uint32_t kAhead = 8;
  for (uint32_t i = 1; i < count; ++i) {
    prefetch_for_write(&slots_[(index + i + kAhead) & mask_]);
    store_packet(slot(index + i), packets[i]);
  }
  __atomic_store_n(&first.words[0], head, __ATOMIC_RELEASE);
}

}  // namespace halyard::amdgpu
