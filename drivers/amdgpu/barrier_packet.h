// Barrier-AND packets in a queue's ring.
#pragma once

#include <cstdint>

#include "drivers/amdgpu/hsa.h"
#include "drivers/amdgpu/packet_header.h"

namespace halyard::amdgpu {

class QueueCore;

// What a barrier packet does besides waiting for all that is before it.
struct BarrierSignals {
  hsa_signal_t dependency = {};  // waits until it is 0; none if null
  // Completes it instead of a signal of the epoch; none if null.
  hsa_signal_t completion = {};
};

// Writes and publishes the reserved packet `index`, for which there is room. `interrupt` as in
// EpochSignals::completion.
void write_barrier(QueueCore& core, uint64_t index, bool interrupt, uint16_t header,
                   const BarrierSignals& signals = {});
inline void write_barrier(QueueCore& core, uint64_t index, bool interrupt, const FenceFacts& facts,
                          const BarrierSignals& signals = {}) {
  write_barrier(core, index, interrupt, packet_header(facts), signals);
}

}  // namespace halyard::amdgpu
