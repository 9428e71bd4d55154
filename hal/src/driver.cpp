#include "hal/driver.h"

#include <algorithm>

#include "hal/error.h"
#include "logical_device.h"

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

Result<Ref<Device>> Driver::create_logical_device(Span<const uint32_t> ordinals,
                                                  Span<const Option> options) {
  constexpr const char* kName = "Driver::create_logical_device";
  if (ordinals.empty()) {
    return error(StatusCode::kInvalidArgument, "{} is given no GPU. A device has at least one.",
                 kName);
  }
  if (ordinals.size() == 1) return create_device(ordinals[0], options);
  for (const uint32_t* at = ordinals.begin(); at != ordinals.end(); ++at) {
    if (std::find(ordinals.begin(), at, *at) == at) continue;
    return error(StatusCode::kInvalidArgument, "{} is given the ordinal {} twice.", kName, *at);
  }
  std::vector<Ref<Device>> gpus;
  for (const uint32_t ordinal : ordinals) {
    HALYARD_ASSIGN_OR_RETURN(Ref<Device> gpu, create_device(ordinal, options));
    if (!gpu) {
      return error(
          StatusCode::kInternal,
          "The driver {} has returned OK but no device for its ordinal {}; this is an error "
          "in the plugin.",
          info().name, ordinal);
    }
    gpus.push_back(std::move(gpu));
  }
  return Ref<Device>(LogicalDevice::create(std::move(gpus), {ordinals.begin(), ordinals.end()}));
}

}  // namespace halyard
