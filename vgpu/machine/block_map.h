// The blocks that a program has allocated from the vendor's runtime, for isa::AddressSpace.
//
// The runtime rounds allocations up to pages and takes several blocks from one allocation, so the
// GPU's page tables let a kernel access more than the program owns. In the checking mode, the
// runtime's allocation functions report each block (runtime_hooks.cpp), and an access outside of it
// is a memory fault.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "vgpu/isa/memory.h"

namespace halyard::vgpu::machine {

// Any thread.
class BlockMap {
 public:
  struct Block {
    uint64_t begin = 0;
    uint64_t size = 0;     // bytes that the program asked for
    uint64_t guarded = 0;  // bytes from begin that are nobody else's: size, rounded up, and a gap
  };

  void add(const Block& block);
  // Removes the block that was added at `begin`.
  std::optional<Block> remove(uint64_t begin);
  // The block whose bytes or guard hold `address`.
  std::optional<Block> find(uint64_t address) const;
  // The part of `range` around `address`, which is in no block, that lies between blocks.
  isa::MemoryRange between(const isa::MemoryRange& range, uint64_t address) const;

  // Grows whenever a block comes or goes.
  uint64_t epoch() const { return epoch_.load(std::memory_order_relaxed); }

 private:
  mutable std::mutex mutex_;
  std::map<uint64_t, Block> blocks_;  // by begin
  std::atomic<uint64_t> epoch_{0};
};

// What a table lets through, less what lies outside of the blocks.
class CheckedMemory final : public isa::AddressSpace {
 public:
  CheckedMemory(const isa::AddressSpace& table, const BlockMap& blocks)
      : table_(table), blocks_(blocks) {}

  isa::MemoryRange find(uint64_t address) const override;
  uint64_t epoch() const override { return table_.epoch() + blocks_.epoch(); }
  void describe(uint64_t address, char* text, uint64_t capacity) const override;
  uint64_t address_of_fault(uint64_t host) const override { return table_.address_of_fault(host); }

 private:
  const isa::AddressSpace& table_;
  const BlockMap& blocks_;
};

}  // namespace halyard::vgpu::machine
