// GpuFaults: memory faults of GPUs, which a runtime reports for the process, and the devices that
// are lost by them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "hal/contract/objects.h"
#include "hal/status.h"

namespace halyard {

// Any thread may use any method.
class GpuFaults {
 public:
  // One for each driver. Never destroyed: a runtime's thread may call when main is over.
  static GpuFaults& instance();

  // Stands for one of the GPUs, it is not known which.
  static constexpr uint64_t kSomeGpu = UINT64_MAX;

  // Calls `lose`, with what has happened, when GPU `gpu` has had a fault; the number is the
  // driver's choice. UNAVAILABLE if it has had one before: then the process has lost it for good.
  Status watch(const driver::DeviceBase& device, uint64_t gpu,
               std::function<void(const std::string& what)> lose);
  // When this returns, `lose` of the device is not running, and is not called again.
  void forget(const driver::DeviceBase& device);
  // The runtime has told of a fault at `address`, for these reasons (memory_fault.h). All devices
  // are lost with kSomeGpu. Whether one is.
  bool report(uint64_t gpu, uint64_t address, uint32_t reasons);

 private:
  struct Watched {
    const driver::DeviceBase* device;
    uint64_t gpu;
    std::function<void(const std::string&)> lose;
  };

  std::mutex mutex_;
  std::vector<Watched> devices_;          // under mutex_
  std::map<uint64_t, std::string> lost_;  // under mutex_: the first fault of each GPU
};

}  // namespace halyard
