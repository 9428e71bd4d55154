#include "vgpu/machine/block_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace halyard::vgpu::machine {

void BlockMap::add(const Block& block) {
  const std::lock_guard lock(mutex_);
  blocks_[block.begin] = block;
  epoch_.fetch_add(1, std::memory_order_relaxed);
}

std::optional<BlockMap::Block> BlockMap::remove(uint64_t begin) {
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(begin);
  if (found == blocks_.end()) return std::nullopt;
  const Block block = found->second;
  blocks_.erase(found);
  epoch_.fetch_add(1, std::memory_order_relaxed);
  return block;
}

std::optional<BlockMap::Block> BlockMap::find(uint64_t address) const {
  const std::lock_guard lock(mutex_);
  const auto above = blocks_.upper_bound(address);
  if (above == blocks_.begin()) return std::nullopt;
  const Block& block = std::prev(above)->second;
  if (address - block.begin >= block.guarded) return std::nullopt;
  return block;
}

isa::MemoryRange BlockMap::between(const isa::MemoryRange& range, uint64_t address) const {
  isa::MemoryRange part = range;
  const std::lock_guard lock(mutex_);
  const auto above = blocks_.upper_bound(address);
  if (above != blocks_.end()) part.end = std::min(part.end, above->first);
  if (above != blocks_.begin()) {
    const Block& below = std::prev(above)->second;
    part.begin = std::max(part.begin, below.begin + below.guarded);
  }
  return part;
}

isa::MemoryRange CheckedMemory::find(uint64_t address) const {
  const isa::MemoryRange range = table_.find(address);
  if (!range.contains(address, 1)) return range;
  const auto block = blocks_.find(address);
  if (!block) return blocks_.between(range, address);
  const isa::MemoryRange own{block->begin, block->begin + block->size, 0};
  if (!own.contains(address, 1)) return {};
  return {std::max(own.begin, range.begin), std::min(own.end, range.end), range.to_host,
          range.writable};
}

void CheckedMemory::describe(uint64_t address, char* text, uint64_t capacity) const {
  const auto block = blocks_.find(address);
  if (!block || capacity == 0) {
    table_.describe(address, text, capacity);
    return;
  }
  const uint64_t distance = address - block->begin;
  const std::string place = fmt::format("the {} bytes at [0x{:x}, 0x{:x})", block->size,
                                        block->begin, block->begin + block->size);
  const std::string words =
      distance < block->size
          ? fmt::format("in {}, {} bytes before their end", place, block->size - distance)
          : fmt::format("{} bytes past the end of {}", distance - block->size, place);
  const size_t length = std::min<size_t>(words.size(), capacity - 1);
  std::memcpy(text, words.data(), length);
  text[length] = 0;
}

}  // namespace halyard::vgpu::machine
