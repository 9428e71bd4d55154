#include "hal/driver.h"

#include <algorithm>

#include "driver_call.h"
#include "hal/error.h"
#include "logical_device.h"

namespace halyard {

Result<Ref<Driver>> Driver::create(decltype(HalyardPlugin::create_driver) create_driver,
                                   Span<const Option> options) {
  HalyardDriver* driver = nullptr;
  HALYARD_RETURN_IF_ERROR(internal::call(create_driver, options, &driver));
  return internal::take<Driver>("create_driver", driver);
}

DriverInfo Driver::info() const {
  DriverInfo info;
  contract()->functions->info(contract(), internal::to_contract(&info));
  internal::make_whole(&info);
  return info;
}

Result<std::vector<DeviceSummary>> Driver::enumerate() {
  // The driver must not see the vector: its std:: may be another one.
  std::vector<DeviceSummary> devices;
  const HalyardDeviceSink sink = [](void* context, const HalyardDeviceSummary* summary) {
    static_cast<std::vector<DeviceSummary>*>(context)->push_back(
        known_part(*reinterpret_cast<const DeviceSummary*>(summary)));
  };
  HALYARD_RETURN_IF_ERROR(
      internal::call(contract()->functions->enumerate, *this, sink, static_cast<void*>(&devices)));
  return devices;
}

Result<Ref<Device>> Driver::create_device(uint32_t ordinal, Span<const Option> options) {
  HalyardDevice* device = nullptr;
  HALYARD_RETURN_IF_ERROR(
      internal::call(contract()->functions->create_device, *this, ordinal, options, &device));
  return internal::take<Device>("Driver::create_device", device);
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
    gpus.push_back(std::move(gpu));
  }
  return Ref<Device>(LogicalDevice::create(std::move(gpus), {ordinals.begin(), ordinals.end()}));
}

}  // namespace halyard
