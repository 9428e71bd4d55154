#include "bindings/mlir/memory_table.h"

#include <algorithm>
#include <utility>

namespace halyard::mlir {

Memory& MemoryTable::add(Memory memory) {
  longest_ = std::max(longest_, memory.bytes);
  const uint64_t address = memory.address;
  return by_address_.emplace(address, std::move(memory))->second;
}

Memory* MemoryTable::find(uint64_t address) {
  Memory* found = nullptr;
  uint64_t found_end = 0;
  for (auto next = by_address_.upper_bound(address); next != by_address_.begin();) {
    Memory& memory = (--next)->second;
    const uint64_t distance = address - memory.address;
    if (distance >= longest_) break;
    if (distance >= memory.bytes) continue;
    const uint64_t end = memory.address + memory.bytes;
    if (end <= found_end) continue;
    found = &memory;
    found_end = end;
  }
  return found;
}

Memory* MemoryTable::find_start(uint64_t address, MemoryKind kind) {
  Memory* found = nullptr;
  const auto [first, last] = by_address_.equal_range(address);
  for (auto next = first; next != last; ++next) {
    Memory& memory = next->second;
    if (memory.kind == kind && (found == nullptr || memory.bytes > found->bytes)) found = &memory;
  }
  return found;
}

void MemoryTable::remove(const Memory& memory) {
  const auto [first, last] = by_address_.equal_range(memory.address);
  for (auto next = first; next != last; ++next) {
    if (&next->second != &memory) continue;
    by_address_.erase(next);
    return;
  }
}

void MemoryTable::remove_of(const void* owner) {
  std::erase_if(by_address_, [owner](const auto& entry) {
    return entry.second.kind == MemoryKind::kGlobal && entry.second.owner == owner;
  });
}

}  // namespace halyard::mlir
