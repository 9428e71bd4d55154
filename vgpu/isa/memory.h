// What the engine may touch of the process's memory.
//
// A GPU virtual address is a host address, but for memory that the host has registered: the kernel
// driver gives that an address of its own on the GPU, and HIP 5.2.3 counts on the two being
// different. Here it is the host's address with kRegistered set, which no host address has. An
// access outside every mapped allocation must become a fault of the queue, never a crash of the
// process, so the engine asks before it touches. The thunk (vgpu/thunk) owns the map and implements
// this.
#pragma once

#include <cstdint>

namespace halyard::vgpu::isa {

inline constexpr uint64_t kRegistered = uint64_t{1} << 47;

// Where the memory is that the GPU sees at an accessible address.
inline uint64_t host_address(uint64_t address) {
  return address & ~kRegistered;
}

// A run of accessible bytes, [begin, end). `epoch` is the map's version when it was looked up.
struct MemoryRange {
  uint64_t begin = 0;
  uint64_t end = 0;
  bool contains(uint64_t address, uint64_t size) const {
    return address >= begin && address < end && size <= end - address;
  }
};

class AddressSpace {
 public:
  virtual ~AddressSpace() = default;

  // The mapped range that holds `address`, or an empty range. Any thread; does not block for long.
  virtual MemoryRange find(uint64_t address) const = 0;

  // Grows by one whenever a range is unmapped or shrinks: a cached MemoryRange is valid while this
  // is what it was when the range was found. A relaxed load.
  virtual uint64_t epoch() const = 0;

  // A sentence fragment on where `address` lies, for a fault report: the nearest allocation below
  // and above, with sizes.
  virtual void describe(uint64_t address, char* text, uint64_t capacity) const = 0;
};

// The GPU's address of a byte at which the host faulted. Of registered memory that is the second
// one: it has no other on the GPU.
inline uint64_t address_of_fault(const AddressSpace& memory, uint64_t host) {
  const uint64_t registered = host | kRegistered;
  return memory.find(registered).contains(registered, 1) ? registered : host;
}

}  // namespace halyard::vgpu::isa
