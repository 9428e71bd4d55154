#include "drivers/amdgpu/device_library.h"

#include "drivers/amdgpu/device.h"
#include "drivers/amdgpu/device/abi.h"
#include "drivers/amdgpu/device_binaries.h"
#include "hal/code_object.h"
#include "hal/error.h"
#include "hal/target_map.h"

namespace halyard::amdgpu {

const LibraryKernelInfo& info_of(LibraryKernel kernel) {
  static constexpr std::array<LibraryKernelInfo, kLibraryKernelCount> kInfos = {{
      {"halyard_fill", sizeof(HalyardFillArguments)},
      {"halyard_copy", sizeof(HalyardCopyArguments)},
      {"halyard_copy_rectangle", sizeof(HalyardCopyRectangleArguments)},
      {"halyard_patch_dispatch", sizeof(HalyardPatchDispatchArguments)},
      {"halyard_collect_timestamps", sizeof(HalyardCollectTimestampsArguments)},
  }};
  return kInfos[static_cast<size_t>(kernel)];
}

Result<size_t> choose_device_binary(const std::vector<VariantFacts>& binaries,
                                    const TargetId& device) {
  LoaderFacts loader;
  loader.device = device;
  const Selection selection = select_variant(binaries, loader);
  if (selection.chosen) return *selection.chosen;

  std::string reasons;
  for (size_t i = 0; i < binaries.size(); ++i) {
    reasons += fmt::format("{}{} ({})", i == 0 ? "" : "; ", to_string(binaries[i].target),
                           selection.reasons[i]);
  }
  const ProcessorInfo* const processor = find_processor(device.processor);
  const std::string generic = processor != nullptr && processor->generic != nullptr
                                  ? fmt::format(" or of the generic target {}", processor->generic)
                                  : "";
  return error(
      StatusCode::kNotFound,
      "The device library has no code object that runs on {}: the agent runs code of {}{}, "
      "and this build has {}. Build with -DHALYARD_DEVICE_BINARIES=source "
      "-DHALYARD_DEVICE_TARGETS={}.",
      to_string(device), device.processor, generic, reasons.empty() ? "none" : reasons,
      device.processor);
}

Status DeviceLibrary::load_now() {
  const Span<const DeviceBinary> binaries = device_binaries();
  std::vector<VariantFacts> facts;
  for (const DeviceBinary& binary : binaries) {
    HALYARD_ASSIGN_OR_RETURN(facts.emplace_back(), read_variant_facts(binary.data, binary.size));
  }
  HALYARD_ASSIGN_OR_RETURN(const size_t chosen,
                           choose_device_binary(facts, device_.facts().target_id));
  HALYARD_ASSIGN_OR_RETURN(executable_, ExecutableImpl::load_builtin(device_, binaries[chosen].data,
                                                                     binaries[chosen].size));
  for (size_t i = 0; i < kLibraryKernelCount; ++i) {
    const char* const name = info_of(static_cast<LibraryKernel>(i)).name;
    functions_[i] = static_cast<ExecutableImpl&>(*executable_).function_named(name);
    if (functions_[i] == nullptr) {
      return error(StatusCode::kInternal, "The device library has no function \"{}\".", name);
    }
  }
  return {};
}

}  // namespace halyard::amdgpu
