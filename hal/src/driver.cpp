#include "hal/driver.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "driver_call.h"
#include "hal/error.h"
#include "hal/text.h"
#include "logical_device.h"

namespace halyard {

Result<Ref<Driver>> Driver::create(decltype(HalyardPlugin::create_driver) create_driver,
                                   Span<const Option> options) {
  HALYARD_RETURN_IF_ERROR(check_fork());
  note_driver_in_use();
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

Result<std::vector<DeviceOptionInfo>> Driver::device_options() {
  const auto list =
      internal::optional(contract()->functions, &HalyardDriverFunctions::device_options);
  if (list == nullptr) {
    return error(StatusCode::kUnimplemented,
                 "Driver::device_options is called on the driver \"{}\", which does not implement "
                 "it.",
                 info().name);
  }
  std::vector<DeviceOptionInfo> options;
  const HalyardDeviceOptionSink sink = [](void* context, const HalyardDeviceOption* option) {
    static_cast<std::vector<DeviceOptionInfo>*>(context)->push_back(
        known_part(*reinterpret_cast<const DeviceOptionInfo*>(option)));
  };
  HALYARD_RETURN_IF_ERROR(internal::call(list, *this, sink, static_cast<void*>(&options)));
  return options;
}

Status Driver::check_device_options(Span<const Option> options) {
  if (options.empty()) return {};
  const Result<std::vector<DeviceOptionInfo>> listed = device_options();
  if (listed.status().code() == StatusCode::kUnimplemented) return {};  // the driver checks
  HALYARD_RETURN_IF_ERROR(listed.status());
  std::vector<std::string_view> known;
  for (const DeviceOptionInfo& option : *listed) known.push_back(option.key);
  for (const Option& option : options) {
    const std::string_view key = option.key;
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    return error(StatusCode::kInvalidArgument,
                 "The driver {} does not know the device option ({}). It knows: {}.{}", info().name,
                 printable(key), known.empty() ? "none" : list_of(known),
                 did_you_mean_clause(key, known));
  }
  return {};
}

Result<Ref<Device>> Driver::create_device(uint32_t ordinal, Span<const Option> options) {
  HALYARD_RETURN_IF_ERROR(check_device_options(options));
  HalyardDevice* device = nullptr;
  HALYARD_RETURN_IF_ERROR(
      internal::call(contract()->functions->create_device, *this, ordinal, options, &device));
  return internal::take<Device>("Driver::create_device", device);
}

Result<Ref<Device>> Driver::create_logical_device(Span<const uint32_t> ordinals,
                                                  Span<const Option> options) {
  std::vector<GpuChoice> gpus;
  for (const uint32_t ordinal : ordinals) gpus.push_back({ordinal, options});
  return create_logical_device_of(gpus);
}

Result<Ref<Device>> Driver::create_logical_device_of(Span<const GpuChoice> gpus) {
  constexpr const char* kName = "Driver::create_logical_device";
  if (gpus.empty()) {
    return error(StatusCode::kInvalidArgument, "{} is given no GPU. A device has at least one.",
                 kName);
  }
  if (gpus.size() == 1) return create_device(gpus[0].ordinal, gpus[0].options);
  std::vector<uint32_t> ordinals;
  for (const GpuChoice& gpu : gpus) {
    if (std::find(ordinals.begin(), ordinals.end(), gpu.ordinal) != ordinals.end()) {
      return error(StatusCode::kInvalidArgument, "{} is given the ordinal {} twice.", kName,
                   gpu.ordinal);
    }
    ordinals.push_back(gpu.ordinal);
  }
  std::vector<Ref<Device>> opened;
  for (const GpuChoice& gpu : gpus) {
    HALYARD_ASSIGN_OR_RETURN(Ref<Device> device, create_device(gpu.ordinal, gpu.options));
    opened.push_back(std::move(device));
  }
  return Ref<Device>(LogicalDevice::create(std::move(opened), ordinals));
}

}  // namespace halyard
