// What the runtime knows of memory: which addresses are allocations or registered host memory, and
// the buffers behind them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "hal/buffer.h"
#include "hal/ref.h"

namespace halyard::mlir {

enum class MemoryKind : uint8_t { kAllocated, kRegistered, kGlobal };

// A run of addresses that programs use. Host memory is imported once for each device that uses it;
// other memory has one buffer.
struct Memory {
  MemoryKind kind = MemoryKind::kAllocated;
  uint64_t address = 0;  // as the program uses it
  uint64_t bytes = 0;
  size_t device = 0;                      // index of the device that it was made for
  uint64_t registrations = 1;             // kRegistered: how many unregister calls it wants
  const void* owner = nullptr;            // kGlobal: the module
  std::vector<Ref<Buffer>> buffers = {};  // by the device's index; null where there is none

  bool holds(uint64_t from, uint64_t size) const {
    return from >= address && from - address <= bytes && size <= bytes - (from - address);
  }
};

// Not thread-safe. Pointers to a Memory stay valid until it is removed.
class MemoryTable {
 public:
  Memory& add(Memory memory);

  // The memory that contains `address` and reaches furthest beyond it; null if there is none.
  Memory* find(uint64_t address);
  // The longest memory of that kind that begins at `address`; null if there is none.
  Memory* find_start(uint64_t address, MemoryKind kind);
  void remove(const Memory& memory);
  // Globals of a module that goes.
  void remove_of(const void* owner);
  size_t size() const { return by_address_.size(); }

 private:
  std::multimap<uint64_t, Memory> by_address_;
  uint64_t longest_ = 0;  // bytes of the longest that there ever was: how far back find() looks
};

}  // namespace halyard::mlir
