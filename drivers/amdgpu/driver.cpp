#include "drivers/amdgpu/driver.h"

#include "drivers/amdgpu/device.h"

namespace halyard::amdgpu {

Status DriverImpl::create(Span<const Option> options, Driver** driver) {
  HALYARD_ASSIGN_OR_RETURN(const std::string_view path,
                           library_path(kDriverName, Hsa::library(), options));
  HALYARD_ASSIGN_OR_RETURN(Hsa* const hsa, Hsa::load(path));
  *driver = new DriverImpl(*hsa);
  return {};
}

Status DriverImpl::list_devices(std::vector<DeviceSummary>* devices) {
  HALYARD_ASSIGN_OR_RETURN(agents_, list_agents(hsa_));
  for (const GpuFacts& gpu : agents_.gpus) devices->push_back(gpu.summary());
  return {};
}

Result<Ref<Device>> DriverImpl::open_device(uint32_t ordinal, const DeviceOptions& options) {
  return DeviceImpl::create(*this, hsa_, agents_, ordinal, options);
}

}  // namespace halyard::amdgpu
