// Copies of memory: ranges, and rectangles of rows. Stores are of 16 bytes at aligned addresses;
// loads are of 16 bytes wherever the bytes lie.
#include "target.h"

DEVICE Vector load(uint64_t source) {
  return *(const GLOBAL UnalignedVector*)source;
}

KERNEL void halyard_copy(HalyardCopyArguments arguments) {
  const uint64_t target = (uint64_t)arguments.target;
  const uint64_t source = (uint64_t)arguments.source;
  const Range range = range_of(target, arguments.size);

  uint64_t edge;
  if (edge_byte(&range, &edge)) {
    *(GLOBAL uint8_t*)(target + edge) = *(const GLOBAL uint8_t*)(source + edge);
  }

  const uint32_t lane_offset = local_id() * HALYARD_VECTOR_BYTES;
  uint32_t tile = group_id();
  for (; tile < range.tiles; tile += arguments.group_count) {
    const uint64_t base = range.head + (uint64_t)tile * HALYARD_TILE_BYTES;
    // All loads are under way before the first store waits for its own.
    Vector values[HALYARD_VECTORS_IN_FLIGHT];
#pragma unroll
    for (uint32_t i = 0; i < HALYARD_VECTORS_IN_FLIGHT; ++i) {
      values[i] =
          load(place(source + base + i * HALYARD_GROUP_SIZE * HALYARD_VECTOR_BYTES, lane_offset));
    }
#pragma unroll
    for (uint32_t i = 0; i < HALYARD_VECTORS_IN_FLIGHT; ++i) {
      *(GLOBAL Vector*)place(target + base + i * HALYARD_GROUP_SIZE * HALYARD_VECTOR_BYTES,
                             lane_offset) = values[i];
    }
  }
  if (tile != range.tiles) return;
  const uint64_t base = range.head + (uint64_t)tile * HALYARD_TILE_BYTES;
  const uint32_t left = (uint32_t)(range.body_end - base);
  Vector values[HALYARD_VECTORS_IN_FLIGHT];
#pragma unroll
  for (uint32_t i = 0; i < HALYARD_VECTORS_IN_FLIGHT; ++i) {
    const uint32_t offset = lane_offset + i * HALYARD_GROUP_SIZE * HALYARD_VECTOR_BYTES;
    if (offset < left) values[i] = load(place(source + base, offset));
  }
#pragma unroll
  for (uint32_t i = 0; i < HALYARD_VECTORS_IN_FLIGHT; ++i) {
    const uint32_t offset = lane_offset + i * HALYARD_GROUP_SIZE * HALYARD_VECTOR_BYTES;
    if (offset < left) *(GLOBAL Vector*)place(target + base, offset) = values[i];
  }
}

// Bytes [from, to) of a vector, 0 <= from < to <= 16, in pieces of 8, 4, 2 and 1 that are aligned
// in the target.
DEVICE void copy_part(GLOBAL uint8_t* target, const GLOBAL uint8_t* source, uint32_t from,
                      uint32_t to) {
  typedef uint16_t Unaligned16 __attribute__((aligned(1)));
  typedef uint32_t Unaligned32 __attribute__((aligned(1)));
  typedef uint64_t Unaligned64 __attribute__((aligned(1)));
  while (from < to) {
    const uint32_t left = to - from;
    if (left >= 8 && from % 8 == 0) {
      *(GLOBAL uint64_t*)(target + from) = *(const GLOBAL Unaligned64*)(source + from);
      from += 8;
    } else if (left >= 4 && from % 4 == 0) {
      *(GLOBAL uint32_t*)(target + from) = *(const GLOBAL Unaligned32*)(source + from);
      from += 4;
    } else if (left >= 2 && from % 2 == 0) {
      *(GLOBAL uint16_t*)(target + from) = *(const GLOBAL Unaligned16*)(source + from);
      from += 2;
    } else {
      target[from] = source[from];
      from += 1;
    }
  }
}

// One row, whose vectors of the target are `lane`, `lane + stride` and so on.
DEVICE void copy_row(GLOBAL uint8_t* target, const GLOBAL uint8_t* source, uint64_t size,
                     uint64_t lane, uint64_t stride) {
  // The row begins `skip` bytes into its first aligned vector of the target.
  const uint32_t skip = (uint32_t)((uint64_t)target % HALYARD_VECTOR_BYTES);
  const uint64_t end = skip + size;
  for (uint64_t begin = lane * HALYARD_VECTOR_BYTES; begin < end;
       begin += stride * HALYARD_VECTOR_BYTES) {
    GLOBAL uint8_t* const to = target - skip + begin;
    const GLOBAL uint8_t* const from = source - skip + begin;
    const uint32_t first = begin == 0 ? skip : 0;
    const uint64_t left = end - begin;
    const uint32_t last = left < HALYARD_VECTOR_BYTES ? (uint32_t)left : HALYARD_VECTOR_BYTES;
    if (first == 0 && last == HALYARD_VECTOR_BYTES) {
      *(GLOBAL Vector*)to = load((uint64_t)from);
    } else {
      copy_part(to, from, first, last);
    }
  }
}

KERNEL void halyard_copy_rectangle(HalyardCopyRectangleArguments arguments) {
  const uint32_t log2_lanes = arguments.log2_lanes_per_row;
  const uint32_t rows_at_once = HALYARD_GROUP_SIZE >> log2_lanes;
  const uint64_t row_stride = (uint64_t)arguments.group_count[0] * rows_at_once;
  const uint64_t first_row = (uint64_t)group_id() * rows_at_once + (local_id() >> log2_lanes);
  const uint64_t lane = ((uint64_t)__builtin_amdgcn_workgroup_id_y() << log2_lanes) +
                        (local_id() & ((1u << log2_lanes) - 1));
  const uint64_t lane_stride = (uint64_t)arguments.group_count[1] << log2_lanes;

  for (uint64_t slice = __builtin_amdgcn_workgroup_id_z(); slice < arguments.slice_count;
       slice += arguments.group_count[2]) {
    GLOBAL uint8_t* const target = arguments.target + slice * arguments.target_slice_pitch;
    const GLOBAL uint8_t* const source = arguments.source + slice * arguments.source_slice_pitch;
    for (uint64_t row = first_row; row < arguments.row_count; row += row_stride) {
      copy_row(target + row * arguments.target_row_pitch, source + row * arguments.source_row_pitch,
               arguments.row_bytes, lane, lane_stride);
    }
  }
}
