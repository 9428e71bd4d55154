// What the driver writes into a queue's ring, looked at before the packet processor takes it.
#pragma once

#include <sched.h>

#include <cstdint>

#include "drivers/amdgpu/barrier_packet.h"
#include "drivers/amdgpu/queue_core.h"

namespace halyard::amdgpu {

// Keeps the packet processor from all that is submitted while this lives: a slot in front of it is
// reserved and not written.
class PacketView {
 public:
  explicit PacketView(QueueCore& core) : core_(core), hole_(core.ring().reserve(1)) {}
  ~PacketView() {
    core_.room().wait(hole_, 1).ignore();
    write_barrier(core_, hole_, false, {.kind = PacketKind::kBarrier});
    core_.ring().ring_doorbell(core_.ring().reserved() - 1);
  }
  PacketView(const PacketView&) = delete;
  PacketView& operator=(const PacketView&) = delete;

  // How many packets were submitted, and the scopes of packet `i` of these.
  uint64_t count() const { return core_.ring().reserved() - hole_ - 1; }
  uint32_t acquire(uint64_t i) const { return bits(i, HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE); }
  uint32_t release(uint64_t i) const { return bits(i, HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE); }

 private:
  uint32_t bits(uint64_t i, int position) const {
    return (core_.ring().slot(hole_ + 1 + i).words[0] >> position) & 3;
  }

  QueueCore& core_;
  const uint64_t hole_;
};

// Waits for the queue's packets by the signals that count them, which nobody hears of.
inline void wait_unheard(const QueueCore& core) {
  while (!core.epoch().idle()) sched_yield();
}

}  // namespace halyard::amdgpu
