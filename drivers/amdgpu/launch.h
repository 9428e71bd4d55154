// The packets of a kernel's launch in a queue's ring. The path of a launch that waits for nothing,
// QueueImpl::do_dispatch, is written out there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "drivers/amdgpu/executable.h"
#include "drivers/amdgpu/packet_header.h"
#include "drivers/amdgpu/queue_core.h"
#include "hal/kernel_arguments.h"
#include "hal/types.h"

namespace halyard::amdgpu {

// What a kernel's packet holds besides the kernel.
struct LaunchFacts {
  const Dim3& grid;       // work-items
  const Dim3& workgroup;  // work-items
  uint32_t lds_bytes = 0;
  void* kernarg = nullptr;
  hsa_signal_t completion = {};
};

// All of a launch's packet but its first word, which makes it valid.
inline void write_body(hsa_kernel_dispatch_packet_t& packet, const KernelCode& code,
                       const LaunchFacts& facts) {
  packet.workgroup_size_x = static_cast<uint16_t>(facts.workgroup.x);
  packet.workgroup_size_y = static_cast<uint16_t>(facts.workgroup.y);
  packet.workgroup_size_z = static_cast<uint16_t>(facts.workgroup.z);
  packet.reserved0 = 0;
  // In one piece: word by word, compilers gather them in a vector register first.
  static_assert(sizeof(Dim3) == 3 * sizeof(packet.grid_size_x));
  std::memcpy(
      reinterpret_cast<std::byte*>(&packet) + offsetof(hsa_kernel_dispatch_packet_t, grid_size_x),
      &facts.grid, sizeof(Dim3));
  packet.private_segment_size = code.private_bytes;
  packet.group_segment_size = facts.lds_bytes;
  packet.kernel_object = code.object;
  packet.kernarg_address = facts.kernarg;
  packet.reserved2 = 0;
  packet.completion_signal = facts.completion;
}

// The first word's upper half.
inline uint16_t setup_of(const Dim3& grid) {
  return static_cast<uint16_t>(grid_dimensions(grid)
                               << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS);
}

// Fills the slots behind packet `index` whose argument blocks its kernel uses too. The last of them
// signals in the kernel's stead if that is `observed`.
void fill_blocks(QueueCore& core, uint64_t index, const KernelCode& code, bool observed);

// A launch whose arguments are not those of a Dispatch.
struct Launch {
  const FunctionImpl& function;
  const Dim3& grid;       // work-items
  const Dim3& workgroup;  // work-items
  bool reads_foreign;
};

// Writes and publishes the packets of a launch from the reserved slot `index` on, for which there
// is room. `pack(kernarg)` writes the arguments and returns the LDS bytes.
template <typename Pack>
inline void write_launch(QueueCore& core, uint64_t index, bool observed, const Launch& launch,
                         Pack&& pack) {
  PacketRing& ring = core.ring();
  const KernelCode& code = launch.function.code();
  const bool interrupt = observed && code.kernarg_blocks == 1;
  ring.prefetch_slot(index + 4);
  Packet& packet = ring.slot(index);
  void* const kernarg = ring.kernarg(index);
  const uint32_t lds_bytes = pack(kernarg);
  write_body(packet.dispatch, code,
             {.grid = launch.grid,
              .workgroup = launch.workgroup,
              .lds_bytes = lds_bytes,
              .kernarg = kernarg,
              .completion = core.epoch().signals().completion(interrupt)});
  core.notes().note(index, &launch.function, interrupt);
  const FenceFacts fences = {
      .kind = PacketKind::kDispatch,
      .observed = observed,
      .reads_foreign = core.fences().acquires_foreign(index) || launch.reads_foreign};
  publish(packet, packet_header(fences), setup_of(launch.grid));
  fill_blocks(core, index, code, observed);
}

}  // namespace halyard::amdgpu
