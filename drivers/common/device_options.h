// The options of Driver::create_device that every driver has.
#pragma once

#include <cstdint>

#include "hal/driver.h"
#include "hal/status.h"

namespace halyard {

// Scratch per work-item for a kernel whose need its compiler does not know, because it recurses or
// calls through pointers.
inline constexpr uint32_t kDefaultStackBytes = 4096;
// What the hardware's registers can say: 8191 KiB for a wave (COMPUTE_TMPRING_SIZE.WAVESIZE, 13
// bits of 1 KiB), in equal parts for 64 work-items, each a multiple of 16 bytes.
inline constexpr uint32_t kMaxStackBytes = 8191 * 1024 / 64 / 16 * 16;

struct DeviceOptions {
  uint32_t stack_bytes = kDefaultStackBytes;  // a multiple of 16
};

// INVALID_ARGUMENT for a key that there is not or a value out of its range says what is legal.
// `driver` is the driver's name, for that.
Result<DeviceOptions> read_device_options(const char* driver, Span<const Option> options);

}  // namespace halyard
