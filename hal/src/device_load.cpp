// Device::load_executable, in a separate file: its dependencies (decompression, the readers of
// containers) belong to the host, and a plugin links none of them.
#include <utility>
#include <vector>

#include "driver_call.h"
#include "gpu_group.h"
#include "hal/device.h"
#include "hal/error.h"
#include "hal/module.h"
#include "hal/target_id.h"
#include "joined_executable.h"
#include "logical_executable.h"

namespace halyard {

Result<Ref<Executable>> Device::load_executable(const void* data, size_t size) {
  if (data == nullptr || size == 0) {
    return error(StatusCode::kInvalidArgument,
                 "Device::load_executable is given an empty code object ({} bytes).",
                 data == nullptr ? 0 : size);
  }
  if (is_container(data, size)) {
    HALYARD_ASSIGN_OR_RETURN(const Module module, Module::read(data, size));
    return load_executable(module);
  }
  HalyardExecutable* executable = nullptr;
  HALYARD_RETURN_IF_ERROR(
      internal::call(contract()->functions->load_executable, *this, data, size, &executable));
  return internal::take<Executable>("Device::load_executable", executable);
}

Result<Ref<Executable>> Device::load_executable(const Module& module) {
  if (GpuGroup* const group = GpuGroup::of(*this)) {
    return internal::load_on_each(*group, [&](Device& gpu) { return gpu.load_executable(module); });
  }
  const auto load = [this](const ModuleVariant& variant) -> Result<Ref<Executable>> {
    const void* const data = variant.bytes.data();
    HalyardExecutable* executable = nullptr;
    Status status = internal::call(contract()->functions->load_executable, *this, data,
                                   variant.bytes.size(), &executable);
    if (status.ok()) return internal::take<Executable>("Device::load_executable", executable);
    return variant.origin.empty() ? status : status.with_context("In " + variant.origin);
  };
  // The driver decides whether it accepts the only candidate.
  if (module.format() == ModuleFormat::kCodeObject) return load(module.variants().front());
  Result<TargetId> target = parse_target_id(info().target);
  if (!target.ok()) {
    return error(StatusCode::kFailedPrecondition,
                 "Halyard cannot choose among the module's {} variants: the device's driver ({}) "
                 "reports the target \"{}\", which is not an AMD GPU. Load a plain code object.",
                 module.variants().size(), info().driver, info().target);
  }
  HALYARD_ASSIGN_OR_RETURN(const std::vector<size_t> chosen,
                           module.choose({.device = std::move(target).value()}));
  std::vector<Ref<Executable>> parts;
  for (const size_t i : chosen) {
    HALYARD_ASSIGN_OR_RETURN(Ref<Executable> part, load(module.variants()[i]));
    parts.push_back(std::move(part));
  }
  if (parts.size() == 1) return std::move(parts.front());
  return internal::join_executables(*this, std::move(parts));
}

}  // namespace halyard
