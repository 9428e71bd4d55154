// What the exported functions share.
#pragma once

#include <hsakmt.h>

#include "vgpu/thunk/driver.h"

#define HALYARD_THUNK_API extern "C" __attribute__((visibility("default")))

// Declares `driver`, or returns the status of a call before hsaKmtOpenKFD.
#define HALYARD_THUNK_OPEN(driver)                                                 \
  ::halyard::vgpu::thunk::Driver* const driver = ::halyard::vgpu::thunk::driver(); \
  if (driver == nullptr) return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED
