#include "driver_call.h"

#include "hal/device.h"

namespace halyard::internal {

Status unimplemented(const char* operation, const Device& device) {
  return error(StatusCode::kUnimplemented,
               "{} is called on a device of driver \"{}\", which does not implement it.", operation,
               device.info().driver);
}

Status bad_object(const char* operation, const char* why) {
  return error(StatusCode::kInternal,
               "The driver has returned {} from {}; this is an error in the plugin.", why,
               operation);
}

bool has_all(const void* functions, uint32_t struct_size, size_t required_end) noexcept {
  if (struct_size < required_end) return false;
  // Every table begins with its size, which a pointer's alignment follows.
  const auto* const slots = static_cast<void* const*>(functions);
  for (size_t i = 1; i < required_end / sizeof(void*); ++i) {
    if (slots[i] == nullptr) return false;
  }
  return true;
}

}  // namespace halyard::internal
