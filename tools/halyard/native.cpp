#include "tools/halyard/native.h"

#include "hal/error.h"
#include "hal/text.h"
#include "toolchain/targets.h"

namespace halyard::cli {

Result<TargetId> native_target(std::string_view name, std::string_view device) {
  Result<TargetId> target = parse_target_id(device);
  if (target.ok()) return toolchain::without_features(std::move(target).value());
  return error(StatusCode::kFailedPrecondition,
               "The device ({}) is not an AMD GPU (its target is {}). Halyard compiles sources "
               "only for AMD GPUs.",
               printable(name), printable(device));
}

Result<std::vector<TargetId>> native_targets(const SessionFlags& flags, const std::string& uri) {
  HALYARD_ASSIGN_OR_RETURN(const std::unique_ptr<Registry> registry, open_session(flags));
  std::vector<TargetId> targets;
  if (!uri.empty()) {
    HALYARD_ASSIGN_OR_RETURN(const Ref<Device> device, registry->open_device(uri));
    for (size_t i = 0; i < device->gpu_count(); ++i) {
      HALYARD_ASSIGN_OR_RETURN(TargetId target,
                               native_target(uri, device->gpu(i).info().target.view()));
      targets.push_back(std::move(target));
    }
    return targets;
  }
  for (const LoadedDriver& driver : registry->drivers()) {
    for (const DeviceSummary& device : driver.devices) {
      // Ignores devices that are not AMD GPUs, such as the driver host_memory's.
      Result<TargetId> target = native_target(device.name.view(), device.target.view());
      if (target.ok()) targets.push_back(std::move(target).value());
    }
  }
  if (targets.empty()) return no_device(*registry);
  return targets;
}

}  // namespace halyard::cli
