// QueueCore: one hardware queue, its ring of AQL packets, the kernel arguments that go with them,
// and its epoch, the number of packets that are done.
//
// Packets count down two signals (epoch_signals.h); those of a recorded command buffer count
// together (uncounted_runs.h). What is remembered of each is in packet_notes.h.
//
// Copies run on engines of their own (transfers.h), and packets that complete a signal of their own
// are counted apart (edges.h).
//
// Cores belong to their device and live as long as it does, so that a semaphore may point at one
// without counting references. A Queue borrows a core and gives it back when it is idle.
#pragma once

#include <hsa/amd_hsa_queue.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "drivers/amdgpu/epoch_signals.h"
#include "drivers/amdgpu/hsa.h"
#include "drivers/amdgpu/packet.h"
#include "drivers/amdgpu/packet_header.h"
#include "drivers/amdgpu/packet_notes.h"
#include "drivers/amdgpu/ring.h"
#include "drivers/amdgpu/uncounted_runs.h"
#include "drivers/common/point_state.h"
#include "drivers/common/users.h"
#include "hal/device.h"
#include "hal/kernel_arguments.h"
#include "hal/queue.h"
#include "hal/status.h"

namespace halyard::amdgpu {

class DeviceImpl;
class Edges;
class RingHeldQueue;
class Transfers;

class QueueCore {
 public:
  static Result<std::unique_ptr<QueueCore>> create(DeviceImpl& device, uint32_t capacity,
                                                   QueueOptions::Priority priority);
  // Only when nothing is in flight, or the queue is lost.
  ~QueueCore();
  QueueCore(const QueueCore&) = delete;
  QueueCore& operator=(const QueueCore&) = delete;

  DeviceImpl& device() const { return *device_; }
  hsa_queue_t* native() const { return queue_; }
  uint32_t capacity() const { return capacity_; }
  QueueOptions::Priority priority() const { return priority_; }
  const HiddenValues& hidden_values() const { return hidden_; }
  // Queue::id() of the queue that has the core.
  uint64_t queue_id() const { return queue_id_.load(std::memory_order_relaxed); }
  void set_queue_id(uint64_t id) { queue_id_.store(id, std::memory_order_relaxed); }
  // Of Users: whatever the queue is given has it.
  uint64_t user_bit() const { return user_bit_; }

  // --- Submission. reserve, wait_for_room, fill the slots, publish from the last slot to the
  // first, ring. A caller that has reserved must publish, unless wait_for_room has failed.

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
  // Takes `leading` slots and a layout's behind them, whose packets are a program's (null: are
  // noted like others).
  uint64_t reserve_batch(uint32_t leading, const BatchLayout& layout, const Program* program);
  // OK when the slots from `index` on can be written (at most as many as there are). Spins, then
  // yields, then sleeps; fails only if the queue is lost, and then it takes nothing any more.
  Status wait_for_room(uint64_t index, uint32_t packets) {
    if (index + packets <= room_.load(std::memory_order_acquire)) [[likely]]
      return {};
    return wait_for_room_slowly(index, packets);
  }
  // Whether wait_for_room would return at once, for a reservation of `packets` made now, or one
  // that was made.
  bool has_room(uint32_t packets) { return has_room_at(reserved(), packets); }
  bool has_room_at(uint64_t index, uint32_t packets);

  // The slot of a reserved packet. The thread that wrote it before has handed it to the device,
  // which has handed it to this one: a race detector cannot see that order. Only a race detector
  // needs publish()'s release, so otherwise there is no acquire, which would wait for a cache line.
  Packet& slot(uint64_t index) {
    Packet& packet = ring_[index & mask_];
#ifdef __SANITIZE_THREAD__
    (void)__atomic_load_n(&packet.words[0], __ATOMIC_ACQUIRE);
#endif
    return packet;
  }
  void* kernarg(uint64_t index) { return kernarg_ + (index & mask_) * kernarg_block_; }
  // Asks for what a submission that comes soon will write: the device had the slot's cache line
  // last, and it takes as long to come back as a whole dispatch takes.
  void prefetch_slot(uint64_t index) {
    prefetch_for_write(&ring_[index & mask_]);
    prefetch_for_write(kernarg(index));
  }
  PacketNotes& notes() { return notes_; }
  // Makes the packet valid: its first 32 bits, with the rest of it before.
  void publish(uint64_t index, uint16_t header, uint16_t setup) {
    __atomic_store_n(&ring_[index & mask_].words[0], header | (uint32_t{setup} << 16),
                     __ATOMIC_RELEASE);
  }
  // Copies `count` packets into reserved slots that have room, from `index` on, and makes them
  // valid all at once. Nothing is noted of them; they are an uncounted run.
  void publish_run(uint64_t index, const Packet* packets, uint32_t count);
  // For a kernel that rings it; null if only the runtime can.
  volatile uint64_t* doorbell() const { return doorbell_; }
  // Rings the doorbell for all packets up to `index`.
  void ring(uint64_t index) {
    if (doorbell_ != nullptr) [[likely]] {
      write_doorbell(index);
    } else {
      hsa_.hsa_signal_store_screlease(queue_->doorbell_signal,
                                      static_cast<hsa_signal_value_t>(index));
    }
  }
  // A barrier packet that waits for nothing, or for `dependency` to be 0.
  void write_barrier(uint64_t index, bool interrupt, uint16_t header, hsa_signal_t dependency = {},
                     hsa_signal_t* completion = nullptr);
  void write_barrier(uint64_t index, bool interrupt, const FenceFacts& facts,
                     hsa_signal_t dependency = {}, hsa_signal_t* completion = nullptr) {
    write_barrier(index, interrupt, packet_header(facts), dependency, completion);
  }

  // --- Epoch.

  uint64_t reserved() const {
    if (write_index_ != nullptr) [[likely]]
      return __atomic_load_n(write_index_, __ATOMIC_ACQUIRE);
    return hsa_.hsa_queue_load_write_index_scacquire(queue_);
  }
  // How many packets are done; packets 0 to completed() - 1 are. A few loads.
  uint64_t completed() const;
  bool idle() const { return completed() >= reserved(); }
  // Whether neither packets before `index` nor their copies use memory any more. Also of an
  // abandoned queue, whose work may still end.
  bool is_through(uint64_t index) const;
  // Whether the packet with this index is known to be done, without asking the device.
  bool known_done(uint64_t index) const {
    return index + capacity_ < room_.load(std::memory_order_acquire);
  }
  // Whether the packet with this index is done, or can no more be.
  PointState state_of(uint64_t index) const;
  const EpochSignals& signals() const { return signals_; }
  // The value of signals().interrupt(), that or less, once the published packet `index`, which
  // decrements it, is done. Looks through the packets in flight, and waits for those before it to
  // be written.
  hsa_signal_value_t interrupt_value(uint64_t index) const;

  // --- Loss.

  bool lost() const { return lost_.load(std::memory_order_acquire); }
  // Why; only if lost().
  Status fault() const;
  // Nothing completes any more; the first cause counts. Then wakes everybody who waits. False if
  // it was lost before.
  bool lose(const Status& cause);
  // The same for a queue whose work may go on.
  bool abandon(const Status& cause);
  // Whether the queue is abandoned, and its work may still run.
  bool abandoned() const { return abandoned_.load(std::memory_order_acquire); }
  // Nothing runs there any more: the device is lost.
  void forget_work() { abandoned_.store(false, std::memory_order_release); }
  // "kernel \"x\" (packet 12)" or "a barrier (packet 12)", the packet that is being processed.
  std::string describe_current() const;
  // What an abandoned queue leaves: "kernel \"x\" (packet 12) has not ended".
  std::string describe_unfinished() const;
  // AcquireState's.
  bool acquires_foreign(uint64_t index) { return acquires_.acquires_foreign(index); }
  // The next packet has to acquire (Foreign::host_observed).
  void host_observed() { acquires_.host_observed(); }
  // Whether the last packet was observed, and so has released all that is before it to the system:
  // packets that raise an interrupt are. True if there was none.
  bool is_released() const {
    const uint64_t end = reserved();
    return end == 0 || notes_.raises_interrupt(end - 1);
  }

  // Sees to it that the whole system may see what packets before *end have written, once packet
  // *end - 1, perhaps a later one than before, is done. Never waits: false if a packet would have
  // to do that for which there is no room now.
  bool try_release(uint64_t* end);

  // Lets packets of other queues go on that wait for this one's interrupt signal. Once, after the
  // loss.
  void release_waiters();

  // Whether what signals a semaphore gets an edge behind it (edges.h).
  bool wants_edges() const { return wants_edges_.load(std::memory_order_relaxed); }
  void want_edges(bool on) { wants_edges_.store(on, std::memory_order_relaxed); }

  // Whether submissions take the slow path (submit): the queue is lost, operations are held back,
  // or a profile is being taken. Each of these is a reason of its own.
  bool takes_slow_path() const { return slow_paths_.load(std::memory_order_acquire) != 0; }
  void add_slow_path() { slow_paths_.fetch_add(1, std::memory_order_acq_rel); }
  void remove_slow_path() { slow_paths_.fetch_sub(1, std::memory_order_acq_rel); }

  RingHeldQueue& held() { return *held_; }
  Transfers& transfers() { return *transfers_; }
  Edges& edges() { return *edges_; }

 private:
  static void prefetch_for_write(void* line) {
#ifdef __x86_64__
    // __builtin_prefetch would fetch it for reading only, unless compiled for newer processors.
    asm volatile("prefetchw %0" : : "m"(*static_cast<char*>(line)));
#else
    __builtin_prefetch(line, 1);
#endif
  }

  QueueCore(DeviceImpl& device, uint32_t capacity, QueueOptions::Priority priority);
  Status open();
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
  Status wait_for_room_slowly(uint64_t index, uint32_t packets);
  uint64_t refresh_room();
  std::string describe_run(const UncountedRun& run) const;
  bool lose(const Status& cause, bool abandoned);
  // How many packets are done of an abandoned queue; those that were when it was abandoned, if more
  // is not known just now.
  uint64_t completed_since() const;
  // How many packets are done, those `counted` and the uncounted ones among them.
  uint64_t with_uncounted(uint64_t counted) const { return counted + uncounted_.credit(counted); }
  static void on_error(hsa_status_t status, hsa_queue_t* source, void* data);

  // Read by every submission, written by none.
  DeviceImpl* device_;
  const Hsa& hsa_;
  hsa_queue_t* queue_ = nullptr;
  Packet* ring_ = nullptr;
  volatile uint64_t* doorbell_ = nullptr;
  volatile uint64_t* write_index_ = nullptr;
  std::byte* kernarg_ = nullptr;
  uint64_t mask_ = 0;
  uint64_t kernarg_block_ = 0;  // bytes
  const uint64_t user_bit_ = next_user_bit();
  uint32_t capacity_;
  QueueOptions::Priority priority_;
  EpochSignals signals_;
  PacketNotes notes_;
  HiddenValues hidden_;
  std::unique_ptr<RingHeldQueue> held_;
  std::unique_ptr<Transfers> transfers_;
  std::unique_ptr<Edges> edges_;
  std::atomic<bool> wants_edges_{false};  // written when that changes
  UncountedRuns uncounted_;

  // The end of the indices that are known to be writable; only grows.
  alignas(64) std::atomic<uint64_t> room_{0};

  alignas(64) AcquireState acquires_;

  std::atomic<uint64_t> release_end_{0};  // behind the last packet of try_release
  std::atomic<uint32_t> slow_paths_{0};

  std::atomic<bool> lost_{false};
  std::atomic<uint64_t> frozen_{0};  // completed() at the moment of the loss
  std::atomic<bool> abandoned_{false};
  std::atomic<uint64_t> queue_id_{0};
  mutable std::mutex fault_mutex_;
  Status fault_;
};

}  // namespace halyard::amdgpu
