// The code objects of the device library that this build of the driver carries.
#pragma once

#include <cstddef>

#include "hal/types.h"

namespace halyard::amdgpu {

struct DeviceBinary {
  const char* target;  // a target ID: "gfx9-generic"
  const void* data;
  size_t size;  // bytes
};

// Ordered by name. CMake writes it, from HALYARD_DEVICE_TARGETS.
Span<const DeviceBinary> device_binaries();

}  // namespace halyard::amdgpu
