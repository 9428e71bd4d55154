// Who may see what: which packets have to acquire from, or release to, the whole system, and which
// only their own GPU. Every packet's fences are decided here, by pure functions over what is known
// of it; and AcquireState is what a queue has to remember for them.
//
// A packet's acquire fence runs before its kernel and drops what caches hold of old data; its
// release fence runs after the kernel and decides how far its writes travel (HSA System
// Architecture 1.2, 2.9.1 and 2.9.6 to 2.9.8). Agent scope concerns the caches of the compute
// units, which the kernels of one GPU share through its L2. System scope also concerns the L2, past
// which the host, other GPUs and the copy engines read and write memory (LLVM AMDGPUUsage, "Memory
// Model").
//
// So agent scope is enough only where it is proven that nobody else has written what a packet reads
// since its queue last acquired from the system, and that nobody else reads what it has written
// before a later packet releases. Everything else is at system scope.
#pragma once

#include <hsa/hsa.h>

#include <atomic>
#include <cstdint>

namespace halyard::amdgpu {

// Where memory comes from, for a device whose work uses it.
enum class Origin : uint8_t {
  // The device's own, which the host does not see: only work in Halyard's queues writes it.
  kOwn,
  // The host writes it too: its own memory, or memory of the device that it maps.
  kHost,
  // Another device's.
  kPeer,
  // Of other code in the process (HIP, a library), or of another process. They write it with queues
  // and copies of their own.
  kImported,
};

// The same memory for work of another device.
constexpr Origin seen_from(Origin origin, bool same_device) {
  return origin == Origin::kOwn && !same_device ? Origin::kPeer : origin;
}

// Whether what it holds may have been written past the L2 of the device that reads it, without an
// event that AcquireState hears of.
constexpr bool is_foreign(Origin origin) {
  return origin != Origin::kOwn;
}

enum class Scope : uint16_t {
  kNone = HSA_FENCE_SCOPE_NONE,
  kAgent = HSA_FENCE_SCOPE_AGENT,
  kSystem = HSA_FENCE_SCOPE_SYSTEM,
};

struct FenceScopes {
  Scope acquire = Scope::kAgent;
  Scope release = Scope::kAgent;
  friend bool operator==(const FenceScopes&, const FenceScopes&) = default;
};

enum class PacketKind { kDispatch, kBarrier, kBarrierValue };

// What is known of a packet when its header is made.
struct FenceFacts {
  PacketKind kind = PacketKind::kDispatch;
  // Somebody outside of the queue may look at results as soon as the packet completes: it signals
  // a semaphore, or a copy engine or a host function reads what was written before it.
  bool observed = false;
  // It may read foreign memory through its arguments, it waited for somebody else's work, or
  // AcquireState asks for it.
  bool reads_foreign = false;
};

constexpr FenceScopes fence_scopes(const FenceFacts& facts) {
  FenceScopes scopes;
  // Acquire below agent scope is never right here: the kernel arguments' block was used before, and
  // the scalar cache may still hold what it contained.
  if (facts.reads_foreign) scopes.acquire = Scope::kSystem;
  // A barrier is there to order; what it waited for was somebody else's.
  if (facts.kind != PacketKind::kDispatch) scopes.acquire = Scope::kSystem;
  // Release at agent scope is enough for the next packet of this queue. A later observed packet's
  // system release carries the writes of all before it, since it writes the L2 back as a whole.
  if (facts.observed) scopes.release = Scope::kSystem;
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
  scopes.acquire = facts.first ? Scope::kSystem : facts.barrier ? Scope::kAgent : Scope::kNone;
  // For what comes behind the next barrier. The packet that ends the execution releases further if
  // somebody outside may look.
  scopes.release = Scope::kAgent;
  return scopes;
}

// The barrier packet that ends an execution, or a part of it.
struct CountingFacts {
  bool observed = false;  // as in FenceFacts
  bool alone = false;     // the recording is empty: the execution has no other packet
};

constexpr FenceScopes counting_scopes(const CountingFacts& facts) {
  // It waits and releases, and what comes behind acquires for itself. Only where no first packet
  // has acquired for the execution, it does.
  return {.acquire = facts.alone ? Scope::kSystem : Scope::kNone,
          .release = facts.observed ? Scope::kSystem : Scope::kAgent};
}

// The packet behind an observed one that other queues wait for in its stead: that one has released,
// and they acquire.
inline constexpr FenceScopes kEdgeScopes = {.acquire = Scope::kNone, .release = Scope::kNone};

// A queue, when it is the turn of an operation that the host carries out.
struct HostTurnFacts {
  bool idle = false;  // all of its packets are done
  // Nothing was ever submitted, or the last packet was observed.
  bool released = false;
};

// Whether the queue needs one more observed packet, to be done before the host begins. Kernels that
// are done have released to their agent only: what they wrote may still be in the L2, past which
// the host and the copy engines read.
constexpr bool needs_packet_before_host(const HostTurnFacts& facts) {
  return !facts.idle || !facts.released;
}

// What a queue remembers: whether something foreign may have been written since the last of its
// packets that acquired from the system. Any thread may use any method.
class AcquireState {
 public:
  // `unheard_memory` counts the memory in the process that is written without an event (Foreign).
  explicit AcquireState(const std::atomic<uint32_t>& unheard_memory)
      : unheard_memory_(unheard_memory) {}

  // Whether the packet with this index has to acquire from the system. If so it does: later packets
  // may rely on it. Call it before the packet is published.
  bool acquires_foreign(uint64_t index) {
    const uint64_t clean = clean_from_.load(std::memory_order_relaxed);
    if (clean < index) [[likely]]
      return false;
    // Kernels may reach such memory through pointers in memory, of which nobody knows.
    if (unheard_memory_.load(std::memory_order_acquire) != 0) return true;
    // If the exchange succeeds after a host_observed, so does the packet's fence, which is
    // published later: it covers what the host has observed.
    uint64_t expected = kDirty;
    clean_from_.compare_exchange_strong(expected, index, std::memory_order_seq_cst);
    return true;
  }
  // The host has seen that some work is done, of this device or another, and may now submit what
  // depends on it without a wait.
  void host_observed() { clean_from_.store(kDirty, std::memory_order_seq_cst); }

 private:
  // Index of a packet that acquires at system scope and since which the host has observed nothing;
  // kDirty: there is none.
  static constexpr uint64_t kDirty = UINT64_MAX;
  std::atomic<uint64_t> clean_from_{kDirty};
  const std::atomic<uint32_t>& unheard_memory_;
};

}  // namespace halyard::amdgpu
