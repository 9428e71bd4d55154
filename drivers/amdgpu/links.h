// Links from a device to the other GPUs of the runtime.
#pragma once

#include <vector>

#include "hal/device.h"

namespace halyard::amdgpu {

class DeviceImpl;

std::vector<LinkInfo> list_links(const DeviceImpl& device);

}  // namespace halyard::amdgpu
