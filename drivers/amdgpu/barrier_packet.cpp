#include "drivers/amdgpu/barrier_packet.h"

#include "drivers/amdgpu/queue_core.h"

namespace halyard::amdgpu {

void write_barrier(QueueCore& core, uint64_t index, bool interrupt, uint16_t header,
                   const BarrierSignals& signals) {
  Packet& slot = core.ring().slot(index);
  hsa_barrier_and_packet_t& packet = slot.barrier;
  packet.reserved1 = 0;
  packet.dep_signal[0] = signals.dependency;
  for (int i = 1; i < 5; ++i) packet.dep_signal[i].handle = 0;
  packet.reserved2 = 0;
  packet.completion_signal = signals.completion.handle != 0
                                 ? signals.completion
                                 : core.epoch().signals().completion(interrupt);
  core.notes().note(index, nullptr, interrupt);
  publish(slot, header, 0);
}

}  // namespace halyard::amdgpu
