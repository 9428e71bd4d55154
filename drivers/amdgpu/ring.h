// Arithmetic of a queue's ring, as pure functions.
//
// A packet's index (0, 1, 2, … without end) is everything: it gives the packet's slot in the ring,
// its kernel-argument block, and, since packets complete in order and each counts once, the number
// of completions at which it is done (index + 1).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace halyard::amdgpu {

// Bytes of kernel arguments that belong to each slot, unless the device option kernarg_bytes asks
// for more: the slot's block. A launch that needs more takes the blocks of the slots behind it as
// well, and fills these with packets that do nothing. Covers what compilers emit for nearly all
// kernels: 256 bytes of implicit arguments (code object version 5) and as much again of the
// kernel's own.
inline constexpr uint32_t kKernargBlock = 512;
// Blocks behind the last slot's, so that a launch near the end of the ring finds its blocks in one
// piece. Bounds a kernel's arguments: to 16 KiB with blocks of 512 bytes.
inline constexpr uint32_t kMaxKernargBlocks = 32;

inline constexpr uint32_t kMinCapacity = 64;  // also what ROCR's smallest ring holds
inline constexpr uint32_t kMaxCapacity = 16384;
inline constexpr uint32_t kDefaultCapacity = 1024;

// What the ring remembers of a packet in its slot, so that a reader knows whether it is that
// packet's already, and still: the index, and whether its completion raises an interrupt.
constexpr uint64_t slot_tag(uint64_t index, bool interrupt) {
  return (index << 1) | (interrupt ? 1 : 0);
}
constexpr uint64_t tag_index(uint64_t tag) {
  return tag >> 1;
}
constexpr bool tag_interrupts(uint64_t tag) {
  return (tag & 1) != 0;
}
// Of a slot that no packet has used yet; larger than any index.
inline constexpr uint64_t kUnusedTag = UINT64_MAX;

constexpr uint32_t kernarg_blocks(uint64_t bytes, uint32_t block) {
  return static_cast<uint32_t>(std::max<uint64_t>(1, (bytes + block - 1) / block));
}

// The end of the indices that may be written when `completed` packets are done and the packet
// processor has taken `taken`: a slot is free when its last packet has been taken out of it and its
// kernel arguments are no more read.
constexpr uint64_t room_limit(uint64_t completed, uint64_t taken, uint64_t capacity) {
  return std::min(completed, taken) + capacity;
}

// How a recorded run of packets goes into a ring: in chunks, each followed by a packet that is done
// when the chunk is and counts for all of it. Chunks are small beside the ring, so that the device
// works on one while the next is written.
struct BatchLayout {
  uint32_t packets = 0;  // that are recorded
  uint32_t chunk = 0;    // … of which at most so many go in front of a counting one
  uint32_t chunks = 0;

  constexpr uint64_t slots() const { return uint64_t{packets} + chunks; }
  // Of chunk i: its first slot, counted from the layout's first; its first packet; its packets.
  constexpr uint64_t slot(uint32_t i) const { return uint64_t{i} * (chunk + 1); }
  constexpr uint32_t begin(uint32_t i) const { return i * chunk; }
  constexpr uint32_t size(uint32_t i) const { return std::min(chunk, packets - begin(i)); }
  // Of a packet, likewise.
  constexpr uint64_t slot_of(uint32_t packet) const {
    return slot(packet / chunk) + packet % chunk;
  }
};

constexpr BatchLayout batch_layout(uint32_t packets, uint32_t capacity) {
  BatchLayout layout;
  layout.packets = packets;
  // Even, so that a packet of even number and the one behind it are in the same chunk.
  layout.chunk = capacity / 4 - 2;
  layout.chunks = std::max(1u, (packets + layout.chunk - 1) / layout.chunk);
  return layout;
}

// The capacity that is made when `requested` (0: any) is asked for and the agent takes sizes from
// `smallest` to `largest`, both powers of two.
constexpr uint32_t ring_capacity(uint32_t requested, uint32_t smallest, uint32_t largest) {
  const uint32_t low = std::max(kMinCapacity, smallest);
  const uint32_t high = std::max(low, std::min(kMaxCapacity, largest));
  const uint32_t wanted = requested == 0 ? kDefaultCapacity : std::min(requested, high);
  return std::clamp(std::bit_ceil(wanted), low, high);
}

}  // namespace halyard::amdgpu
