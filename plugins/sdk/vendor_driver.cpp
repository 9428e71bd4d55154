#include "plugins/sdk/vendor_driver.h"

#include "hal/error.h"
#include "hal/text.h"
#include "plugins/sdk/polling_thread.h"

namespace halyard {

Result<std::string_view> VendorDriver::library_path(const char* driver,
                                                    const VendorLibrary& library,
                                                    Span<const Option> options) {
  std::string_view path;
  for (const Option& option : options) {
    if (option.key.view() != library.option) {
      const std::vector<std::string_view> known = {library.option};
      return error(StatusCode::kInvalidArgument,
                   "The driver {} does not know the driver option ({}). It knows: {}.{}", driver,
                   option.key, list_of(known), did_you_mean_clause(option.key.view(), known));
    }
    path = option.value;
  }
  return path;
}

Status VendorDriver::discover() {
  const std::lock_guard lock(mutex_);
  if (discovered_) return {};
  HALYARD_RETURN_IF_ERROR(runtime_.initialise());
  PollingThread::stop_at_exit();
  version_ = runtime_.version();
  uses_ = runtime_.uses();
  devices_.clear();
  HALYARD_RETURN_IF_ERROR(list_devices(&devices_));
  for (size_t i = 0; i < devices_.size(); ++i) devices_[i].ordinal = static_cast<uint32_t>(i);
  discovered_ = true;
  return {};
}

void VendorDriver::do_info(DriverInfo* info) const {
  info->name = name_;
  info->description = description_;
  info->library_name = runtime_.soname();
  info->library_path = runtime_.path();
  // The runtime says it only once it runs, and it runs only where there is a GPU.
  const_cast<VendorDriver*>(this)->discover().ignore();
  const std::lock_guard lock(mutex_);
  info->library_version = version_;
  info->library_uses = uses_;
}

Status VendorDriver::do_enumerate(DeviceSink sink, void* context) {
  HALYARD_RETURN_IF_ERROR(discover());
  for (const DeviceSummary& summary : devices_) sink(context, summary);
  return {};
}

Status VendorDriver::do_create_device(uint32_t ordinal, Span<const Option> options,
                                      Device** device) {
  HALYARD_RETURN_IF_ERROR(discover());
  HALYARD_ASSIGN_OR_RETURN(const DeviceOptions read, read_device_options(name_, options_, options));
  if (ordinal >= devices_.size()) {
    std::string legal;
    for (const DeviceSummary& known : devices_) {
      legal += fmt::format("{}{} ({})", legal.empty() ? "" : ", ", known.ordinal, known.name);
    }
    return error(StatusCode::kNotFound, "The driver {} has no device ({}). It has: {}.", name_,
                 ordinal, legal.empty() ? "none" : legal);
  }
  HALYARD_ASSIGN_OR_RETURN(Ref<Device> opened, open_device(ordinal, read));
  *device = opened.leak();
  return {};
}

}  // namespace halyard
