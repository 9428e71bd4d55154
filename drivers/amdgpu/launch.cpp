#include "drivers/amdgpu/launch.h"

#include "drivers/amdgpu/barrier_packet.h"

namespace halyard::amdgpu {

void fill_blocks(QueueCore& core, uint64_t index, const KernelCode& code, bool observed) {
  for (uint32_t i = 1; i < code.kernarg_blocks; ++i) {
    const bool signals = observed && i + 1 == code.kernarg_blocks;
    write_barrier(core, index + i, signals, {.kind = PacketKind::kBarrier, .observed = signals});
  }
}

}  // namespace halyard::amdgpu
