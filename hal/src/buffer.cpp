#include "hal/buffer.h"

#include "check.h"
#include "driver_call.h"
#include "hal/device.h"
#include "hal/error.h"

namespace halyard {

Result<void*> Buffer::map(uint64_t offset, uint64_t length, MapAccess access) {
  HALYARD_RETURN_IF_ERROR(
      internal::resolve_length("Buffer::map", "range", size(), offset, &length));
  if (length == 0) {
    return error(StatusCode::kInvalidArgument,
                 "Buffer::map is given an empty range (0 bytes from offset {} of {}).", offset,
                 size());
  }
  if (type() == MemoryType::kDevice) {
    return error(StatusCode::kFailedPrecondition,
                 "Buffer::map is called on a buffer of device memory ({} bytes), which the host "
                 "cannot access. Use Queue::update and Queue::copy, or allocate host memory.",
                 size());
  }
  const uint32_t bits = static_cast<uint32_t>(access);
  if (bits < 1 || bits > 4) {
    return error(StatusCode::kInvalidArgument,
                 "Buffer::map is given an access ({}) that does not exist. Legal are read (1), "
                 "write (2), both (3) and discard-write (4).",
                 bits);
  }
  void* pointer = nullptr;
  HALYARD_RETURN_IF_ERROR(internal::call_optional("Buffer::map", device(), contract()->functions,
                                                  &HalyardBufferFunctions::map, *this, offset,
                                                  length, access, &pointer));
  return pointer;
}

Status Buffer::unmap(void* pointer) {
  if (pointer == nullptr) {
    return error(StatusCode::kInvalidArgument,
                 "Buffer::unmap is given no pointer (null). It takes what Buffer::map returned.");
  }
  return internal::call_optional("Buffer::unmap", device(), contract()->functions,
                                 &HalyardBufferFunctions::unmap, *this, pointer);
}

Status Buffer::flush(uint64_t offset, uint64_t length) {
  HALYARD_RETURN_IF_ERROR(
      internal::resolve_length("Buffer::flush", "range", size(), offset, &length));
  HALYARD_RETURN_IF_ERROR(check_range("Buffer::flush", offset, length));
  if (length == 0) return {};
  return internal::call_optional("Buffer::flush", device(), contract()->functions,
                                 &HalyardBufferFunctions::flush, *this, offset, length);
}

Status Buffer::invalidate(uint64_t offset, uint64_t length) {
  HALYARD_RETURN_IF_ERROR(
      internal::resolve_length("Buffer::invalidate", "range", size(), offset, &length));
  HALYARD_RETURN_IF_ERROR(check_range("Buffer::invalidate", offset, length));
  if (length == 0) return {};
  return internal::call_optional("Buffer::invalidate", device(), contract()->functions,
                                 &HalyardBufferFunctions::invalidate, *this, offset, length);
}

Result<Ref<Buffer>> Buffer::subspan(uint64_t offset, uint64_t length) {
  HALYARD_RETURN_IF_ERROR(
      internal::resolve_length("Buffer::subspan", "range", size(), offset, &length));
  if (length == 0) {
    return error(StatusCode::kInvalidArgument,
                 "Buffer::subspan is given an empty range (0 bytes from offset {} of {}).", offset,
                 size());
  }
  HalyardBuffer* view = nullptr;
  HALYARD_RETURN_IF_ERROR(
      internal::call(contract()->functions->subspan, *this, offset, length, &view));
  return internal::take<Buffer>("Buffer::subspan", view);
}

// Flushing means something only where the host has a view.
Status Buffer::check_range(const char* operation, uint64_t offset, uint64_t length) const {
  if (type() == MemoryType::kDevice) {
    return error(StatusCode::kFailedPrecondition,
                 "{} is called for {} bytes from offset {} of a buffer of device memory, which "
                 "the host does not map.",
                 operation, length, offset);
  }
  return {};
}

}  // namespace halyard
