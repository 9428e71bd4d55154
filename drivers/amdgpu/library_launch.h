// The shapes and arguments that the device library's kernels are launched with. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "drivers/amdgpu/device/abi.h"
#include "drivers/amdgpu/device_library.h"
#include "hal/queue.h"
#include "hal/types.h"

namespace halyard::amdgpu {

struct LibraryLaunch {
  static constexpr size_t kMaxArguments = 96;

  LibraryKernel kernel = LibraryKernel::kFill;
  Dim3 grid = {};       // work-items
  Dim3 workgroup = {};  // work-items
  uint32_t arguments_size = 0;
  alignas(8) std::byte arguments[kMaxArguments];
};

// Addresses are the device's. `compute_units` (0: as if it were 1) bounds the number of
// work-groups.

// `pattern_size` is 1, 2, 4, 8 or 16; `size` need not be a multiple of it.
LibraryLaunch fill_launch(void* target, uint64_t size, const void* pattern, uint32_t pattern_size,
                          uint32_t compute_units);
LibraryLaunch copy_launch(void* target, const void* source, uint64_t size, uint32_t compute_units);

// Bytes throughout.
struct Rectangle {
  uint64_t row_bytes = 0;
  uint32_t row_count = 1;
  uint32_t slice_count = 1;
  uint64_t target_row_pitch = 0;
  uint64_t target_slice_pitch = 0;
  uint64_t source_row_pitch = 0;
  uint64_t source_slice_pitch = 0;
};
LibraryLaunch copy_rectangle_launch(void* target, const void* source, const Rectangle& rectangle,
                                    uint32_t compute_units);

Rectangle rectangle_of(const RectangleCopy& shape);

// Whether fill_launch takes a pattern of that many bytes.
constexpr bool is_fill_pattern(uint32_t pattern_size) {
  return HALYARD_VECTOR_BYTES % pattern_size == 0;
}
// Any other is written as rows without a source pitch: the pattern, repeated so often that it
// divides `size` and has at most `room` bytes (at least one pattern). How many bytes a row has.
uint32_t pattern_row_bytes(uint32_t pattern_size, uint64_t size, uint32_t room);
// Fills rows of `size`, which must be at most 2^32 - 1, from one row at `source`.
LibraryLaunch fill_rows_launch(void* target, uint64_t size, const void* source, uint32_t row_bytes,
                               uint32_t compute_units);

// Goes into the slot right before `arguments.packet`, which is written as device/abi.h says.
LibraryLaunch patch_dispatch_launch(const HalyardPatchDispatchArguments& arguments);

// `signals` are `count` handles of hsa_signal_t in memory that the device reads. Goes behind a
// barrier packet that waits for their packets, unless queue order says already that these are done.
LibraryLaunch collect_timestamps_launch(const uint64_t* signals, HalyardTimestamps* results,
                                        uint32_t count, uint32_t compute_units);

}  // namespace halyard::amdgpu
