// The options of Driver::create_device: settings of one device, which a device URI or a config
// gives.
#pragma once

#include <cstdint>
#include <optional>

#include "hal/contract/objects.h"
#include "hal/driver.h"
#include "hal/status.h"

namespace halyard {

// Scratch per work-item for a kernel whose need its compiler does not know, because it recurses or
// calls through pointers.
inline constexpr uint32_t kDefaultStackBytes = 4096;
// What the hardware's registers can say: 8191 KiB for a wave (COMPUTE_TMPRING_SIZE.WAVESIZE, 13
// bits of 1 KiB), in equal parts for 64 work-items, each a multiple of 16 bytes.
inline constexpr uint32_t kMaxStackBytes = 8191 * 1024 / 64 / 16 * 16;

// Where an option is not given the driver does what it finds best.
struct DeviceOptions {
  uint32_t stack_bytes = kDefaultStackBytes;  // a multiple of 16
  // Of a queue whose QueueOptions ask for no capacity. Within the driver's bounds.
  uint32_t queue_capacity = 0;                // operations; 0: the driver's default
  uint32_t max_queues = 0;                    // that live at a time; 0: as many as the driver makes
  std::optional<uint64_t> wait_spin_ns;       // before a thread that waits sleeps
  std::optional<uint64_t> pool_keep_bytes;    // free memory that the pool of one type keeps
  uint64_t pool_limit_bytes = 0;              // that the device's pool of one type has; 0: no limit
  std::optional<uint64_t> copy_engine_bytes;  // copies of so many between host and device use one
  uint32_t kernarg_bytes = 0;                 // for each operation of a queue; 0: the driver's own
  uint32_t max_workgroup_size = 0;            // work-items; 0: the device's own limit

  // The capacity to ask for, of a queue whose options ask for `requested` (0: nothing).
  uint32_t capacity(uint32_t requested) const {
    return requested != 0 ? requested : queue_capacity;
  }
};

// Options that only some drivers have.
struct DeviceOptionSet {
  // copy_engine_bytes: the driver chooses between kernels and copy engines.
  bool copy_engine = false;
  // kernarg_bytes: queues have memory of their own for kernel arguments.
  bool kernarg = false;
};

// Those of the set, for Driver::device_options.
void list_device_options(const DeviceOptionSet& set, driver::DeviceOptionSink sink, void* context);

// INVALID_ARGUMENT for a key that there is not or a value out of its range says what is legal.
// `driver` is the driver's name, for that.
Result<DeviceOptions> read_device_options(const char* driver, const DeviceOptionSet& set,
                                          Span<const Option> options);

}  // namespace halyard
