// Memref descriptors as MLIR's lowering to LLVM lays them out, and the memory that one covers.
#pragma once

#include <cstdint>

#include "hal/status.h"

namespace halyard::mlir {

// A descriptor of rank 1 (MLIR's StridedMemRefType<T, 1>). Those of other ranks begin in the same
// way, with `rank` sizes and then `rank` strides.
template <typename T>
struct MemRef {
  T* allocated;
  T* aligned;
  int64_t offset;  // elements, from `aligned`
  int64_t size;    // elements
  int64_t stride;  // elements
};

struct MemoryRange {
  char* start = nullptr;
  uint64_t bytes = 0;  // 0: the memref has no element
  friend bool operator==(const MemoryRange&, const MemoryRange&) = default;
};

// From the first to the last byte that an element of the memref covers, gaps between included.
// INVALID_ARGUMENT for a null descriptor, a negative rank, size or element size, and for more than
// the address space holds.
Result<MemoryRange> covered_memory(int64_t rank, const MemRef<char>* descriptor,
                                   int64_t element_bytes);

}  // namespace halyard::mlir
