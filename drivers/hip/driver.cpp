#include "drivers/hip/driver.h"

#include "drivers/common/device_options.h"
#include "drivers/hip/device.h"
#include "hal/error.h"
#include "hal/text.h"

namespace halyard::hip {

namespace {

Status unknown_option(const Option& option, const std::vector<std::string_view>& known) {
  return error(StatusCode::kInvalidArgument,
               "The driver hip does not know the driver option ({}). It knows: {}.{}", option.key,
               list_of(known), did_you_mean_clause(option.key.view(), known));
}

}  // namespace

Status DriverImpl::create(const Span<const Option>* options, Driver** driver) {
  std::string_view path;
  if (options != nullptr) {
    for (const Option& option : *options) {
      if (option.key.view() != "libhip") return unknown_option(option, {"libhip"});
      path = option.value;
    }
  }
  HALYARD_ASSIGN_OR_RETURN(Hip* const hip, Hip::load(path));
  *driver = new DriverImpl(*hip);
  return {};
}

Status DriverImpl::discover() {
  const std::lock_guard lock(mutex_);
  if (discovered_) return {};
  HALYARD_RETURN_IF_ERROR(hip_.initialise());
  version_ = hip_.version();
  HALYARD_ASSIGN_OR_RETURN(gpus_, list_gpus(hip_));
  discovered_ = true;
  return {};
}

void DriverImpl::do_info(DriverInfo* info) const {
  info->name = kDriverName;
  info->description = kDriverDescription;
  info->library_name = hip_.soname();
  info->library_path = hip_.path();
  // The runtime says it only once it runs, and it runs only where there is a GPU.
  const_cast<DriverImpl*>(this)->discover().ignore();
  const std::lock_guard lock(mutex_);
  info->library_version = version_;
}

Status DriverImpl::do_enumerate(void (*sink)(void*, const DeviceSummary&), void* context) {
  HALYARD_RETURN_IF_ERROR(discover());
  for (size_t i = 0; i < gpus_.size(); ++i) {
    const GpuFacts& gpu = gpus_[i];
    DeviceSummary summary;
    summary.ordinal = static_cast<uint32_t>(i);
    summary.name = gpu.name;
    summary.uuid = gpu.uuid;
    summary.target = gpu.target;
    summary.compute_units = gpu.compute_units;
    summary.memory_bytes = gpu.memory_bytes;
    sink(context, summary);
  }
  return {};
}

Status DriverImpl::do_create_device(uint32_t ordinal, Span<const Option> options, Device** device) {
  HALYARD_RETURN_IF_ERROR(discover());
  HALYARD_ASSIGN_OR_RETURN(const DeviceOptions read, read_device_options("hip", options));
  if (ordinal >= gpus_.size()) {
    std::string legal;
    for (size_t i = 0; i < gpus_.size(); ++i) {
      legal += fmt::format("{}{} ({})", i == 0 ? "" : ", ", i, gpus_[i].name);
    }
    return error(StatusCode::kNotFound, "The driver hip has no device ({}). It has: {}.", ordinal,
                 legal.empty() ? "none" : legal);
  }
  HALYARD_ASSIGN_OR_RETURN(Ref<Device> made, DeviceImpl::create(*this, hip_, gpus_[ordinal], read));
  *device = made.leak();
  return {};
}

}  // namespace halyard::hip
