// The structs that a caller gives, which start with their own size. What sizes are legal is in
// hal/types.h.
#pragma once

#include <cstdint>

#include "hal/buffer.h"
#include "hal/device.h"
#include "hal/dispatch.h"
#include "hal/memory_pool.h"
#include "hal/profile.h"
#include "hal/queue.h"
#include "hal/status.h"

namespace halyard::internal {

struct InputStruct {
  const char* name = nullptr;
  uint32_t first = 0;  // its bytes in the interface's first version
  uint32_t known = 0;  // … and in this one
};

// Each struct that a public method takes has one; `first` never changes.
template <typename T>
inline constexpr InputStruct kInputStruct = {};
template <>
inline constexpr InputStruct kInputStruct<BufferOptions> = {"BufferOptions", 16,
                                                            sizeof(BufferOptions)};
template <>
inline constexpr InputStruct kInputStruct<Dispatch> = {"Dispatch", 64, sizeof(Dispatch)};
template <>
inline constexpr InputStruct kInputStruct<ExportedSemaphore> = {"ExportedSemaphore", 68,
                                                                sizeof(ExportedSemaphore)};
template <>
inline constexpr InputStruct kInputStruct<ImportOptions> = {"ImportOptions", 24,
                                                            sizeof(ImportOptions)};
template <>
inline constexpr InputStruct kInputStruct<PoolInfo> = {"PoolInfo", 24, sizeof(PoolInfo)};
template <>
inline constexpr InputStruct kInputStruct<PoolOptions> = {"PoolOptions", 16, sizeof(PoolOptions)};
template <>
inline constexpr InputStruct kInputStruct<ProfileOptions> = {"ProfileOptions", 16,
                                                             sizeof(ProfileOptions)};
template <>
inline constexpr InputStruct kInputStruct<RectangleCopy> = {"RectangleCopy", 64,
                                                            sizeof(RectangleCopy)};
template <>
inline constexpr InputStruct kInputStruct<Dmabuf> = {"Dmabuf", 16, sizeof(Dmabuf)};
template <>
inline constexpr InputStruct kInputStruct<QueueOptions> = {"QueueOptions", 12,
                                                           sizeof(QueueOptions)};

// Of a struct at `given` that says to have `size` bytes: OK if that is legal and the bytes that
// this version does not know are 0.
[[gnu::cold]] Status check_struct_size(const char* operation, const InputStruct& shape,
                                       const void* given, uint32_t size);

// Whether `given` has this version's size: then it needs no check, and can be used
// unchanged.
template <typename T>
bool is_of_this_version(const T& given) noexcept {
  return given.struct_size == sizeof(T);
}

// What this version knows of `given`, or why that cannot be used.
template <typename T>
Status take_struct(const char* operation, const T& given, T* known) {
  static_assert(kInputStruct<T>.first <= sizeof(T) && sizeof(T) <= kLargestStruct);
  if (!is_of_this_version(given)) [[unlikely]] {
    HALYARD_RETURN_IF_ERROR(
        check_struct_size(operation, kInputStruct<T>, &given, given.struct_size));
  }
  *known = known_part(given);
  return {};
}

}  // namespace halyard::internal
