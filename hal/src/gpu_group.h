// GpuGroup: what the rest of the interface has to know of a logical device, its GPUs. Apart from
// LogicalDevice, so that a plugin, which links what its devices call, links nothing of that.
#pragma once

#include <utility>
#include <vector>

#include "hal/contract/objects.h"
#include "hal/device.h"
#include "hal/ref.h"

namespace halyard {

class GpuGroup : public driver::DeviceBase {
 public:
  // Null for a device of one GPU.
  static GpuGroup* of(Device& device) noexcept;
  static const GpuGroup* of(const Device& device) noexcept;

  const std::vector<Ref<Device>>& gpus() const { return gpus_; }
  bool has(const Device& gpu) const noexcept;
  // Whether a GPU can access the memory of `peer`, a device of one GPU.
  bool any_can_access(const Device& peer) const noexcept;

 protected:
  GpuGroup(const DeviceInfo& info, std::vector<Ref<Device>> gpus)
      : DeviceBase(info), gpus_(std::move(gpus)) {}
  ~GpuGroup() = default;

 private:
  const std::vector<Ref<Device>> gpus_;
};

}  // namespace halyard
