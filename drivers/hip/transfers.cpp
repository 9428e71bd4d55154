#include "drivers/hip/transfers.h"

#include <algorithm>
#include <cstring>

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
  while (size > 1 && std::memcmp(pattern, pattern + size / 2, size / 2) == 0) size /= 2;
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
  const uint64_t seed = std::min(size, kSeed);
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
  if (pattern_size > 4 || address % pattern_size != 0 || size < head ||
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
  HALYARD_RETURN_IF_ERROR(
      put_device_fill(core, scratch, std::min(Stream::kScratch, size), pattern, period));
  for (uint64_t done = 0; done < size; done += Stream::kScratch) {
    HALYARD_RETURN_IF_ERROR(put_memcpy(core, advance(target, done).pointer, scratch,
                                       std::min(Stream::kScratch, size - done)));
  }
  return {};
}

}  // namespace halyard::hip
