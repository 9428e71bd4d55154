#include "hal/types.h"

#include <ctime>

#include "hal/buffer.h"
#include "hal/device.h"

namespace halyard {

Deadline Deadline::after_ns(uint64_t ns) noexcept {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const uint64_t now_ns =
      static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
  return {ns > UINT64_MAX - now_ns ? UINT64_MAX : now_ns + ns};
}

const char* to_string(MemoryType type) noexcept {
  switch (type) {
    case MemoryType::kDevice:
      return "device";
    case MemoryType::kHost:
      return "host";
    case MemoryType::kDeviceMapped:
      return "device-mapped";
  }
  return "unknown";
}

const char* to_string(MemoryAdvice advice) noexcept {
  switch (advice) {
    case MemoryAdvice::kReadMostly:
      return "read mostly";
    case MemoryAdvice::kNotReadMostly:
      return "not read mostly";
    case MemoryAdvice::kPreferDevice:
      return "prefer device";
    case MemoryAdvice::kPreferHost:
      return "prefer host";
    case MemoryAdvice::kPreferNothing:
      return "prefer nothing";
    case MemoryAdvice::kAccessedByDevice:
      return "accessed by device";
    case MemoryAdvice::kNotAccessedByDevice:
      return "not accessed by device";
  }
  return "unknown";
}

const char* to_string(LinkInfo::Kind kind) noexcept {
  switch (kind) {
    case LinkInfo::Kind::kPcie:
      return "PCIe";
    case LinkInfo::Kind::kXgmi:
      return "xGMI";
    case LinkInfo::Kind::kOther:
      return "other";
    case LinkInfo::Kind::kUnknown:
      break;
  }
  return "unknown";
}

}  // namespace halyard
