#include "drivers/amdgpu/device_library.h"

#include "drivers/amdgpu/device.h"
#include "drivers/amdgpu/device/abi.h"
#include "drivers/amdgpu/device_binaries.h"
#include "hal/error.h"
#include "hal/selection.h"
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

Result<size_t> choose_device_binary(const std::vector<std::string_view>& targets,
                                    const TargetId& device) {
  std::vector<VariantFacts> variants;
  for (const std::string_view target : targets) {
    VariantFacts& variant = variants.emplace_back();
    HALYARD_ASSIGN_OR_RETURN(variant.target, parse_target_id(target));
    variant.version = kNewestCodeObjectVersion;
  }
  LoaderFacts loader;
  loader.device = device;
  const Selection selection = select_variant(variants, loader);
  if (selection.chosen) return *selection.chosen;

  std::string reasons;
  for (size_t i = 0; i < targets.size(); ++i) {
    reasons += fmt::format("{}{} ({})", i == 0 ? "" : "; ", targets[i], selection.reasons[i]);
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
  std::vector<std::string_view> targets;
  for (const DeviceBinary& binary : binaries) targets.emplace_back(binary.target);
  HALYARD_ASSIGN_OR_RETURN(const size_t chosen,
                           choose_device_binary(targets, device_.facts().target_id));
  HALYARD_ASSIGN_OR_RETURN(executable_, ExecutableImpl::load_builtin(device_, binaries[chosen].data,
                                                                     binaries[chosen].size));
  for (size_t i = 0; i < kLibraryKernelCount; ++i) {
    HALYARD_ASSIGN_OR_RETURN(const Function* const function,
                             executable_->find(info_of(static_cast<LibraryKernel>(i)).name));
    functions_[i] = static_cast<const FunctionImpl*>(function);
  }
  return {};
}

}  // namespace halyard::amdgpu
