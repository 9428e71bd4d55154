// halyard_vgpu_configure: which profile the virtual GPU plays.
#include <cstdio>
#include <string>

#include "vgpu/halyard_vgpu.h"
#include "vgpu/thunk/api.h"

HALYARD_THUNK_API int halyard_vgpu_configure(const char* profile, char* error, size_t error_size) {
  std::string message;
  const bool done = halyard::vgpu::thunk::configure(profile != nullptr ? profile : "", message);
  if (error != nullptr && error_size != 0) std::snprintf(error, error_size, "%s", message.c_str());
  return done ? 0 : 1;
}
