// PacketRing: the ring of AQL packets of one hardware queue, and the kernel arguments that go with
// them.
//
// To submit: reserve, wait for room (ring_room.h), fill the slots, publish, ring the doorbell. A
// caller that has reserved must publish, unless the queue is lost.
#pragma once

#include <hsa/amd_hsa_queue.h>

#include <cstddef>
#include <cstdint>

#include "drivers/amdgpu/hsa.h"
#include "drivers/amdgpu/hsa_queues.h"
#include "drivers/amdgpu/packet.h"
#include "drivers/amdgpu/ring.h"
#include "hal/device.h"
#include "hal/kernel_arguments.h"
#include "hal/status.h"

namespace halyard::amdgpu {

class DeviceImpl;

// Any thread may use any method but open() and close().
class PacketRing {
 public:
  PacketRing(DeviceImpl& device, uint32_t capacity, QueueOptions::Priority priority);
  PacketRing(const PacketRing&) = delete;
  PacketRing& operator=(const PacketRing&) = delete;
  // After close(), or without open().
  ~PacketRing();

  // Takes a queue of the runtime.
  Status open();
  // Behind open(). HsaQueue::listen.
  void listen(HsaQueue::ErrorCallback callback, void* context) {
    hsa_queue_->listen(callback, context);
  }
  // Gives the queue back; `lost`: it cannot be used again. Waits for a running error callback:
  // the caller holds nothing that it takes.
  void close(bool lost);

  hsa_queue_t* native() const { return queue_; }
  // The index of the first packet here: the runtime's queue may have been another ring's before.
  uint64_t first() const { return first_; }
  uint32_t capacity() const { return capacity_; }
  QueueOptions::Priority priority() const { return priority_; }
  const HiddenValues& hidden_values() const { return hidden_; }

  // Takes `packets` slots; the index of the first. They may be more than there are, if they are
  // then written as room appears (HSA System Architecture 2.8.2). The packet processor stops at
  // slots that are reserved and not written (their headers say INVALID), and the processor's own
  // write index is where slots are taken from (HSA System Architecture 2.8.1).
  uint64_t reserve(uint32_t packets) {
    if (write_index_ != nullptr) [[likely]] {
      return __atomic_fetch_add(write_index_, packets, __ATOMIC_ACQ_REL);
    }
    return hsa_.hsa_queue_add_write_index_scacq_screl(queue_, packets);
  }
  // Takes the slot behind packet `index`, for which there is room, if that is the last one.
  bool reserve_behind(uint64_t index);
  // How many slots were taken, ever.
  uint64_t reserved() const {
    if (write_index_ != nullptr) [[likely]]
      return __atomic_load_n(write_index_, __ATOMIC_ACQUIRE);
    return hsa_.hsa_queue_load_write_index_scacquire(queue_);
  }
  // How many packets the packet processor has taken out of their slots, ever.
  uint64_t taken() const { return hsa_.hsa_queue_load_read_index_scacquire(queue_); }

  // The slot of a reserved packet. The thread that wrote it before has handed it to the device,
  // which has handed it to this one: a race detector cannot see that order. Only a race detector
  // needs publish()'s release, so otherwise there is no acquire, which would wait for a cache line.
  Packet& slot(uint64_t index) {
    Packet& packet = slots_[index & mask_];
#ifdef __SANITIZE_THREAD__
    (void)__atomic_load_n(&packet.words[0], __ATOMIC_ACQUIRE);
#endif
    return packet;
  }
  // The slot's block of kernel arguments (ring.h).
  void* kernarg(uint64_t index) { return kernarg_ + (index & mask_) * kernarg_block_; }
  // Asks for what a submission that comes soon will write: the device had the slot's cache line
  // last, and it takes as long to come back as a whole dispatch takes.
  void prefetch_slot(uint64_t index) {
    prefetch_for_write(&slots_[index & mask_]);
    prefetch_for_write(kernarg(index));
  }
  // Copies `count` packets into reserved slots that have room, from `index` on, and makes them
  // valid all at once. Nothing is noted of them; they are an uncounted run.
  void publish_run(uint64_t index, const Packet* packets, uint32_t count);

  // For a kernel that rings it; null if only the runtime can.
  volatile uint64_t* doorbell() const { return doorbell_; }
  // For all packets up to `index`.
  void ring_doorbell(uint64_t index) {
    if (doorbell_ != nullptr) [[likely]] {
      write_doorbell(index);
    } else {
      hsa_.hsa_signal_store_screlease(queue_->doorbell_signal,
                                      static_cast<hsa_signal_value_t>(index));
    }
  }

 private:
  hsa_status_t set_priority(hsa_amd_queue_priority_t level);
  static void prefetch_for_write(void* line) {
#ifdef __x86_64__
    // __builtin_prefetch would fetch it for reading only, unless compiled for newer processors.
    asm volatile("prefetchw %0" : : "m"(*static_cast<char*>(line)));
#else
    __builtin_prefetch(line, 1);
#endif
  }
#ifdef __SANITIZE_THREAD__
  // ThreadSanitizer holds locks during an atomic store, and the virtual GPU stops whoever writes to
  // a doorbell until a thread of its own has seen it, which may need those locks. The packet's
  // header orders all that the packet processor reads, so nothing is lost by a plain store.
  __attribute__((noinline, no_sanitize("thread"))) void write_doorbell(uint64_t index) {
    *doorbell_ = index;
  }
#else
  void write_doorbell(uint64_t index) { __atomic_store_n(doorbell_, index, __ATOMIC_RELEASE); }
#endif

  // Read by every submission, written by none.
  const Hsa& hsa_;
  hsa_queue_t* queue_ = nullptr;
  Packet* slots_ = nullptr;
  volatile uint64_t* doorbell_ = nullptr;
  volatile uint64_t* write_index_ = nullptr;
  std::byte* kernarg_ = nullptr;
  const uint64_t mask_;
  const uint64_t kernarg_block_;  // bytes
  HiddenValues hidden_;
  HsaQueue* hsa_queue_ = nullptr;
  uint64_t first_ = 0;
  const uint32_t capacity_;
  const QueueOptions::Priority priority_;
  DeviceImpl& device_;
};

}  // namespace halyard::amdgpu
