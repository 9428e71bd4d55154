// Structs that cross the C interface: their sizes, and their ways to and from hal's.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "hal/dispatch.h"
#include "hal/error.h"
#include "hal/memory_pool.h"
#include "hal/queue.h"
#include "handle.h"

namespace halyard::c {

// The bytes that a struct had in the interface's first version. It never changes: a caller with a
// smaller struct is mistaken.
template <typename T>
inline constexpr size_t kFirstSize = 0;
template <>
inline constexpr size_t kFirstSize<halyard_virtual_gpu_options> = 24;
template <>
inline constexpr size_t kFirstSize<halyard_registry_options> = 88;
template <>
inline constexpr size_t kFirstSize<halyard_driver_info> = 64;
template <>
inline constexpr size_t kFirstSize<halyard_device_summary> = 48;
template <>
inline constexpr size_t kFirstSize<halyard_candidate> = 96;
template <>
inline constexpr size_t kFirstSize<halyard_searched_place> = 48;
template <>
inline constexpr size_t kFirstSize<halyard_device_info> = 128;
template <>
inline constexpr size_t kFirstSize<halyard_device_details> = 56;
template <>
inline constexpr size_t kFirstSize<halyard_heap_info> = 40;
template <>
inline constexpr size_t kFirstSize<halyard_heap_statistics> = 32;
template <>
inline constexpr size_t kFirstSize<halyard_pool_statistics> = 48;
template <>
inline constexpr size_t kFirstSize<halyard_link_info> = 32;
template <>
inline constexpr size_t kFirstSize<halyard_buffer_options> = 24;
template <>
inline constexpr size_t kFirstSize<halyard_import_options> = 32;
template <>
inline constexpr size_t kFirstSize<halyard_exported_handle> = 72;
template <>
inline constexpr size_t kFirstSize<halyard_dmabuf> = 24;
template <>
inline constexpr size_t kFirstSize<halyard_module_options> = 32;
template <>
inline constexpr size_t kFirstSize<halyard_module_variant> = 72;
template <>
inline constexpr size_t kFirstSize<halyard_argument_info> = 48;
template <>
inline constexpr size_t kFirstSize<halyard_function_info> = 80;
template <>
inline constexpr size_t kFirstSize<halyard_executable_info> = 24;
template <>
inline constexpr size_t kFirstSize<halyard_global_info> = 24;
template <>
inline constexpr size_t kFirstSize<halyard_queue_options> = 16;
template <>
inline constexpr size_t kFirstSize<halyard_dispatch> = 64;
template <>
inline constexpr size_t kFirstSize<halyard_rectangle> = 64;
template <>
inline constexpr size_t kFirstSize<halyard_memory_pool_info> = 32;
template <>
inline constexpr size_t kFirstSize<halyard_allocation_info> = 40;
template <>
inline constexpr size_t kFirstSize<halyard_clock_reading> = 40;
template <>
inline constexpr size_t kFirstSize<halyard_residency> = 32;
template <>
inline constexpr size_t kFirstSize<halyard_exported_semaphore> = 72;

// A size above it is not one.
inline constexpr size_t kLargestCStruct = 4096;

[[gnu::cold]] Status bad_struct_size(const char* function, size_t given, size_t first,
                                     size_t known);

template <typename T>
Status check_size(const char* function, size_t given) {
  static_assert(kFirstSize<T> != 0 && kFirstSize<T> <= sizeof(T));
  if (given >= kFirstSize<T> && given <= kLargestCStruct) [[likely]]
    return {};
  return bad_struct_size(function, given, kFirstSize<T>, sizeof(T));
}

// Copies `value` into the caller's struct, as far as that goes.
template <typename T>
Status give(const char* function, T* place, T value) {
  HALYARD_RETURN_IF_ERROR(check_output(function, "struct", place));
  const size_t size = place->struct_size;
  HALYARD_RETURN_IF_ERROR(check_size<T>(function, size));
  value.struct_size = size;
  std::memcpy(static_cast<void*>(place), &value, std::min(size, sizeof(T)));
  if (size > sizeof(T)) {
    std::memset(reinterpret_cast<unsigned char*>(place) + sizeof(T), 0, size - sizeof(T));
  }
  return {};
}

// What this version knows of the caller's struct; null stands for one that is all 0.
template <typename T>
Status take(const char* function, const T* given, T* known) {
  *known = T{};
  if (given == nullptr) return {};
  const size_t size = given->struct_size;
  HALYARD_RETURN_IF_ERROR(check_size<T>(function, size));
  const auto* const bytes = reinterpret_cast<const unsigned char*>(given);
  for (size_t i = sizeof(T); i < size; ++i) {
    if (bytes[i] == 0) continue;
    return error(StatusCode::kInvalidArgument,
                 "{} is given a struct of {} bytes whose byte {} is not 0; this library knows the "
                 "first {}. Use a library that is as new as the program's header.",
                 function, size, i, sizeof(T));
  }
  std::memcpy(static_cast<void*>(known), given, std::min(size, sizeof(T)));
  return {};
}

// `what` is "heap": OUT_OF_RANGE unless index < count.
Status check_index(const char* function, const char* what, size_t index, size_t count);

// A list that is short most of the time.
template <typename T>
class ShortList {
 public:
  explicit ShortList(size_t count) : size_(count) {
    if (count > few_.size()) many_.resize(count);
  }
  T* data() noexcept { return many_.empty() ? few_.data() : many_.data(); }
  T& operator[](size_t i) noexcept { return data()[i]; }
  Span<const T> span() noexcept { return {data(), size_}; }

 private:
  size_t size_;
  std::array<T, 16> few_;
  std::vector<T> many_;
};

// `range` as hal's; a null buffer stays null, for a slot or for hal to refuse.
Status to_range(const char* function, const halyard_range& range, BufferRange* converted);

// The points of a halyard_sync, for as long as a call takes.
class SyncPoints {
 public:
  SyncPoints(const char* function, const halyard_sync* sync);
  const Status& status() const noexcept { return status_; }
  Sync get() noexcept { return {.wait = wait_.span(), .signal = signal_.span()}; }

 private:
  ShortList<SemaphorePoint> wait_;
  ShortList<SemaphorePoint> signal_;
  Status status_;
};
Status to_points(const char* function, const halyard_point* points, size_t count,
                 SemaphorePoint* converted);

// A halyard_dispatch as hal's, for as long as a call takes.
class Launch {
 public:
  Launch(const char* function, const halyard_dispatch* given);
  const Status& status() const noexcept { return status_; }
  const Dispatch& get() const noexcept { return dispatch_; }

 private:
  Status convert(const char* function, const halyard_dispatch& given);

  std::optional<ShortList<Argument>> arguments_;  // and uses
  Dispatch dispatch_;
  Status status_;
};

Status to_rectangle(const char* function, const halyard_rectangle* given, RectangleCopy* shape);

// A parameter as hal's, for as long as a call takes; of most types it is what it was.
template <typename T>
class Taken {
 public:
  Taken(const char*, const T& given) noexcept : value_(given) {}
  Status status() const noexcept { return {}; }
  const T& get() const noexcept { return value_; }

 private:
  const T& value_;
};
template <typename Hal>
class Converted {
 public:
  const Status& status() const noexcept { return status_; }
  const Hal& get() const noexcept { return value_; }

 protected:
  Hal value_;
  Status status_;
};
template <>
class Taken<halyard_range> : public Converted<BufferRange> {
 public:
  Taken(const char* function, const halyard_range& given) {
    status_ = to_range(function, given, &value_);
  }
};
template <>
class Taken<halyard_file_range> : public Converted<FileRange> {
 public:
  Taken(const char*, const halyard_file_range& given) noexcept {
    value_ = {given.descriptor, given.offset};
  }
};
template <>
class Taken<const halyard_rectangle*> : public Converted<RectangleCopy> {
 public:
  Taken(const char* function, const halyard_rectangle* given) {
    status_ = to_rectangle(function, given, &value_);
  }
};
template <>
class Taken<halyard_prefetch_target> : public Converted<PrefetchTarget> {
 public:
  Taken(const char*, halyard_prefetch_target given) noexcept {
    value_ = static_cast<PrefetchTarget>(given);
  }
};
template <>
class Taken<const halyard_dispatch*> : public Launch {
 public:
  using Launch::Launch;
};
template <>
class Taken<const halyard_sync*> : public SyncPoints {
 public:
  using SyncPoints::SyncPoints;
};

// The body of a function that is an operation of hal's: `operation` of the handle's object, with
// the parameters as hal's.
template <typename T, typename Object, typename... P, typename... G>
halyard_error* pass_on(const char* function, T* handle, Status (Object::*operation)(P...),
                       const G&... given) noexcept {
  return guarded(function, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, handle));
    const auto submit = [&](auto&&... taken) -> Status {
      Status status;
      (void)((status = taken.status(), status.ok()) && ...);
      HALYARD_RETURN_IF_ERROR(std::move(status));
      return (*handle->object.*operation)(taken.get()...);
    };
    return submit(Taken<G>(name, given)...);
  });
}

// The texts of the list live as long as the caller's.
std::vector<Option> to_options(const halyard_option* options, size_t count);
Status check_options(const char* function, const halyard_option* options, size_t count);

inline MemoryType to_memory_type(halyard_memory_type type) noexcept {
  return static_cast<MemoryType>(type);
}
halyard_pool_statistics to_c(const PoolStatistics& from) noexcept;
inline Dim3 to_dim3(const halyard_dim3& d) noexcept {
  return {d.x, d.y, d.z};
}
inline halyard_dim3 to_c(const Dim3& d) noexcept {
  return {d.x, d.y, d.z};
}

}  // namespace halyard::c
