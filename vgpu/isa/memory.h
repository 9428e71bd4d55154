// The process's memory that the engine may access.
//
// A GPU virtual address is a host address, except for memory that the host has registered. That has
// a different address on the GPU, so each range stores the distance between the two. An access
// outside every mapped allocation must become a fault of the queue, never a crash of the process,
// so the engine checks before each access. The driver (vgpu/machine) owns the map and implements
// this.
#pragma once

#include <cstdint>

namespace halyard::vgpu::isa {

// A run of accessible bytes, [begin, end).
struct MemoryRange {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t to_host = 0;  // what leads from the GPU's address of a byte to the host's; modulo 2^64
  bool writable = true;  // for the GPU; the host's protection is apart from that
  bool contains(uint64_t address, uint64_t size) const {
    return address >= begin && address < end && size <= end - address;
  }
  // Where the process has the byte that the GPU sees at `address`, which the range holds.
  uint8_t* host(uint64_t address) const {
    return reinterpret_cast<uint8_t*>(static_cast<uintptr_t>(address + to_host));
  }
};

class AddressSpace {
 public:
  virtual ~AddressSpace() = default;

  // The mapped range that holds `address`, or an empty range. Any thread; does not block for long.
  virtual MemoryRange find(uint64_t address) const = 0;

  // Grows by one when a range is unmapped or shrinks: a cached MemoryRange is valid as long as this
  // value has not changed since it was found. A relaxed load.
  virtual uint64_t epoch() const = 0;

  // A sentence fragment on where `address` lies, for a fault report: the nearest allocation below
  // and above, with sizes.
  virtual void describe(uint64_t address, char* text, uint64_t capacity) const = 0;

  // The GPU's address of a byte at which the host faulted: of registered memory the one that it has
  // on the GPU, else the same. Searches, and may block.
  virtual uint64_t address_of_fault(uint64_t host) const { return host; }
};

}  // namespace halyard::vgpu::isa
