#include "drivers/amdgpu/driver.h"

#include "drivers/amdgpu/device.h"
#include "drivers/common/device_options.h"
#include "hal/error.h"
#include "hal/text.h"

namespace halyard::amdgpu {

namespace {

Status unknown_option(const Option& option, const std::vector<std::string_view>& known) {
  return error(StatusCode::kInvalidArgument,
               "The driver amdgpu does not know the driver option ({}). It knows: {}.{}",
               option.key, list_of(known), did_you_mean_clause(option.key.view(), known));
}

}  // namespace

Status DriverImpl::create(const Span<const Option>* options, Driver** driver) {
  std::string_view path;
  if (options != nullptr) {
    for (const Option& option : *options) {
      if (option.key.view() != "libhsa") return unknown_option(option, {"libhsa"});
      path = option.value;
    }
  }
  HALYARD_ASSIGN_OR_RETURN(Hsa* const hsa, Hsa::load(path));
  *driver = new DriverImpl(*hsa);
  return {};
}

Status DriverImpl::discover() {
  const std::lock_guard lock(mutex_);
  if (discovered_) return {};
  HALYARD_RETURN_IF_ERROR(hsa_.initialise());
  version_ = hsa_.version();
  HALYARD_ASSIGN_OR_RETURN(agents_, list_agents(hsa_));
  discovered_ = true;
  return {};
}

void DriverImpl::do_info(DriverInfo* info) const {
  info->name = kDriverName;
  info->description = kDriverDescription;
  info->library_name = kHsaSoname;
  info->library_path = hsa_.path();
  // The runtime says it only once it runs, and it runs only where there is a GPU.
  const_cast<DriverImpl*>(this)->discover().ignore();
  const std::lock_guard lock(mutex_);
  info->library_version = version_;
}

Status DriverImpl::do_enumerate(void (*sink)(void*, const DeviceSummary&), void* context) {
  HALYARD_RETURN_IF_ERROR(discover());
  for (size_t i = 0; i < agents_.gpus.size(); ++i) {
    const GpuFacts& gpu = agents_.gpus[i];
    DeviceSummary summary;
    summary.ordinal = static_cast<uint32_t>(i);
    summary.name = gpu.product;
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
  HALYARD_ASSIGN_OR_RETURN(const DeviceOptions read, read_device_options("amdgpu", options));
  if (ordinal >= agents_.gpus.size()) {
    std::string legal;
    for (size_t i = 0; i < agents_.gpus.size(); ++i) {
      legal += fmt::format("{}{} ({})", i == 0 ? "" : ", ", i, agents_.gpus[i].product);
    }
    return error(StatusCode::kNotFound, "The driver amdgpu has no device ({}). It has: {}.",
                 ordinal, legal.empty() ? "none" : legal);
  }
  HALYARD_ASSIGN_OR_RETURN(Ref<Device> made,
                           DeviceImpl::create(*this, hsa_, agents_, ordinal, read));
  *device = made.leak();
  return {};
}

}  // namespace halyard::amdgpu
