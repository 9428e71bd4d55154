// Memory with a descriptor, which another process can get (SCM_RIGHTS) and map: a dma-buf's.
//
// Memory becomes such a file when it is exported, not before: a descriptor for each allocation
// would be too many. It is moved while GPUs and the host may use it; their accesses wait.
//
// Handles of host_memory.h that other processes have stay valid: the segment that was the memory
// then holds a record of where the file is.
#pragma once

#include <climits>
#include <cstdint>
#include <string>

#include "vgpu/machine/host_memory.h"

namespace halyard::vgpu::machine {

// A file of zeros that nobody can resize. Returns its descriptor, closed on exec, or -1 with errno
// set. `name`: what memory_file_name() returns of it in any process; at most 200 bytes.
int create_memory_file(const std::string& name, uint64_t bytes);

// The name, and the size, of a file that create_memory_file() has made, here or in another process;
// empty for any other descriptor.
std::string memory_file_name(int file, uint64_t* bytes);

// Maps the file in the place of what is mapped there.
bool map_memory_file(int file, void* begin, uint64_t bytes);

// What is mapped at [begin, begin + bytes), and once more behind it if `size` is twice that.
struct MappedMemory {
  void* begin = nullptr;
  uint64_t size = 0;   // of addresses
  uint64_t bytes = 0;  // of memory
  Segment segment;     // whose memory it is; none: private pages
};

// Moves the memory into a file that has its size, and maps the file in its place. 0, or an errno
// value below 0, which leaves it as it was: EBUSY if another process, or another place in this one,
// has the segment attached. `*forwarding` is what stop_forwarding() ends; null if there is no
// segment.
int move_to_memory_file(const MappedMemory& memory, int file, void** forwarding);

// A segment that leads other processes to the file. -ENOMEM if the system has none left.
int forward_to_memory_file(int file, uint64_t bytes, Segment* segment, void** forwarding);
void stop_forwarding(void* forwarding);

// If the segment at these addresses only leads to a file: opens that, and maps it there. Returns
// its descriptor; kNotForwarded if the segment is the memory itself; or an errno value below 0 if
// the file is out of reach: its process has ended, or is of another PID namespace or user.
inline constexpr int kNotForwarded = INT_MIN;
int follow_to_memory_file(const Segment& segment, void* begin, uint64_t bytes);

}  // namespace halyard::vgpu::machine
