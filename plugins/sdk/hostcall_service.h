// The host's side of the calls of a device's kernels: a buffer, and a thread that answers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "hal/device.h"
#include "hal/status.h"
#include "plugins/sdk/hostcall.h"
#include "plugins/sdk/polling_thread.h"

namespace halyard {

// Memory of the driver's, which host and device see alike. Zeroed by nobody.
struct SharedMemory {
  void* host = nullptr;
  uint64_t device = 0;
  std::function<void()> free;
};
using AllocateShared = std::function<Result<SharedMemory>(size_t bytes)>;

class DriverDevice;

// What kernels print goes to this process's standard output and standard error; what they allocate
// comes from the device's heap.
class HostcallService {
 public:
  // The one of the device; made, with memory that `allocate` gives, unless somebody holds it. To
  // be held while kernels that make host calls may run.
  static Result<std::shared_ptr<HostcallService>> of(DriverDevice& device,
                                                     const AllocateShared& allocate);
  ~HostcallService();
  HostcallService(const HostcallService&) = delete;
  HostcallService& operator=(const HostcallService&) = delete;

  // For hidden_hostcall_buffer.
  uint64_t address() const { return memory_.device; }

 private:
  HostcallService(DriverDevice& device, SharedMemory memory, uint32_t packets);
  void handle(uint32_t service, HostcallSlots& slots);
  void serve_memory(HostcallSlots& slots);

  DriverDevice& device_;  // the holders keep it
  SharedMemory memory_;
  HostcallBuffer buffer_;
  HostcallMessages messages_;
  PollingThread thread_;
};

}  // namespace halyard
