#include "vgpu/machine/retry_memory.h"

namespace halyard::vgpu::machine {
namespace {

// No access of an instruction is longer.
constexpr uint64_t kLongestAccess = 64;

}  // namespace

isa::MemoryRange RetryMemory::find(uint64_t address) const {
  const isa::MemoryRange range = table_.find(address);
  // An access may begin in a range and end in memory that has not been touched yet.
  const bool is_there = range.contains(address, 1);
  const uint64_t missing = is_there ? range.end : address;
  if (is_there && range.end - address >= kLongestAccess) return range;
  RetryHandler* const handler = map_.retry_handler();
  if (handler == nullptr || !handler->retry(node_, missing)) return range;
  return table_.find(address);
}

}  // namespace halyard::vgpu::machine
