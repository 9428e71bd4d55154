// What the host and the kernels of the device library agree on: the names of the kernels, their
// arguments and the shapes that they are launched in.
//
// Included by C for the GPU and by C++ for the host, and without a header of either's. Every kernel
// takes one structure by value, so that its kernel-argument segment is that structure, and has no
// hidden arguments: its work-group size is kHalyardGroupSize (or as stated), and what it needs to
// know of the grid is in its arguments.
#pragma once

#ifdef __AMDGCN__
#define HALYARD_DEVICE_POINTER(type) __attribute__((address_space(1))) type*
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
#else
#include <stdint.h>
#define HALYARD_DEVICE_POINTER(type) type*
#endif

// Work-items of a work-group of every kernel but halyard_patch_dispatch, which takes one.
#define HALYARD_GROUP_SIZE 256u
// Bytes that a work-item stores at once. The edges of a range, where this much cannot be stored at
// an aligned address, are written in smaller pieces: nothing outside of a range is ever touched.
#define HALYARD_VECTOR_BYTES 16u
// Vectors that a work-item has under way at once, and the bytes that a work-group then moves in one
// round of its loop.
#define HALYARD_VECTORS_IN_FLIGHT 4u
#define HALYARD_TILE_BYTES (HALYARD_GROUP_SIZE * HALYARD_VECTOR_BYTES * HALYARD_VECTORS_IN_FLIGHT)

// halyard_fill: [target, target + size) becomes the pattern, repeated and cut off at the end. Any
// number of work-groups in x; `group_count` is that number.
typedef struct HalyardFillArguments {
  HALYARD_DEVICE_POINTER(uint8_t) target;
  uint64_t size;  // bytes
  uint8_t pattern[HALYARD_VECTOR_BYTES];
  uint32_t group_count;
  uint32_t reserved;
} HalyardFillArguments;

// halyard_copy: [source, source + size) goes to [target, target + size); they do not overlap. Any
// alignments. Any number of work-groups in x; `group_count` is that number.
typedef struct HalyardCopyArguments {
  HALYARD_DEVICE_POINTER(uint8_t) target;
  HALYARD_DEVICE_POINTER(const uint8_t) source;
  uint64_t size;  // bytes
  uint32_t group_count;
  uint32_t reserved;
} HalyardCopyArguments;

// halyard_copy_rectangle: `slice_count` times `row_count` rows of `row_bytes` bytes. A row is taken
// by 2^log2_lanes_per_row work-items of a work-group (at most HALYARD_GROUP_SIZE), and the
// work-group takes as many rows at once as that leaves. Any number of work-groups in x (over the
// rows), y (along a row) and z (over the slices); `group_count` holds these numbers.
typedef struct HalyardCopyRectangleArguments {
  HALYARD_DEVICE_POINTER(uint8_t) target;
  HALYARD_DEVICE_POINTER(const uint8_t) source;
  uint64_t row_bytes;
  uint64_t target_row_pitch;    // bytes between the beginnings of two rows
  uint64_t target_slice_pitch;  // bytes
  uint64_t source_row_pitch;    // bytes
  uint64_t source_slice_pitch;  // bytes
  uint32_t row_count;
  uint32_t slice_count;
  uint32_t log2_lanes_per_row;
  uint32_t group_count[3];
} HalyardCopyRectangleArguments;

// halyard_patch_dispatch: completes the kernel dispatch packet of an indirect dispatch and hands it
// to the packet processor. One work-item, once. (HSA System Architecture 1.2, 2.9.6)
//
// The packet is in its slot with everything but the grid and the first 32 bits; these still say
// INVALID, so that the packet processor stops there and has read nothing of the rest that counts.
typedef struct HalyardPatchDispatchArguments {
  HALYARD_DEVICE_POINTER(const uint32_t) group_counts;  // x, y, z; 4-byte aligned
  HALYARD_DEVICE_POINTER(uint32_t) packet;              // 16 words
  // hidden_block_count_x, _y and _z in the packet's kernel arguments, or null: where the counts go.
  HALYARD_DEVICE_POINTER(uint32_t) block_counts;
  // Told of the packet once it is valid, or null. The value is the packet's index.
  HALYARD_DEVICE_POINTER(uint64_t) doorbell;
  uint64_t doorbell_value;
  uint32_t first_word;  // header and setup of the packet
  // The same if the grid is empty, of a barrier-AND packet, which then takes its place.
  uint32_t empty_first_word;
  uint32_t group_size[3];  // work-items
  // Work-items in each dimension. A larger grid is passed on as a packet of no dimensions, which
  // the packet processor refuses: the queue fails, and names the kernel.
  uint32_t max_grid[3];
} HalyardPatchDispatchArguments;

// One dispatch's start and end in ticks of the agent's clock.
typedef struct HalyardTimestamps {
  uint64_t start;
  uint64_t end;
} HalyardTimestamps;

// halyard_collect_timestamps: results[i] becomes what the packet processor noted in signals[i], an
// hsa_signal_t whose packet is done; zeros for a null signal. Any number of work-groups in x.
typedef struct HalyardCollectTimestampsArguments {
  HALYARD_DEVICE_POINTER(const uint64_t) signals;
  HALYARD_DEVICE_POINTER(HalyardTimestamps) results;  // 8-byte aligned
  uint32_t count;
  uint32_t group_count;
} HalyardCollectTimestampsArguments;
