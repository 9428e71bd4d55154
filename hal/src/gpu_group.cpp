#include "gpu_group.h"

#include <algorithm>

#include "host_state.h"

namespace halyard {

// Only the host makes devices that say to have several GPUs.
GpuGroup* GpuGroup::of(Device& device) noexcept {
  return device.gpu_count() > 1 ? static_cast<GpuGroup*>(&device) : nullptr;
}

const GpuGroup* GpuGroup::of(const Device& device) noexcept {
  return device.gpu_count() > 1 ? static_cast<const GpuGroup*>(&device) : nullptr;
}

bool GpuGroup::has(const Device& gpu) const noexcept {
  return std::any_of(gpus_.begin(), gpus_.end(),
                     [&](const Ref<Device>& own) { return own.get() == &gpu; });
}

bool GpuGroup::any_can_access(const Device& peer) const noexcept {
  return std::any_of(gpus_.begin(), gpus_.end(),
                     [&](const Ref<Device>& gpu) { return gpu->can_access(peer); });
}

Device& Device::gpu(size_t index) const noexcept {
  const GpuGroup* const group = GpuGroup::of(*this);
  return group != nullptr ? *group->gpus()[index] : const_cast<Device&>(*this);
}

void Device::set_validation(bool on) noexcept {
  internal::state_of(*this).validates = on;
  const GpuGroup* const group = GpuGroup::of(*this);
  if (group == nullptr) return;
  for (const Ref<Device>& gpu : group->gpus()) gpu->set_validation(on);
}

}  // namespace halyard
