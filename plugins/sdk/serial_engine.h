// SerialEngine: what a device does for a queue that does one thing at a time. What a driver on the
// serial classes (serial_device.h) implements for its queues.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hal/buffer.h"
#include "hal/kernel_arguments.h"
#include "hal/status.h"
#include "hal/types.h"

namespace halyard {

class SerialFunction;

struct SerialLaunch {
  const SerialFunction& function;
  Dim3 grid;  // work-items, none of them 0
  Dim3 workgroup;
  uint32_t lds_bytes = 0;
  void* arguments = nullptr;  // the kernarg segment, where the device sees it until the launch ends
};

// A place in memory.
struct SerialPlace {
  std::byte* device = nullptr;  // where the device sees it
  std::byte* host = nullptr;    // … and the host; null if it does not
  MemoryType type = MemoryType::kDevice;

  static SerialPlace of(void* device, void* host, MemoryType type) {
    return {static_cast<std::byte*>(device), static_cast<std::byte*>(host), type};
  }
  SerialPlace operator+(uint64_t offset) const {
    return {device + offset, host == nullptr ? nullptr : host + offset, type};
  }
};

struct SerialCopy {
  // The host does not see one of them at least. Ranges do not overlap.
  SerialPlace target;
  SerialPlace source;
  uint64_t size = 0;  // bytes
};

// Called by one thread, that of its queue, but for what says otherwise. What is started has ended
// before the next is: is_done() has said so.
class SerialEngine {
 public:
  // As often in a second a queue looks whether it is lost, or the process ends.
  static constexpr uint64_t kLooksPerSecond = 100;

  SerialEngine() = default;
  virtual ~SerialEngine() = default;
  SerialEngine(const SerialEngine&) = delete;
  SerialEngine& operator=(const SerialEngine&) = delete;

  // Start something; what they write is seen by host and device when it is done. If starting fails
  // nothing runs.
  virtual Status launch(const SerialLaunch& launch) = 0;
  virtual Status copy(const SerialCopy& copy) = 0;
  // Whether what was started has ended; waits for that 1 / kLooksPerSecond s at most. A failure is
  // what it has ended with.
  virtual Result<bool> is_done() = 0;
  // When the launch that is done began and ended, in ticks of SerialDevice::clock_source's system
  // clock. False if it is not known: profiles then say what the host has seen.
  virtual bool launch_ticks(uint64_t*, uint64_t*) { return false; }

  // Any thread; the same while the engine lives.
  virtual HiddenValues hidden_values() const { return {}; }
  // Queue::native_handle(). Any thread.
  virtual void* native_handle() const { return nullptr; }
};

}  // namespace halyard
