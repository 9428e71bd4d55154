#include "drivers/amdgpu/queue_fences.h"

#include "drivers/amdgpu/barrier_packet.h"
#include "drivers/amdgpu/foreign.h"
#include "drivers/amdgpu/queue_core.h"

namespace halyard::amdgpu {

QueueFences::QueueFences(QueueCore& core)
    : acquires_(Foreign::instance().unheard_memory()), core_(core) {}

bool QueueFences::is_released() const {
  const uint64_t end = core_.ring().reserved();
  return end == core_.ring().first() || core_.notes().raises_interrupt(end - 1);
}

bool QueueFences::try_release(uint64_t* end) {
  if (core_.loss().lost() && !core_.loss().abandoned()) return true;
  PacketRing& ring = core_.ring();
  const uint64_t reserved = ring.reserved();
  // Packets that raise an interrupt are observed, and release.
  const auto releases = [this](uint64_t index) { return core_.notes().raises_interrupt(index); };
  if (*end <= ring.first() || releases(*end - 1)) return true;
  if (release_end_.load(std::memory_order_acquire) == reserved || releases(reserved - 1)) {
    *end = reserved;
    return true;
  }
  if (!core_.room().has_at(reserved, 1) || !ring.reserve_behind(reserved - 1)) return false;
  write_barrier(core_, reserved, false, {.kind = PacketKind::kBarrier, .observed = true});
  ring.ring_doorbell(reserved);
  *end = reserved + 1;
  release_end_.store(*end, std::memory_order_release);
  return true;
}

}  // namespace halyard::amdgpu
