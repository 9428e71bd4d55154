// Pages of the host that play the machine's memory.
//
// What a process can hand to another one (VRAM, and signals that are made for it) lies in System V
// shared memory, a segment for each allocation. A segment is marked for removal as soon as it is
// attached: Linux lets others attach to it still, for as long as anybody holds it. So memory lives
// until the last process lets go of it, as with the kernel driver, also when its maker is gone; no
// process holds more of another's than was given to it; and nothing is left behind by a crash. No
// descriptors are used up, and neither ptrace rights nor one PID namespace are needed; one user and
// one IPC namespace are.
#pragma once

#include <cstdint>

namespace halyard::vgpu::machine {

// A System V segment of this IPC namespace.
struct Segment {
  int id = -1;        // -1: none
  uint32_t made = 0;  // when, in seconds of CLOCK_REALTIME, low bits: tells a reused id apart

  bool exists() const { return id >= 0; }
};

// Puts a new segment in the place of reserved pages. If the system has no segment left, there is
// none, and the pages stay private. False if it does not get there: the pages are of no use then.
bool share_pages(void* begin, uint64_t size, Segment* segment);

// Puts a segment of this user's, which must have that size, in the place of reserved pages. False
// if it is gone or another one: the pages are of no use then.
bool attach_pages(const Segment& segment, void* begin, uint64_t size);

// The segments of this process's own are counted, as the system has few (4096 unless
// kernel.shmmni says otherwise) for all: no more than a quarter of that is taken.
inline constexpr uint32_t kMaxSegments = 1024;

}  // namespace halyard::vgpu::machine
