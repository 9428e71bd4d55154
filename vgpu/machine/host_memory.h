// Pages of the host that play the machine's memory.
//
// Memory that a process can share (VRAM, and signals for IPC) is System V shared memory, with
// one segment for each allocation. A segment is marked for removal as soon as it is attached.
// Linux lets other processes attach to it as long as any process has it. So, as with the kernel
// driver, memory lives until the last process has released it, even if its creator is gone. A
// process keeps only the memory that it was given, and a crash leaves nothing behind. This needs
// no descriptors, no ptrace rights and no common PID namespace, but the same user and IPC
// namespace.
#pragma once

#include <cstdint>

namespace halyard::vgpu::machine {

// A System V segment of this IPC namespace.
struct Segment {
  int id = -1;        // -1: none
  uint32_t made = 0;  // when, in seconds of CLOCK_REALTIME, low bits: tells a reused id apart

  bool exists() const { return id >= 0; }
};

// Replaces reserved pages by a new segment. If the system has no segment left, the pages stay
// private, without a segment. False on failure: the pages are then unusable.
bool share_pages(void* begin, uint64_t size, Segment* segment);

// Puts a segment of this user's, which must have that size, in the place of reserved pages. False
// if it is gone or another one: the pages are of no use then.
bool attach_pages(const Segment& segment, void* begin, uint64_t size);

// Counts the segments of this process, because the system has few for all processes (4096, or
// kernel.shmmni): a process takes at most a quarter of them.
inline constexpr uint32_t kMaxSegments = 1024;

}  // namespace halyard::vgpu::machine
