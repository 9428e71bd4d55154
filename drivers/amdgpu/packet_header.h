// The headers of AQL packets (HSA System Architecture 1.2, 2.9.1, "Packet header"), with the fences
// that visibility.h decides. Pure functions.
#pragma once

#include <hsa/hsa.h>

#include <cstdint>
#include <string_view>

#include "drivers/amdgpu/visibility.h"

namespace halyard::amdgpu {

// The first 16 bits of a packet. A queue is in order, so all have the barrier bit but those that a
// command buffer says may overlap.
constexpr uint16_t packet_header(hsa_packet_type_t type, FenceScopes scopes, bool barrier = true) {
  return static_cast<uint16_t>(
      (type << HSA_PACKET_HEADER_TYPE) | ((barrier ? 1 : 0) << HSA_PACKET_HEADER_BARRIER) |
      (static_cast<int>(scopes.acquire) << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE) |
      (static_cast<int>(scopes.release) << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE));
}

constexpr uint16_t packet_header(const FenceFacts& facts) {
  const hsa_packet_type_t type =
      facts.kind == PacketKind::kDispatch  ? HSA_PACKET_TYPE_KERNEL_DISPATCH
      : facts.kind == PacketKind::kBarrier ? HSA_PACKET_TYPE_BARRIER_AND
                                           : HSA_PACKET_TYPE_VENDOR_SPECIFIC;
  return packet_header(type, fence_scopes(facts));
}

// Of the barrier packet that ends an execution, or a part of it.
constexpr uint16_t packet_header(const CountingFacts& facts) {
  return packet_header(HSA_PACKET_TYPE_BARRIER_AND, counting_scopes(facts));
}

// The first 32 bits of a dispatch packet: the header, and the number of dimensions.
constexpr uint32_t first_word(uint16_t header, uint32_t dimensions) {
  return header | dimensions << (16 + HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS);
}

// Whether the packet processor of a GPU takes AMD's barrier-value packet (hsa_ext_amd.h). What the
// vendor's own runtime relies on (ROCclr 5.2.3, aqlBarrierValue_): gfx900, gfx904, gfx908, gfx90a.
// `processor` without features.
constexpr bool has_barrier_value(std::string_view processor) {
  return processor == "gfx900" || processor == "gfx904" || processor == "gfx908" ||
         processor == "gfx90a";
}

}  // namespace halyard::amdgpu
