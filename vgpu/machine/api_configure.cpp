// halyard_vgpu_configure: which profile the virtual GPU plays.
#include <cstdio>
#include <string>

#include "vgpu/halyard_vgpu.h"
#include "vgpu/machine/api.h"
#include "vgpu/machine/machine.h"

HALYARD_VGPU_API int halyard_vgpu_configure(const char* profile, char* error, size_t error_size) {
  std::string message;
  const bool done = halyard::vgpu::machine::configure(profile != nullptr ? profile : "", message);
  if (error != nullptr && error_size != 0) std::snprintf(error, error_size, "%s", message.c_str());
  return done ? 0 : 1;
}
