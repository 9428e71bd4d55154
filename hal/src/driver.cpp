#include "hal/driver.h"

namespace halyard {

DriverInfo Driver::info() const {
  DriverInfo info;
  do_info(&info);
  return info;
}

Result<std::vector<DeviceSummary>> Driver::enumerate() {
  // The driver must not see the vector: its std:: may be another one.
  std::vector<DeviceSummary> devices;
  HALYARD_RETURN_IF_ERROR(do_enumerate(
      [](void* context, const DeviceSummary& summary) {
        static_cast<std::vector<DeviceSummary>*>(context)->push_back(known_part(summary));
      },
      &devices));
  return devices;
}

Result<Ref<Device>> Driver::create_device(uint32_t ordinal, Span<const Option> options) {
  Device* device = nullptr;
  HALYARD_RETURN_IF_ERROR(do_create_device(ordinal, options, &device));
  return Ref<Device>::adopt(device);
}

}  // namespace halyard
