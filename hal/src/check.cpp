#include "check.h"

#include "gpu_group.h"
#include "hal/device.h"
#include "hal/error.h"
#include "input_struct.h"

namespace halyard::internal {

Status given_back(const char* operation, const char* role) {
  return error(
      StatusCode::kFailedPrecondition,
      "{} is given a {} in a buffer whose memory was deallocated (Queue::dealloca_buffer). "
      "Deallocate a buffer after its last use, or allocate a new one with Queue::alloca_buffer.",
      operation, role);
}

Status resolve_length(const char* operation, const char* role, uint64_t size, uint64_t offset,
                      uint64_t* length) {
  if (offset >= size) [[unlikely]] {
    if (size == 0) return given_back(operation, role);
    if (offset > size) {
      return error(StatusCode::kOutOfRange,
                   "{} is given a {} whose offset ({}) lies past the end of its buffer ({} bytes).",
                   operation, role, offset, size);
    }
  }
  if (*length == BufferRange::kToEnd) {
    *length = size - offset;
  } else if (*length > size - offset) [[unlikely]] {
    return error(StatusCode::kOutOfRange,
                 "{} is given a {} of {} bytes from offset {}, which does not fit into its buffer "
                 "({} bytes, of which {} are left).",
                 operation, role, *length, offset, size, size - offset);
  }
  return {};
}

namespace {

// A device's driver casts the objects that it is given to its own classes, so another driver's
// would be memory that it does not know.
bool same_driver(const Device& a, const Device& b) noexcept {
  return a.info().driver.view() == b.info().driver.view();
}

// "amdgpu://GPU-…"; empty if the device has no place of its own.
std::string uri_of(const DeviceInfo& info) {
  const StringView place = info.uuid.empty() ? info.pci_address : info.uuid;
  return place.empty() ? std::string() : fmt::format("{}://{}", info.driver, place);
}

[[gnu::cold, gnu::noinline]] Status other_device(const char* operation, const char* role,
                                                 const Device& device, const Buffer& buffer) {
  const DeviceNames names = names_of(device, buffer.device());
  return error(
      StatusCode::kInvalidArgument,
      "{} on device \"{}\" is given a {} in a buffer of another device (\"{}\") that it cannot "
      "access (Device::can_access). Allocate the buffer on the same device.",
      operation, names.one, role, names.other);
}

}  // namespace

DeviceNames names_of(const Device& one, const Device& other) {
  const auto name = [&](const Device& device) {
    std::string text(device.info().name.view());
    if (one.info().name.view() != other.info().name.view()) return text;
    if (device.info().gpu_count > 1)
      return fmt::format("{}, {} GPUs", text, device.info().gpu_count);
    const std::string uri = uri_of(device.info());
    return uri.empty() ? text : fmt::format("{}, {}", text, uri);
  };
  return {name(one), name(other)};
}

bool is_part_of(const Device& gpu, const Device& device) noexcept {
  if (&gpu == &device) return true;
  const GpuGroup* const group = GpuGroup::of(device);
  return group != nullptr && group->has(gpu);
}

bool reaches(const Device& device, const Buffer& buffer) noexcept {
  const Device& owner = buffer.device();
  if (buffer.type() == MemoryType::kHost && same_driver(owner, device)) {
    return true;
  }
  const GpuGroup* const group = GpuGroup::of(device);
  return group != nullptr ? group->any_can_access(owner) : device.can_access(owner);
}

Status check_own(const char* operation, const Device& device, const Buffer& buffer) {
  if (is_part_of(buffer.device(), device)) {
    if (buffer.size() != 0) return {};
    return error(
        StatusCode::kFailedPrecondition,
        "{} is given a buffer whose memory was already deallocated (Queue::dealloca_buffer).",
        operation);
  }
  const DeviceNames names = names_of(device, buffer.device());
  return error(StatusCode::kInvalidArgument,
               "{} on device \"{}\" is given a buffer of another device (\"{}\"). Call it on that "
               "one.",
               operation, names.one, names.other);
}

Status resolve_range(const char* operation, const char* role, const Device& device,
                     const BufferRange& range, BufferRange* resolved) {
  if (range.buffer == nullptr) [[unlikely]] {
    return error(StatusCode::kInvalidArgument,
                 "{} is given a {} without a buffer (null). Only a CommandBuffer takes binding "
                 "slots in place of buffers.",
                 operation, role);
  }
  *resolved = range;
  HALYARD_RETURN_IF_ERROR(
      resolve_length(operation, role, range.buffer->size(), range.offset, &resolved->length));
  if (&range.buffer->device() != &device && device.validates() && !reaches(device, *range.buffer))
      [[unlikely]] {
    return other_device(operation, role, device, *range.buffer);
  }
  return {};
}

Status resolve_recorded(const char* operation, const char* role, const Device& device,
                        const BufferRange& range, BufferRange* resolved) {
  if (range.buffer != nullptr) return resolve_range(operation, role, device, range, resolved);
  *resolved = range;
  if (range.length != BufferRange::kToEnd && range.length > UINT64_MAX - range.offset) {
    return error(StatusCode::kOutOfRange,
                 "{} is given a {} in slot {} of {} bytes from offset {}, which is more than an "
                 "address can hold.",
                 operation, role, range.slot, range.length, range.offset);
  }
  return {};
}

Status check_pattern(const char* operation, const void* pattern, uint32_t pattern_size,
                     uint64_t length) {
  if (pattern_size == 0 || pattern_size > kMaxPattern) {
    return error(StatusCode::kInvalidArgument,
                 "{} is given a pattern of {} bytes. A pattern has 1 to {} bytes.", operation,
                 pattern_size, kMaxPattern);
  }
  if (pattern == nullptr) {
    return error(StatusCode::kInvalidArgument, "{} is given no pattern (null).", operation);
  }
  if (length % pattern_size != 0) {
    return error(StatusCode::kInvalidArgument,
                 "{} is given a target ({} bytes) that is not a multiple of its pattern ({} "
                 "bytes).",
                 operation, length, pattern_size);
  }
  return {};
}

Status check_source(const char* operation, const void* source, uint64_t size,
                    const BufferRange& target) {
  if (size != target.length) {
    return error(StatusCode::kInvalidArgument,
                 "{} is given {} bytes for a target of {} bytes. The two are equal.", operation,
                 size, target.length);
  }
  if (source == nullptr && size > 0) {
    return error(StatusCode::kInvalidArgument, "{} is given no source (null) for {} bytes.",
                 operation, size);
  }
  return {};
}

Status check_copy(const char* operation, const BufferRange& source, const BufferRange& target) {
  if (source.length != target.length) {
    return error(StatusCode::kInvalidArgument,
                 "{} is given a source of {} bytes and a target of {} bytes. The two are equal.",
                 operation, source.length, target.length);
  }
  uint64_t from = source.offset;
  uint64_t to = target.offset;
  if (source.buffer != nullptr && target.buffer != nullptr) {
    // By address, so that two views of one buffer are seen to be the same memory.
    from += source.buffer->device_address();
    to += target.buffer->device_address();
  } else if (source.buffer != target.buffer || source.slot != target.slot) {
    return {};  // what the slots will hold is not known yet
  }
  const uint64_t distance = from > to ? from - to : to - from;
  if (distance < source.length) {
    return error(StatusCode::kInvalidArgument,
                 "{} is given a source and a target that overlap ({} bytes, {} apart). Copy "
                 "through a third buffer.",
                 operation, source.length, distance);
  }
  return {};
}

Status resolve_shape(const char* operation, const RectangleCopy& given, RectangleCopy* shape) {
  HALYARD_RETURN_IF_ERROR(take_struct(operation, given, shape));
  if (shape->rows > UINT32_MAX || shape->slices > UINT32_MAX) {
    return error(StatusCode::kOutOfRange,
                 "{} is given {} slices of {} rows. Each is at most 4294967295.", operation,
                 shape->slices, shape->rows);
  }
  struct Side {
    const char* name;
    uint64_t* row;
    uint64_t* slice;
  };
  const Side sides[] = {{"source", &shape->source_row_pitch, &shape->source_slice_pitch},
                        {"target", &shape->target_row_pitch, &shape->target_slice_pitch}};
  for (const Side& side : sides) {
    if (*side.row == 0) *side.row = shape->row_bytes;
    if (*side.row < shape->row_bytes) {
      return error(StatusCode::kInvalidArgument,
                   "{} is given a row pitch of the {} ({} bytes) below the bytes of a row ({}).",
                   operation, side.name, *side.row, shape->row_bytes);
    }
    uint64_t rows_bytes = 0;
    if (__builtin_mul_overflow(shape->rows, *side.row, &rows_bytes)) {
      return error(StatusCode::kOutOfRange,
                   "{} is given {} rows, {} bytes apart in the {}, which is more than an address "
                   "can hold.",
                   operation, shape->rows, *side.row, side.name);
    }
    if (*side.slice == 0) *side.slice = rows_bytes;
    if (*side.slice < rows_bytes) {
      return error(StatusCode::kInvalidArgument,
                   "{} is given a slice pitch of the {} ({} bytes) below that of its {} rows ({} "
                   "bytes).",
                   operation, side.name, *side.slice, shape->rows, rows_bytes);
    }
  }
  return {};
}

Status fit_rectangle(const char* operation, const char* role, const RectangleCopy& shape,
                     const Pitches& pitches, BufferRange* range) {
  uint64_t needed = 0;
  if (shape.row_bytes != 0 && shape.rows != 0 && shape.slices != 0) {
    uint64_t slices_bytes = 0;
    // The rows of one slice fit into 64 bits (resolve_shape).
    const uint64_t rows_bytes = (shape.rows - 1) * pitches.row + shape.row_bytes;
    if (__builtin_mul_overflow(shape.slices - 1, pitches.slice, &slices_bytes) ||
        __builtin_add_overflow(slices_bytes, rows_bytes, &needed)) {
      return error(StatusCode::kOutOfRange,
                   "{} is given {} slices, {} bytes apart in the {}, which is more than an address "
                   "can hold.",
                   operation, shape.slices, pitches.slice, role);
    }
  }
  if (range->length == BufferRange::kToEnd) range->length = needed;
  if (range->length < needed) {
    return error(StatusCode::kOutOfRange,
                 "{} is given a {} of {} bytes, of which its rows need {} ({} slices of {} rows of "
                 "{} bytes, with pitches of {} and {} bytes).",
                 operation, role, range->length, needed, shape.slices, shape.rows, shape.row_bytes,
                 pitches.slice, pitches.row);
  }
  range->length = needed;
  return {};
}

namespace {

// Whether rows meet whose first ones are `distance` bytes apart and that have the same pitches: one
// is some rows and some slices further than the other, give or take less than a row's bytes.
bool rows_meet(const RectangleCopy& shape, uint64_t distance) {
  const uint64_t row_pitch = shape.source_row_pitch;
  const uint64_t slice_pitch = shape.source_slice_pitch;
  const auto close = [&shape](uint64_t a, uint64_t b) {
    return (a > b ? a - b : b - a) < shape.row_bytes;
  };
  const uint64_t slice = slice_pitch == 0 ? 0 : distance / slice_pitch;
  for (uint64_t s = slice; s <= slice + 1; ++s) {
    if (s >= shape.slices) break;
    const uint64_t at = s * slice_pitch;
    const uint64_t left = at > distance ? at - distance : distance - at;
    const uint64_t row = left / row_pitch;
    for (uint64_t r = row; r <= row + 1 && r < shape.rows; ++r) {
      if (close(left, r * row_pitch)) return true;
    }
  }
  return false;
}

}  // namespace

Status check_rectangles(const char* operation, const RectangleCopy& shape,
                        const BufferRange& source, const BufferRange& target) {
  uint64_t from = source.offset;
  uint64_t to = target.offset;
  if (source.buffer != nullptr && target.buffer != nullptr) {
    from += source.buffer->device_address();
    to += target.buffer->device_address();
  } else if (source.buffer != target.buffer || source.slot != target.slot) {
    return {};  // what the slots will hold is not known yet
  }
  const uint64_t distance = from > to ? from - to : to - from;
  if (distance >= (from > to ? target.length : source.length)) return {};
  const bool same_pitches = shape.source_row_pitch == shape.target_row_pitch &&
                            shape.source_slice_pitch == shape.target_slice_pitch;
  if (same_pitches && !rows_meet(shape, distance)) return {};
  return error(StatusCode::kInvalidArgument,
               "{} is given a source and a target that overlap ({} and {} bytes, {} apart). Copy "
               "through a third buffer.",
               operation, source.length, target.length, distance);
}

Status check_alignment(const char* operation, uint64_t alignment) {
  constexpr uint64_t kLargest = 2u << 20;
  if ((alignment & (alignment - 1)) != 0 || alignment > kLargest) {
    return error(StatusCode::kInvalidArgument,
                 "{} is given an alignment ({}) that is neither 0 nor a power of two of at most "
                 "2 MiB (2097152).",
                 operation, alignment);
  }
  return {};
}

Status check_memory_type(const char* operation, MemoryType type) {
  if (type == MemoryType::kDevice || type == MemoryType::kHost ||
      type == MemoryType::kDeviceMapped) {
    return {};
  }
  return error(StatusCode::kInvalidArgument,
               "{} is given a memory type ({}) that does not exist. Legal are device (0), host (1) "
               "and device-mapped (2).",
               operation, static_cast<uint32_t>(type));
}

Status check_memory_of(const char* operation, const Device& device, MemoryType type) {
  HALYARD_RETURN_IF_ERROR(check_memory_type(operation, type));
  if (type != MemoryType::kDeviceMapped || device.info().maps_device_memory) return {};
  return error(StatusCode::kFailedPrecondition,
               "{} asks for device memory that the host can map, which device \"{}\" does not "
               "have (DeviceInfo::maps_device_memory is false). Use device memory with "
               "Queue::update and Queue::copy, or host memory.",
               operation, device.info().name);
}

Status check_managed(const char* operation, const Device& device, const BufferOptions& options) {
  if (!options.managed) return {};
  if (options.type != MemoryType::kHost) {
    return error(StatusCode::kInvalidArgument,
                 "{} asks for managed memory of type ({}). Managed memory is the host's, which "
                 "devices use at the same address: set BufferOptions::type to kHost.",
                 operation, to_string(options.type));
  }
  if (device.info().managed_memory) return {};
  return error(StatusCode::kUnimplemented,
               "{} asks for managed memory, which device \"{}\" of driver \"{}\" does not have "
               "(DeviceInfo::managed_memory is false). Use host memory without "
               "BufferOptions::managed, or device memory and Queue::copy.",
               operation, device.info().name, device.info().driver);
}

Status check_reserve(const char* operation, const Device& device, uint64_t size,
                     const BufferOptions& options) {
  if (!options.reserve) return {};
  const uint64_t granule = device.info().commit_granule;
  if (granule == 0) {
    return error(
        StatusCode::kUnimplemented,
        "{} asks for a reserved buffer, which device \"{}\" of driver \"{}\" does not "
        "have (DeviceInfo::commit_granule is 0). Allocate the largest size that is needed, "
        "or copy to a larger buffer.",
        operation, device.info().name, device.info().driver);
  }
  if (options.type != MemoryType::kDevice || options.managed || options.alignment != 0) {
    return error(StatusCode::kInvalidArgument,
                 "{} asks for a reserved buffer of memory type ({}){}. A reserved buffer is the "
                 "device's, aligned to DeviceInfo::commit_granule, and not managed: leave type, "
                 "alignment and managed of BufferOptions at their defaults.",
                 operation, to_string(options.type),
                 options.alignment != 0 ? " with an alignment" : "");
  }
  if (size % granule == 0) return {};
  return error(StatusCode::kInvalidArgument,
               "{} is given a size ({}) of a reserved buffer that is not a multiple of {} "
               "(DeviceInfo::commit_granule).",
               operation, size, granule);
}

Status check_allocation(const char* operation, const Device& device, uint64_t size, MemoryType type,
                        uint64_t alignment) {
  if (size == 0) {
    return error(StatusCode::kInvalidArgument,
                 "{} is given a size of 0 bytes. A buffer has at least one.", operation);
  }
  HALYARD_RETURN_IF_ERROR(check_alignment(operation, alignment));
  HALYARD_RETURN_IF_ERROR(check_memory_type(operation, type));
  // The limits are those of the GPU whose memory it is, which checks them.
  if (device.gpu_count() > 1) return {};
  HALYARD_RETURN_IF_ERROR(check_memory_of(operation, device, type));
  const DeviceInfo& info = device.info();
  uint64_t limit = type == MemoryType::kHost ? 0 : info.max_allocation_bytes;
  uint64_t live_bytes = 0;
  uint64_t heap_bytes = 0;
  for (size_t i = 0; i < device.heap_count(); ++i) {
    const Result<HeapInfo> heap = device.heap(i);
    if (!heap.ok() || heap->type != type) continue;
    if (heap->max_allocation != 0) limit = heap->max_allocation;
    heap_bytes = heap->size;
    if (const auto statistics = device.heap_statistics(i); statistics.ok()) {
      live_bytes = statistics->live_bytes;
    }
    break;
  }
  if (limit != 0 && size > limit) {
    return error(StatusCode::kResourceExhausted,
                 "{} is given a size ({} bytes) above the largest single allocation of {} memory "
                 "on device \"{}\" ({} bytes). The heap has {} bytes; {} are in use by this "
                 "program.",
                 operation, size, to_string(type), info.name, limit, heap_bytes, live_bytes);
  }
  return {};
}

namespace {

Status explain_points(const char* operation, const char* role, const Device& device,
                      Span<const SemaphorePoint> points) {
  for (size_t i = 0; i < points.size(); ++i) {
    const Semaphore* semaphore = points[i].semaphore;
    if (semaphore == nullptr) {
      return error(StatusCode::kInvalidArgument,
                   "{} is given no semaphore (null) in entry {} of what it {}.", operation, i,
                   role);
    }
    if (&semaphore->device() != &device && !same_driver(semaphore->device(), device)) {
      return error(StatusCode::kInvalidArgument,
                   "{} on a device of driver \"{}\" is given a semaphore of driver \"{}\" in entry "
                   "{} of what it {}. Semaphores are shared only between devices of one driver.",
                   operation, device.info().driver, semaphore->device().info().driver, i, role);
    }
  }
  return {};
}

}  // namespace

Status bad_sync(const char* operation, const Device& device, const Sync& sync) {
  HALYARD_RETURN_IF_ERROR(explain_points(operation, "waits for", device, sync.wait));
  return explain_points(operation, "signals", device, sync.signal);
}

Status check_points(const char* operation, const Device& device,
                    Span<const SemaphorePoint> points) {
  if (is_plain(device, points)) return {};
  return explain_points(operation, "waits for", device, points);
}

Status check_group_counts(const char* operation, const BufferRange& range) {
  constexpr uint64_t kBytes = 3 * sizeof(uint32_t);
  if (range.length < kBytes) {
    return error(StatusCode::kInvalidArgument,
                 "{} is given group counts of {} bytes. They are three 32-bit integers (12 "
                 "bytes).",
                 operation, range.length);
  }
  const uint64_t address =
      range.offset + (range.buffer != nullptr ? range.buffer->device_address() : 0);
  if (address % sizeof(uint32_t) != 0) {
    return error(StatusCode::kInvalidArgument,
                 "{} is given group counts at offset {}, which is not a multiple of 4.", operation,
                 range.offset);
  }
  return {};
}

}  // namespace halyard::internal
