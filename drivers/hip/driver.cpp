#include "drivers/hip/driver.h"

#include "drivers/hip/device.h"

namespace halyard::hip {

Status DriverImpl::create(Span<const Option> options, Driver** driver) {
  HALYARD_ASSIGN_OR_RETURN(const std::string_view path,
                           library_path(kDriverName, Hip::library(), options));
  HALYARD_ASSIGN_OR_RETURN(Hip* const hip, Hip::load(path));
  *driver = new DriverImpl(*hip);
  return {};
}

Status DriverImpl::list_devices(std::vector<DeviceSummary>* devices) {
  HALYARD_ASSIGN_OR_RETURN(gpus_, list_gpus(hip_));
  for (const GpuFacts& gpu : gpus_) devices->push_back(gpu.summary());
  return {};
}

Result<Ref<Device>> DriverImpl::open_device(uint32_t ordinal, const DeviceOptions& options) {
  return DeviceImpl::create(*this, hip_, gpus_[ordinal], options);
}

}  // namespace halyard::hip
