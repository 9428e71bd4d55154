#include "plugins/sdk/gpu_faults.h"

#include <utility>

#include "plugins/sdk/loss.h"
#include "plugins/sdk/memory_fault.h"

namespace halyard {

GpuFaults& GpuFaults::instance() {
  static auto* const all = new GpuFaults;
  return *all;
}

Status GpuFaults::watch(const driver::DeviceBase& device, uint64_t gpu,
                        std::function<void(const std::string&)> lose) {
  const std::lock_guard lock(mutex_);
  const auto lost = lost_.find(gpu);
  if (lost != lost_.end()) return device_was_lost(device.info().name, lost->second);
  devices_.push_back({&device, gpu, std::move(lose)});
  return {};
}

void GpuFaults::forget(const driver::DeviceBase& device) {
  const std::lock_guard lock(mutex_);
  std::erase_if(devices_, [&](const Watched& watched) { return watched.device == &device; });
}

bool GpuFaults::report(uint64_t gpu, uint64_t address, uint32_t reasons) {
  const std::string what = describe_memory_fault(address, reasons);
  const std::lock_guard lock(mutex_);
  if (gpu != kSomeGpu) lost_.emplace(gpu, what);
  bool ours = false;
  for (const Watched& watched : devices_) {
    if (gpu != kSomeGpu && watched.gpu != gpu) continue;
    lost_.emplace(watched.gpu, what);
    watched.lose(what);
    ours = true;
  }
  return ours;
}

}  // namespace halyard
