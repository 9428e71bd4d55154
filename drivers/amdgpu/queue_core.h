// QueueCore: one hardware queue, as its parts, each with a subject of its own.
//
// Cores belong to their device and live as long as it does, so that a semaphore may point at one
// without counting references. A Queue borrows a core and gives it back when it is idle.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "drivers/amdgpu/edges.h"
#include "drivers/amdgpu/epoch.h"
#include "drivers/amdgpu/packet_notes.h"
#include "drivers/amdgpu/packet_ring.h"
#include "drivers/amdgpu/queue_fences.h"
#include "drivers/amdgpu/queue_loss.h"
#include "drivers/amdgpu/ring_room.h"
#include "hal/device.h"
#include "hal/status.h"
#include "plugins/sdk/users.h"

namespace halyard::amdgpu {

class DeviceImpl;
class RingHeldQueue;
class Transfers;

// Any thread may use any method, if nothing else is said.
class QueueCore {
 public:
  static Result<std::unique_ptr<QueueCore>> create(DeviceImpl& device, uint32_t capacity,
                                                   QueueOptions::Priority priority);
  // Only when nothing is in flight, or the queue is lost.
  ~QueueCore();
  QueueCore(const QueueCore&) = delete;
  QueueCore& operator=(const QueueCore&) = delete;

  DeviceImpl& device() const { return *device_; }
  // Of Users: whatever the queue is given has it.
  uint64_t user_bit() const { return user_bit_; }
  // Queue::id() of the queue that has the core.
  uint64_t queue_id() const { return queue_id_.load(std::memory_order_relaxed); }
  void set_queue_id(uint64_t id) { queue_id_.store(id, std::memory_order_relaxed); }

  // The packets, the slots that they may be written to, what is remembered of each, which of them
  // are done, and what they make visible to whom.
  PacketRing& ring() { return ring_; }
  const PacketRing& ring() const { return ring_; }
  RingRoom& room() { return room_; }
  const RingRoom& room() const { return room_; }
  PacketNotes& notes() { return notes_; }
  const PacketNotes& notes() const { return notes_; }
  Epoch& epoch() { return epoch_; }
  const Epoch& epoch() const { return epoch_; }
  QueueFences& fences() { return fences_; }
  // Whether the queue is lost.
  QueueLoss& loss() { return loss_; }
  const QueueLoss& loss() const { return loss_; }
  // How other queues wait for packets, what is not in the ring yet, and the copies of its engines.
  Edges& edges() { return edges_; }
  RingHeldQueue& held() const { return *held_; }
  Transfers& transfers() const { return *transfers_; }

  // Whether submissions take the slow path (submit): the queue is lost, operations are held back,
  // or a profile is being taken. Each of these is a reason of its own.
  bool takes_slow_path() const { return slow_paths_.load(std::memory_order_acquire) != 0; }
  void add_slow_path() { slow_paths_.fetch_add(1, std::memory_order_acq_rel); }
  void remove_slow_path() { slow_paths_.fetch_sub(1, std::memory_order_acq_rel); }

  // QueueLoss::lose, for all parts. The caller then wakes everybody who waits.
  bool lose(const Status& cause, bool abandoned);
  // Whether neither packets before `index` nor their copies use memory any more. Also of an
  // abandoned queue, whose work may still end.
  bool is_through(uint64_t index) const;

 private:
  QueueCore(DeviceImpl& device, uint32_t capacity, QueueOptions::Priority priority);
  static void on_error(hsa_status_t status, void* data);

  // First what every submission reads and none writes.
  DeviceImpl* const device_;
  const uint64_t user_bit_ = next_user_bit();
  std::atomic<uint32_t> slow_paths_{0};
  PacketRing ring_;
  PacketNotes notes_;
  Epoch epoch_;
  RingRoom room_;
  alignas(64) QueueFences fences_;
  Edges edges_;
  QueueLoss loss_;
  std::atomic<uint64_t> queue_id_{0};
  const std::unique_ptr<RingHeldQueue> held_;
  const std::unique_ptr<Transfers> transfers_;
};

}  // namespace halyard::amdgpu
