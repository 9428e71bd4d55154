// Arithmetic of a queue's ring, as pure functions.
//
// A packet's index (0, 1, 2, … without end) is everything: it gives the packet's slot in the ring,
// its kernel-argument block, and, since packets complete in order and each counts once, the number
// of completions at which it is done (index + 1). A reservation is one atomic addition to a word
// that holds the next index in its low 48 bits and, above, how many of the packets so far ring the
// host's bell ("loud" packets, those that signal semaphores), modulo 2^16.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace halyard::amdgpu {

inline constexpr uint32_t kIndexBits = 48;
inline constexpr uint64_t kIndexMask = (uint64_t{1} << kIndexBits) - 1;

// Bytes of kernel arguments that belong to each slot. A launch that needs more takes the blocks of
// the slots behind it as well, and fills these with packets that do nothing. Covers what compilers
// emit for nearly all kernels: 256 bytes of implicit arguments (code object version 5) and as much
// again of the kernel's own.
inline constexpr uint32_t kKernargBlock = 512;
// Blocks behind the last slot's, so that a launch near the end of the ring finds its blocks in one
// piece. Bounds a kernel's arguments to 16 KiB.
inline constexpr uint32_t kMaxKernargBlocks = 32;

inline constexpr uint32_t kMinCapacity = 64;     // also what ROCR's smallest ring holds
inline constexpr uint32_t kMaxCapacity = 16384;  // keeps loud counts apart modulo 2^16
inline constexpr uint32_t kDefaultCapacity = 1024;

constexpr uint64_t reservation(uint64_t packets, uint64_t loud) {
  return (loud << kIndexBits) + packets;
}
constexpr uint64_t index_of(uint64_t state) {
  return state & kIndexMask;
}
constexpr uint16_t loud_of(uint64_t state) {
  return static_cast<uint16_t>(state >> kIndexBits);
}

// The full ordinal of a loud packet whose ordinal is `low` modulo 2^16 and which is not done, when
// `done` loud packets are known to be.
constexpr uint64_t full_loud_ordinal(uint16_t low, uint64_t done) {
  return done + 1 + static_cast<uint16_t>(low - static_cast<uint16_t>(done + 1));
}

constexpr uint32_t kernarg_blocks(uint64_t bytes) {
  return static_cast<uint32_t>(std::max<uint64_t>(1, (bytes + kKernargBlock - 1) / kKernargBlock));
}

// The end of the indices that may be written when `completed` packets are done and the packet
// processor has taken `taken`: a slot is free when its last packet has been taken out of it and its
// kernel arguments are no more read.
constexpr uint64_t room_limit(uint64_t completed, uint64_t taken, uint64_t capacity) {
  return std::min(completed, taken) + capacity;
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
