#include "plugins/sdk/driver_device.h"

#include <algorithm>

#include "hal/error.h"
#include "plugins/sdk/timeline.h"

namespace halyard {

std::string pci_address_of(uint32_t domain, uint32_t location) {
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", domain & 0xffff, location >> 8 & 0xff,
                     location >> 3 & 0x1f, location & 7);
}

DeviceSummary DeviceFacts::summary() const {
  DeviceSummary summary;
  summary.name = name;
  summary.uuid = uuid;
  summary.target = target;
  summary.compute_units = figures.compute_units;
  summary.memory_bytes = figures.memory_bytes;
  summary.pci_address = pci_address;
  return summary;
}

DeviceInfo DeviceFacts::info(const char* driver) const {
  DeviceInfo info = figures;
  info.driver = driver;
  info.name = name;
  info.uuid = uuid;
  info.target = target;
  info.pci_address = pci_address;
  return info;
}

Status DriverDevice::do_pool_statistics(MemoryType type, PoolStatistics* statistics) const {
  auto& device = const_cast<DriverDevice&>(*this);
  device.look_at_work();
  *statistics = statistics_of(device.pools(type).own());
  return {};
}

Status DriverDevice::do_trim_pool(MemoryType type, uint64_t keep_bytes) {
  look_at_work();
  pools(type).own().trim(keep_bytes);
  return {};
}

Status DriverDevice::do_create_pool(const PoolInfo& info, MemoryPool** pool) {
  *pool = new DriverPool(*this, info, pools(info.type).make(info));
  return {};
}

Status DriverDevice::do_export_semaphore(Semaphore& semaphore, ExportedSemaphore* exported) {
  return static_cast<Timeline&>(semaphore).share(exported);
}

Status DriverDevice::do_import_semaphore(const ExportedSemaphore& exported, Semaphore** semaphore) {
  HALYARD_ASSIGN_OR_RETURN(std::unique_ptr<SharedTimeline> shared, SharedTimeline::open(exported));
  Semaphore* created = nullptr;
  HALYARD_RETURN_IF_ERROR(do_create_semaphore(shared->value(), &created));
  Ref<Semaphore> made = Ref<Semaphore>::adopt(created);
  HALYARD_RETURN_IF_ERROR(static_cast<Timeline&>(*made).join(std::move(shared)));
  *semaphore = made.leak();
  return {};
}

Status DriverDevice::do_find_allocation(const void* pointer, AllocationInfo* info) const {
  if (allocations_.find(pointer, info)) return {};
  return error(StatusCode::kNotFound,
               "Device::find_allocation is given {}, which lies in no buffer of device \"{}\". "
               "Import the memory first, or ask the device that has allocated it.",
               pointer, DeviceBase::info().name);
}

Result<QueuePlace> QueuePlace::take(DriverDevice& device) {
  const uint32_t most = device.options().max_queues;
  const uint32_t before = device.queue_count().fetch_add(1, std::memory_order_relaxed);
  QueuePlace place(device);
  if (most != 0 && before >= most) {
    return error(StatusCode::kResourceExhausted,
                 "The device {} has as many queues ({}) as its option max_queues allows ({}). Drop "
                 "one first, or raise the option.",
                 device.info().name, before, most);
  }
  return place;
}

QueuePlace::~QueuePlace() {
  if (device_ != nullptr) device_->queue_count().fetch_sub(1, std::memory_order_relaxed);
}

DeviceInfo DriverDevice::limited(DeviceInfo info) const {
  const uint32_t most = options_.max_workgroup_size;
  if (most == 0) return info;
  info.max_workgroup_size = std::min(info.max_workgroup_size, most);
  info.max_workgroup = {std::min(info.max_workgroup.x, most), std::min(info.max_workgroup.y, most),
                        std::min(info.max_workgroup.z, most)};
  return info;
}

}  // namespace halyard
