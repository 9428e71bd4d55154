// The headers of AQL packets, and which caches each must look after. Pure functions.
//
// HSA System Architecture 1.2, 2.9.1 ("Packet header") and 2.9.6 to 2.9.8. A packet's acquire fence
// runs before its kernel and decides which caches stop serving old data; the release fence runs
// after it and decides how far its writes travel. Agent scope concerns the caches inside of the
// compute units, system scope also the device's L2 as far as the host, other devices and the copy
// engines do not see it (LLVM AMDGPUUsage, "Memory Model").
#pragma once

#include <hsa/hsa.h>

#include <cstdint>

namespace halyard::amdgpu {

enum class PacketKind { kDispatch, kBarrier, kBarrierValue };

// What is known of a packet when its header is made.
struct FenceFacts {
  PacketKind kind = PacketKind::kDispatch;
  // Somebody outside of the queue may look at results as soon as the packet completes: it signals
  // a semaphore, or a copy engine reads what was written before it.
  bool observed = false;
  // It may read what the host, another queue, another device or a copy engine wrote: a host-visible
  // buffer or something that may be a pointer to one is among its arguments, it waited for
  // somebody else's work, or it is the first packet of its queue.
  bool reads_foreign = false;
};

struct FenceScopes {
  uint16_t acquire = HSA_FENCE_SCOPE_AGENT;
  uint16_t release = HSA_FENCE_SCOPE_AGENT;
  friend bool operator==(const FenceScopes&, const FenceScopes&) = default;
};

constexpr FenceScopes fence_scopes(const FenceFacts& facts) {
  FenceScopes scopes;
  // Acquire below agent scope is never right here: the kernel arguments' block was used before, and
  // the scalar cache may still hold what it contained.
  if (facts.reads_foreign) scopes.acquire = HSA_FENCE_SCOPE_SYSTEM;
  // A barrier is there to order; what it waited for was somebody else's.
  if (facts.kind != PacketKind::kDispatch) scopes.acquire = HSA_FENCE_SCOPE_SYSTEM;
  // Release at agent scope is enough for the next packet of this queue. A later observed packet's
  // system release carries the writes of all before it, since it writes the L2 back as a whole.
  if (facts.observed) scopes.release = HSA_FENCE_SCOPE_SYSTEM;
  return scopes;
}

// A dispatch within a recorded command buffer.
struct RecordedFacts {
  bool first = false;    // of the execution: the barrier bit orders it behind what was submitted
  bool barrier = false;  // a barrier was recorded in front of it
};

constexpr FenceScopes recorded_scopes(const RecordedFacts& facts) {
  FenceScopes scopes;
  // The first one acquires for the whole execution whatever was there when it was submitted: its
  // kernel arguments, bindings in the host's memory, results of others that were waited for.
  // Behind a recorded barrier come only this device's own writes, which the L2 has. What runs
  // beside others may read nothing that changes meanwhile, so it has nothing to acquire.
  scopes.acquire = facts.first     ? HSA_FENCE_SCOPE_SYSTEM
                   : facts.barrier ? HSA_FENCE_SCOPE_AGENT
                                   : HSA_FENCE_SCOPE_NONE;
  // For what comes behind the next barrier. The packet that ends the execution releases further if
  // somebody outside may look.
  scopes.release = HSA_FENCE_SCOPE_AGENT;
  return scopes;
}

// The first 16 bits of a packet. A queue is in order, so all have the barrier bit but those that a
// command buffer says may overlap.
constexpr uint16_t packet_header(hsa_packet_type_t type, FenceScopes scopes, bool barrier = true) {
  return static_cast<uint16_t>((type << HSA_PACKET_HEADER_TYPE) |
                               ((barrier ? 1 : 0) << HSA_PACKET_HEADER_BARRIER) |
                               (scopes.acquire << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE) |
                               (scopes.release << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE));
}

constexpr uint16_t packet_header(const FenceFacts& facts) {
  const hsa_packet_type_t type =
      facts.kind == PacketKind::kDispatch  ? HSA_PACKET_TYPE_KERNEL_DISPATCH
      : facts.kind == PacketKind::kBarrier ? HSA_PACKET_TYPE_BARRIER_AND
                                           : HSA_PACKET_TYPE_VENDOR_SPECIFIC;
  return packet_header(type, fence_scopes(facts));
}

// Of the barrier packet that ends an execution, or a part of it: it waits and releases, for what
// comes behind acquires for itself.
constexpr uint16_t counting_header(bool observed) {
  return packet_header(HSA_PACKET_TYPE_BARRIER_AND,
                       {.acquire = HSA_FENCE_SCOPE_NONE,
                        .release = static_cast<uint16_t>(observed ? HSA_FENCE_SCOPE_SYSTEM
                                                                  : HSA_FENCE_SCOPE_AGENT)});
}

// The first 32 bits of a dispatch packet: the header, and the number of dimensions.
constexpr uint32_t first_word(uint16_t header, uint32_t dimensions) {
  return header | dimensions << (16 + HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS);
}

}  // namespace halyard::amdgpu
