#include "drivers/hip/transfers.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "drivers/hip/device.h"
#include "hal/error.h"

namespace halyard::hip {

namespace {

Place advance(const Place& place, uint64_t offset) {
  return {static_cast<std::byte*>(place.pointer) + offset, place.on_host};
}

Status put_memcpy(QueueCore& core, void* target, const void* source, uint64_t size) {
  return check(
      core.hip(),
      core.hip().hipMemcpyAsync(target, source, size, hipMemcpyDefault, core.stream().handle()),
      fmt::format("Queueing a copy of {} bytes", size));
}

}  // namespace

Place place_of(const QueueCore& core, const BufferRange& range) {
  BufferImpl& buffer = impl(*range.buffer);
  buffer.users().add(core.stream().user_bit());
  return {buffer.at(range.offset), buffer.on_host()};
}

Status put_copy(QueueCore& core, const Place& target, const Place& source, uint64_t size) {
  if (!target.on_host || !source.on_host) {
    return put_memcpy(core, target.pointer, source.pointer, size);
  }
  HALYARD_ASSIGN_OR_RETURN(void* const scratch, core.stream().scratch());
  for (uint64_t done = 0; done < size; done += Stream::kScratch) {
    const uint64_t piece = std::min(Stream::kScratch, size - done);
    HALYARD_RETURN_IF_ERROR(put_memcpy(core, scratch, advance(source, done).pointer, piece));
    HALYARD_RETURN_IF_ERROR(put_memcpy(core, advance(target, done).pointer, scratch, piece));
  }
  return {};
}

namespace {

// Rows of one slice.
struct Rows {
  uint64_t bytes = 0;  // of each
  uint64_t count = 0;
  uint64_t target_pitch = 0;
  uint64_t source_pitch = 0;
};

constexpr auto kHostToDevice = static_cast<hipMemcpyKind>(1);  // hipMemcpyHostToDevice
constexpr auto kDeviceToHost = static_cast<hipMemcpyKind>(2);  // hipMemcpyDeviceToHost

// The direction is named, but between devices: where it is not, HIP 5.7.1 adds the offset of an
// address in host memory twice. Not both of the places are on the host.
Status put_memcpy_2d(QueueCore& core, const Place& target, const Place& source, const Rows& rows) {
  hipMemcpyKind kind = hipMemcpyDefault;
  if (target.on_host) kind = kDeviceToHost;
  if (source.on_host) kind = kHostToDevice;
  return check(core.hip(),
               core.hip().hipMemcpy2DAsync(target.pointer, rows.target_pitch, source.pointer,
                                           rows.source_pitch, rows.bytes, rows.count, kind,
                                           core.stream().handle()),
               fmt::format("Queueing a copy of {} rows of {} bytes", rows.count, rows.bytes));
}

Status put_rows(QueueCore& core, const Place& target, const Place& source, const Rows& rows) {
  if (!target.on_host || !source.on_host) {
    return put_memcpy_2d(core, target, source, rows);
  }
  // By way of the scratch memory, as many rows at once as that has room for.
  const uint64_t at_once = Stream::kScratch / rows.bytes;
  if (at_once == 0) {
    for (uint64_t row = 0; row < rows.count; ++row) {
      HALYARD_RETURN_IF_ERROR(put_copy(core, advance(target, row * rows.target_pitch),
                                       advance(source, row * rows.source_pitch), rows.bytes));
    }
    return {};
  }
  HALYARD_ASSIGN_OR_RETURN(void* const scratch, core.stream().scratch());
  for (uint64_t row = 0; row < rows.count; row += at_once) {
    Rows in = rows;
    in.count = std::min(at_once, rows.count - row);
    Rows out = in;
    in.target_pitch = out.source_pitch = rows.bytes;
    HALYARD_RETURN_IF_ERROR(
        put_memcpy_2d(core, {scratch, false}, advance(source, row * rows.source_pitch), in));
    HALYARD_RETURN_IF_ERROR(
        put_memcpy_2d(core, advance(target, row * rows.target_pitch), {scratch, false}, out));
  }
  return {};
}

}  // namespace

Status put_rectangle(QueueCore& core, const Place& target, const Place& source,
                     const RectangleCopy& shape) {
  Rows rows = {.bytes = shape.row_bytes,
               .count = shape.rows,
               .target_pitch = shape.target_row_pitch,
               .source_pitch = shape.source_row_pitch};
  uint64_t slices = shape.slices;
  if (shape.rows == 1) {
    // Slices of one row are rows.
    rows = {.bytes = shape.row_bytes,
            .count = std::exchange(slices, 1),
            .target_pitch = shape.target_slice_pitch,
            .source_pitch = shape.source_slice_pitch};
  } else if (shape.target_slice_pitch == shape.rows * shape.target_row_pitch &&
             shape.source_slice_pitch == shape.rows * shape.source_row_pitch) {
    rows.count *= std::exchange(slices, 1);
  }
  for (uint64_t slice = 0; slice < slices; ++slice) {
    HALYARD_RETURN_IF_ERROR(put_rows(core, advance(target, slice * shape.target_slice_pitch),
                                     advance(source, slice * shape.source_slice_pitch), rows));
  }
  return {};
}

Status RectangleOperation::issue(QueueCore& core) {
  return put_rectangle(core, place_of(core, target_), place_of(core, source_), shape_);
}

Result<std::unique_ptr<Operation>> RectangleOperation::hold() {
  auto copy = std::make_unique<RectangleOperation>(source_, target_, shape_);
  copy->keep_source_ = Ref<Buffer>::retain(source_.buffer);
  copy->keep_target_ = Ref<Buffer>::retain(target_.buffer);
  return std::unique_ptr<Operation>(std::move(copy));
}

Status CopyOperation::issue(QueueCore& core) {
  return put_copy(core, place_of(core, target_), place_of(core, source_), source_.length);
}

Result<std::unique_ptr<Operation>> CopyOperation::hold() {
  auto copy = std::make_unique<CopyOperation>(source_, target_);
  copy->keep_source_ = Ref<Buffer>::retain(source_.buffer);
  copy->keep_target_ = Ref<Buffer>::retain(target_.buffer);
  return std::unique_ptr<Operation>(std::move(copy));
}

Result<std::unique_ptr<UpdateOperation>> UpdateOperation::make(DeviceImpl& device,
                                                               const BufferRange& target,
                                                               const void* source) {
  HALYARD_ASSIGN_OR_RETURN(const Block staging, device.memory().take_staging(target.length));
  std::memcpy(staging.base, source, target.length);
  return std::unique_ptr<UpdateOperation>(new UpdateOperation(device, target, staging));
}

UpdateOperation::~UpdateOperation() {
  if (staging_.base != nullptr) device_.memory().return_staging(staging_);
}

Status UpdateOperation::issue(QueueCore& core) {
  const Block staging = std::exchange(staging_, {});
  const Status status =
      put_copy(core, place_of(core, target_), {staging.base, true}, target_.length);
  // Also after a failure: part of it may be on the stream.
  device_.memory().give_staging(staging, core.stream());
  return status;
}

Result<std::unique_ptr<Operation>> UpdateOperation::hold() {
  auto copy = std::unique_ptr<UpdateOperation>(
      new UpdateOperation(device_, target_, std::exchange(staging_, {})));
  copy->keep_target_ = Ref<Buffer>::retain(target_.buffer);
  return std::unique_ptr<Operation>(std::move(copy));
}

Status put_update(QueueCore& core, const Place& target, const void* source, uint64_t size) {
  Memory& memory = core.device().memory();
  HALYARD_ASSIGN_OR_RETURN(const Block staging, memory.take_staging(size));
  std::memcpy(staging.base, source, size);
  const Status status = put_copy(core, target, {staging.base, true}, size);
  memory.give_staging(staging, core.stream());
  return status;
}

FillOperation::FillOperation(const BufferRange& target, const void* pattern, uint32_t pattern_size)
    : target_(target), pattern_size_(pattern_size) {
  std::memcpy(pattern_, pattern, pattern_size);
}

Status FillOperation::issue(QueueCore& core) {
  return put_fill(core, place_of(core, target_), target_.length, pattern_, pattern_size_);
}

Result<std::unique_ptr<Operation>> FillOperation::hold() {
  auto copy = std::make_unique<FillOperation>(target_, pattern_, pattern_size_);
  copy->keep_target_ = Ref<Buffer>::retain(target_.buffer);
  return std::unique_ptr<Operation>(std::move(copy));
}

uint32_t shortest_period(const unsigned char* pattern, uint32_t size) {
  while (size % 2 == 0 && std::memcmp(pattern, pattern + size / 2, size / 2) == 0) size /= 2;
  return size;
}

namespace {

// On the device, where HIP has a fill: 1, 2 or 4 bytes, at a multiple of that.
hipError_t put_memset(QueueCore& core, void* target, uint64_t size, const unsigned char* pattern,
                      uint32_t pattern_size) {
  const Hip& hip = core.hip();
  const hipStream_t stream = core.stream().handle();
  uint32_t value = 0;
  std::memcpy(&value, pattern, pattern_size);
  switch (pattern_size) {
    case 1:
      return hip.hipMemsetD8Async(target, static_cast<unsigned char>(value), size, stream);
    case 2:
      return hip.hipMemsetD16Async(target, static_cast<unsigned short>(value), size / 2, stream);
    default:
      return hip.hipMemsetD32Async(target, static_cast<int>(value), size / 4, stream);
  }
}

// The start of `target` is uploaded, and then doubled.
Status put_doubling(QueueCore& core, void* target, uint64_t size, const unsigned char* pattern,
                    uint32_t pattern_size) {
  constexpr uint64_t kSeed = 4096;
  const uint64_t seed = std::min(size, kSeed / pattern_size * pattern_size);
  Memory& memory = core.device().memory();
  HALYARD_ASSIGN_OR_RETURN(const Block staging, memory.take_staging(seed));
  for (uint64_t at = 0; at < seed; at += pattern_size) {
    std::memcpy(static_cast<std::byte*>(staging.base) + at, pattern, pattern_size);
  }
  Status status = put_memcpy(core, target, staging.base, seed);
  memory.give_staging(staging, core.stream());
  for (uint64_t filled = seed; status.ok() && filled < size; filled *= 2) {
    status = put_memcpy(core, static_cast<std::byte*>(target) + filled, target,
                        std::min(filled, size - filled));
  }
  return status;
}

Status put_device_fill(QueueCore& core, void* target, uint64_t size, const unsigned char* pattern,
                       uint32_t pattern_size) {
  const auto address = reinterpret_cast<uint64_t>(target);
  // ROCm 5.2.3 fills up to the next multiple of 8 first, and takes that much off a length that may
  // be less (HostBlitManager::FillBufferInfo::PackInfo).
  const uint64_t head = -address % 8;
  const bool has_memset = pattern_size == 1 || pattern_size == 2 || pattern_size == 4;
  if (!has_memset || address % pattern_size != 0 || size < head ||
      !core.stream().takes_fill(address, size)) {
    return put_doubling(core, target, size, pattern, pattern_size);
  }
  return check(core.hip(), put_memset(core, target, size, pattern, pattern_size),
               fmt::format("Queueing a fill of {} bytes", size));
}

}  // namespace

Status put_fill(QueueCore& core, const Place& target, uint64_t size, const unsigned char* pattern,
                uint32_t pattern_size) {
  const uint32_t period = shortest_period(pattern, pattern_size);
  if (!target.on_host) return put_device_fill(core, target.pointer, size, pattern, period);
  HALYARD_ASSIGN_OR_RETURN(void* const scratch, core.stream().scratch());
  const uint64_t most = Stream::kScratch / period * period;
  HALYARD_RETURN_IF_ERROR(put_device_fill(core, scratch, std::min(most, size), pattern, period));
  for (uint64_t done = 0; done < size; done += most) {
    HALYARD_RETURN_IF_ERROR(
        put_memcpy(core, advance(target, done).pointer, scratch, std::min(most, size - done)));
  }
  return {};
}

}  // namespace halyard::hip
