#include "drivers/hip/transfers.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "drivers/hip/device.h"
#include "hal/error.h"

namespace halyard::hip {

namespace {

// How many of `size` bytes HIP copies or fills at once.
uint64_t at_once(const Place& place, uint64_t size) {
  return place.reserved != nullptr ? place.reserved->at_once(place.pointer, size) : size;
}

Status put_memcpy(const Stream& stream, void* target, const void* source, uint64_t size) {
  const Hip& hip = stream.hip();
  return check(hip, hip.hipMemcpyAsync(target, source, size, hipMemcpyDefault, stream.handle()),
               fmt::format("Queueing a copy of {} bytes", size));
}

Status put_memcpy(const QueueCore& core, void* target, const void* source, uint64_t size) {
  return put_memcpy(core.stream(), target, source, size);
}

}  // namespace

Place place_of(const BufferRange& range) {
  const BufferImpl& buffer = impl(*range.buffer);
  return {buffer.at(range.offset), buffer.on_host(), buffer.reserved()};
}

Place place_of(const QueueCore& core, const BufferRange& range) {
  impl(*range.buffer).users().add(core.stream().user_bit());
  return place_of(range);
}

Place advance(const Place& place, uint64_t offset) {
  return {static_cast<std::byte*>(place.pointer) + offset, place.on_host, place.reserved};
}

Status put_copy_on(const Stream& stream, const Place& target, const Place& source, uint64_t size) {
  for (uint64_t done = 0; done < size;) {
    const Place to = advance(target, done);
    const Place from = advance(source, done);
    const uint64_t part = std::min(at_once(to, size - done), at_once(from, size - done));
    HALYARD_RETURN_IF_ERROR(put_memcpy(stream, to.pointer, from.pointer, part));
    done += part;
  }
  return {};
}

Status put_copy(QueueCore& core, const Place& target, const Place& source, uint64_t size) {
  if (!target.on_host || !source.on_host) {
    return put_copy_on(core.stream(), target, source, size);
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

// Bytes from the first to behind the last.
uint64_t extent(const Rows& rows, uint64_t pitch) {
  return (rows.count - 1) * pitch + rows.bytes;
}

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

Status put_each_row(QueueCore& core, const Place& target, const Place& source, const Rows& rows) {
  for (uint64_t row = 0; row < rows.count; ++row) {
    HALYARD_RETURN_IF_ERROR(put_copy(core, advance(target, row * rows.target_pitch),
                                     advance(source, row * rows.source_pitch), rows.bytes));
  }
  return {};
}

Status put_rows(QueueCore& core, const Place& target, const Place& source, const Rows& rows) {
  if (!target.on_host || !source.on_host) {
    const uint64_t written = extent(rows, rows.target_pitch);
    const uint64_t read = extent(rows, rows.source_pitch);
    const bool in_one = at_once(target, written) == written && at_once(source, read) == read;
    return in_one ? put_memcpy_2d(core, target, source, rows)
                  : put_each_row(core, target, source, rows);
  }
  // By way of the scratch memory, as many rows at once as that has room for.
  const uint64_t most = Stream::kScratch / rows.bytes;
  if (most == 0) return put_each_row(core, target, source, rows);
  HALYARD_ASSIGN_OR_RETURN(void* const scratch, core.stream().scratch());
  for (uint64_t row = 0; row < rows.count; row += most) {
    Rows in = rows;
    in.count = std::min(most, rows.count - row);
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

// The start of `target` is uploaded, and then doubled. Also of a size that is no multiple of the
// pattern's.
Status put_doubling(QueueCore& core, void* target, uint64_t size, const unsigned char* pattern,
                    uint32_t pattern_size) {
  constexpr uint64_t kSeed = 4096;
  const uint64_t seed = std::min(size, kSeed / pattern_size * pattern_size);
  Memory& memory = core.device().memory();
  HALYARD_ASSIGN_OR_RETURN(const Block staging, memory.take_staging(seed));
  for (uint64_t at = 0; at < seed; at += pattern_size) {
    std::memcpy(static_cast<std::byte*>(staging.base) + at, pattern,
                std::min<uint64_t>(pattern_size, seed - at));
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
  if (!has_memset || address % pattern_size != 0 || size % pattern_size != 0 || size < head ||
      !core.stream().takes_fill(address, size)) {
    return put_doubling(core, target, size, pattern, pattern_size);
  }
  return check(core.hip(), put_memset(core, target, size, pattern, pattern_size),
               fmt::format("Queueing a fill of {} bytes", size));
}

// Each part begins where the pattern is then.
Status put_fill_in_parts(QueueCore& core, const Place& target, uint64_t size,
                         const unsigned char* pattern, uint32_t pattern_size) {
  unsigned char turned[kMaxPattern];
  for (uint64_t done = 0; done < size;) {
    const Place part = advance(target, done);
    const uint64_t length = at_once(part, size - done);
    std::rotate_copy(pattern, pattern + done % pattern_size, pattern + pattern_size, turned);
    HALYARD_RETURN_IF_ERROR(put_device_fill(core, part.pointer, length, turned, pattern_size));
    done += length;
  }
  return {};
}

}  // namespace

Status put_fill(QueueCore& core, const Place& target, uint64_t size, const unsigned char* pattern,
                uint32_t pattern_size) {
  const uint32_t period = shortest_period(pattern, pattern_size);
  if (!target.on_host) return put_fill_in_parts(core, target, size, pattern, period);
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
