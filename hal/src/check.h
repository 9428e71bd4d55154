// Checks that several of the interface's methods share. Each returns OK or the sentence to give to
// the caller; `operation` is the method as the caller knows it ("Queue::fill").
#pragma once

#include <cstdint>
#include <string>

#include "hal/buffer.h"
#include "hal/queue.h"
#include "hal/semaphore.h"
#include "hal/status.h"
#include "hal/types.h"

namespace halyard::internal {

// The bytes of a buffer range of `offset` and `length` in `size` bytes. A length of
// BufferRange::kToEnd becomes the remaining bytes. OUT_OF_RANGE if it does not fit;
// FAILED_PRECONDITION if the buffer was deallocated (`size` is 0).
Status resolve_length(const char* operation, const char* role, uint64_t size, uint64_t offset,
                      uint64_t* length);

// The names of two devices for a message, with their URIs if the names are equal.
struct DeviceNames {
  std::string one;
  std::string other;
};
[[gnu::cold]] DeviceNames names_of(const Device& one, const Device& other);

// FAILED_PRECONDITION: the buffer of the range was deallocated.
[[gnu::cold]] Status given_back(const char* operation, const char* role);

// Whether `gpu` is `device`, or one of a logical device's GPUs.
bool is_part_of(const Device& gpu, const Device& device) noexcept;
// Whether `device`, or a GPU of a logical device, can access the buffer's memory. A logical
// device's queue is one GPU's, whose own checks follow. Host memory is within reach of every device
// of its driver.
bool reaches(const Device& device, const Buffer& buffer) noexcept;

// INVALID_ARGUMENT unless `device` made `buffer`, which is stricter than being accessible;
// FAILED_PRECONDITION if it was deallocated.
Status check_own(const char* operation, const Device& device, const Buffer& buffer);

// `range` with a buffer that `device` can access and its length resolved. `role` is "target",
// "source", …
Status resolve_range(const char* operation, const char* role, const Device& device,
                     const BufferRange& range, BufferRange* resolved);

// A range in a recording may name a slot instead of a buffer; its length stays as it is.
Status resolve_recorded(const char* operation, const char* role, const Device& device,
                        const BufferRange& range, BufferRange* resolved);

Status check_pattern(const char* operation, const void* pattern, uint32_t pattern_size,
                     uint64_t length);
Status check_source(const char* operation, const void* source, uint64_t size,
                    const BufferRange& target);
// Lengths equal; no byte in both.
Status check_copy(const char* operation, const BufferRange& source, const BufferRange& target);

// Fills in the pitches that are 0, and checks all of the shape.
Status resolve_shape(const char* operation, const RectangleCopy& given, RectangleCopy* shape);
// `range` with the length that the shape takes of it (`pitches`: of its side).
struct Pitches {
  uint64_t row = 0;
  uint64_t slice = 0;
};
inline Pitches source_pitches(const RectangleCopy& shape) {
  return {shape.source_row_pitch, shape.source_slice_pitch};
}
inline Pitches target_pitches(const RectangleCopy& shape) {
  return {shape.target_row_pitch, shape.target_slice_pitch};
}
Status fit_rectangle(const char* operation, const char* role, const RectangleCopy& shape,
                     const Pitches& pitches, BufferRange* range);
// No byte in rows of both.
Status check_rectangles(const char* operation, const RectangleCopy& shape,
                        const BufferRange& source, const BufferRange& target);

// A type that exists, and not only on other devices.
Status check_memory_type(const char* operation, MemoryType type);
// Of BufferOptions::managed. `device` is the GPU that allocates.
Status check_managed(const char* operation, const Device& device, const BufferOptions& options);
// The same of BufferOptions::reserve.
Status check_reserve(const char* operation, const Device& device, uint64_t size,
                     const BufferOptions& options);
Status check_memory_of(const char* operation, const Device& device, MemoryType type);
// 0, or a power of two of at most 2 MiB.
Status check_alignment(const char* operation, uint64_t alignment);
// What allocate and alloca have in common.
Status check_allocation(const char* operation, const Device& device, uint64_t size, MemoryType type,
                        uint64_t alignment);

[[gnu::cold]] Status bad_sync(const char* operation, const Device& device, const Sync& sync);

// Semaphores exist and belong to a driver that `device` can wait on. Of nearly all this is easily
// seen: they are the device's own.
inline bool is_plain(const Device& device, Span<const SemaphorePoint> points) noexcept {
  for (const SemaphorePoint& point : points) {
    if (point.semaphore == nullptr || &point.semaphore->device() != &device) [[unlikely]]
      return false;
  }
  return true;
}
inline Status check_sync(const char* operation, const Device& device, const Sync& sync) {
  if (is_plain(device, sync.wait) && is_plain(device, sync.signal)) [[likely]]
    return {};
  return bad_sync(operation, device, sync);
}

Status check_points(const char* operation, const Device& device, Span<const SemaphorePoint> points);

// Three work-group counts, 4-byte aligned.
Status check_group_counts(const char* operation, const BufferRange& range);

}  // namespace halyard::internal
