#include "drivers/amdgpu/foreign.h"

#include "drivers/amdgpu/device.h"

namespace halyard::amdgpu {

Foreign& Foreign::instance() {
  // Never destroyed: a device may outlive every static object.
  static auto* const foreign = new Foreign;
  return *foreign;
}

void Foreign::add(DeviceImpl& device) {
  const std::lock_guard lock(mutex_);
  devices_.push_back(&device);
  device_count_.store(static_cast<uint32_t>(devices_.size()), std::memory_order_release);
}

void Foreign::remove(DeviceImpl& device) {
  const std::lock_guard users(users_);
  const std::lock_guard lock(mutex_);
  std::erase(devices_, &device);
  device_count_.store(static_cast<uint32_t>(devices_.size()), std::memory_order_release);
  for (DeviceImpl* const other : devices_) other->forget_users_of(device);
}

void Foreign::host_observed() {
  const std::lock_guard lock(mutex_);
  for (DeviceImpl* const device : devices_) device->mark_queues();
}

void Foreign::UnheardMemory::hold() {
  if (std::exchange(held_, true)) return;
  Foreign& foreign = instance();
  foreign.unheard_memory_.fetch_add(1, std::memory_order_acq_rel);
  // Behind the count, so that queues that are marked find it.
  foreign.host_observed();
}

Foreign::UnheardMemory::~UnheardMemory() {
  if (held_) instance().unheard_memory_.fetch_sub(1, std::memory_order_acq_rel);
}

}  // namespace halyard::amdgpu
