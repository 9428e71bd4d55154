// What the kernels need of the AMDGPU target, in C, and how they share a range of bytes out.
#pragma once

#include "abi.h"

#define AMDGPU_KERNEL __attribute__((amdgpu_kernel, visibility("protected")))
#if __clang_major__ >= 22
#define GROUP_OF(size) __attribute__((amdgpu_flat_work_group_size(size, size)))
#else
// Older compilers take the attribute in HIP and OpenCL alone, and allow for any size without it.
#define GROUP_OF(size)
#endif
#define KERNEL AMDGPU_KERNEL GROUP_OF(HALYARD_GROUP_SIZE)
#define SINGLE_KERNEL AMDGPU_KERNEL GROUP_OF(1)
#define DEVICE static inline __attribute__((always_inline))
#define GLOBAL __attribute__((address_space(1)))

_Static_assert(sizeof(uint64_t) == 8, "long has 64 bits on AMDGPU");

// 16 bytes in one memory access. At an address of any alignment the hardware takes a little longer;
// that it takes such addresses at all is what the operating system sets for every HSA process
// (LLVM AMDGPUUsage, target feature "unaligned-access-mode").
typedef uint32_t Vector __attribute__((ext_vector_type(4)));
typedef uint32_t UnalignedVector __attribute__((ext_vector_type(4), aligned(1)));
_Static_assert(sizeof(Vector) == HALYARD_VECTOR_BYTES, "a vector is 16 bytes");

DEVICE uint32_t local_id(void) {
  return __builtin_amdgcn_workitem_id_x();
}
DEVICE uint32_t group_id(void) {
  return __builtin_amdgcn_workgroup_id_x();
}

// `base` is the same for all work-items. Told so here, the compiler leaves it in scalar registers
// and has the memory instruction add the work-item's 32-bit offset.
DEVICE uint64_t place(uint64_t base, uint32_t offset) {
#if __clang_major__ >= 22  // older ones do not see that it is the same for all
  __asm__("" : "+s"(base));
  __asm__("" : "+v"(offset));
#endif
  return base + offset;
}

// A range of bytes in memory as its edges, up to 15 bytes on either side, and what lies between:
// tiles for a work-group each, then less than a tile of whole, aligned vectors. All of them
// offsets.
typedef struct Range {
  uint64_t size;
  uint64_t head;      // where the tiles begin
  uint64_t body_end;  // where the vectors end
  uint32_t tiles;     // 64 TiB of them
} Range;

DEVICE Range range_of(uint64_t address, uint64_t size) {
  Range range;
  range.size = size;
  range.head = -address % HALYARD_VECTOR_BYTES;
  if (range.head > size) range.head = size;
  const uint64_t body = size - range.head;
  range.body_end = range.head + body / HALYARD_VECTOR_BYTES * HALYARD_VECTOR_BYTES;
  range.tiles = (uint32_t)(body / HALYARD_TILE_BYTES);
  return range;
}

// Whether this work-item has a byte of the edges, and which.
DEVICE _Bool edge_byte(const Range* range, uint64_t* offset) {
  const uint32_t lane = local_id();
  const uint32_t at = lane % HALYARD_VECTOR_BYTES;
  const _Bool first = lane < HALYARD_VECTOR_BYTES;
  *offset = first ? at : range->body_end + at;
  return group_id() == 0 && lane < 2 * HALYARD_VECTOR_BYTES &&
         *offset < (first ? range->head : range->size);
}
