// Asks, before an instruction touches memory, whether it may.
#pragma once

#include "vgpu/isa/memory.h"
#include "vgpu/isa/wave.h"
#include "vgpu/shared_memory_access.h"

namespace halyard::vgpu::isa {

// Drops cached ranges if the map has changed. Call it once for each memory instruction; the result
// is valid for that instruction.
[[nodiscard]] inline SharedMemoryAccess begin_access(Wave& wave) {
  return SharedMemoryAccess([&wave] {
    const uint64_t epoch = wave.memory->epoch();
    if (epoch != wave.range_epoch) [[unlikely]] {
      for (MemoryRange& range : wave.ranges) range = {};
      wave.range_epoch = epoch;
    }
  });
}

// The wave's own scratch is the engine's memory and in no map.
inline MemoryRange scratch_range(const Wave& wave) {
  return {wave.scratch_base,
          wave.scratch_base + uint64_t{(wave.scratch_bytes_per_lane + 3) / 4} * 4 * kLanes, 0};
}

// The range that holds [address, address + size) and may be accessed so, or an empty one. After
// begin_access.
inline MemoryRange find_range(Wave& wave, uint64_t address, uint64_t size, bool is_write) {
  const auto allowed = [is_write](const MemoryRange& range) {
    return range.writable || !is_write ? range : MemoryRange{};
  };
  for (const MemoryRange& range : wave.ranges) {
    if (range.contains(address, size)) return allowed(range);
  }
  const MemoryRange scratch = scratch_range(wave);
  if (scratch.contains(address, size)) return scratch;
  const MemoryRange found = wave.memory->find(address);
  if (!found.contains(address, size)) return {};
  wave.ranges[wave.next_range] = found;
  wave.next_range = static_cast<uint8_t>((wave.next_range + 1) % Wave::kRanges);
  return allowed(found);
}

// Where the process has [address, address + size), or null if the wave may not access all of it so.
// After begin_access.
inline uint8_t* find_host(Wave& wave, uint64_t address, uint64_t size, bool is_write) {
  const MemoryRange range = find_range(wave, address, size, is_write);
  return range.end != 0 ? range.host(address) : nullptr;
}

inline uint8_t* scratch_memory(const Wave& wave) {
  return reinterpret_cast<uint8_t*>(static_cast<uintptr_t>(wave.scratch_base));
}

// Aligned dwords and halves are single accesses, as the hardware guarantees; a byte always is.
template <class T>
T load(const uint8_t* p) {
  if (sizeof(T) <= 4 && reinterpret_cast<uintptr_t>(p) % sizeof(T) == 0)
    return __atomic_load_n(reinterpret_cast<const T*>(p), __ATOMIC_RELAXED);
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

template <class T>
void store(uint8_t* p, T value) {
  if (sizeof(T) <= 4 && reinterpret_cast<uintptr_t>(p) % sizeof(T) == 0) {
    __atomic_store_n(reinterpret_cast<T*>(p), value, __ATOMIC_RELAXED);
  } else {
    std::memcpy(p, &value, sizeof value);
  }
}

}  // namespace halyard::vgpu::isa
