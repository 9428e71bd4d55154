#include "toolchain/compile_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include "hal/code_object.h"
#include "hal/error.h"
#include "hal/file.h"
#include "hal/text.h"

namespace halyard::toolchain {

namespace fs = std::filesystem;

namespace {

Result<bool> has_metadata(const std::string& assembly) {
  HALYARD_ASSIGN_OR_RETURN(const std::vector<std::byte> text, read_file(assembly));
  const std::string_view view(reinterpret_cast<const char*>(text.data()), text.size());
  return view.find(".amdgpu_metadata") != std::string_view::npos;
}

}  // namespace

Result<std::vector<Unit>> units_of(const std::vector<std::string>& inputs) {
  std::vector<Unit> units;
  for (const std::string& input : inputs) {
    HALYARD_ASSIGN_OR_RETURN(const Language language, language_of(input));
    std::error_code ignored;
    if (!fs::exists(input, ignored)) {
      return error(StatusCode::kNotFound, "The file ({}) does not exist.", printable(input));
    }
    std::string stem = fs::path(input).stem().string();
    const auto is_taken = [&](const Unit& unit) { return unit.stem == stem; };
    if (std::any_of(units.begin(), units.end(), is_taken)) {
      stem += fmt::format(".{}", units.size());
    }
    units.push_back({input, language, std::move(stem), false});
    if (inputs.size() > 1 && language == Language::kAssembly) {
      HALYARD_ASSIGN_OR_RETURN(const bool has_kernels, has_metadata(input));
      if (has_kernels) {
        return error(StatusCode::kInvalidArgument,
                     "The assembly file ({}) has metadata of kernels (.amdgpu_metadata) and is not "
                     "the only input, but a code object has one record of metadata. Compile it "
                     "alone, or keep only functions in it.",
                     printable(input));
      }
    }
    if (inputs.size() > 1 && language == Language::kHip) {
      return error(StatusCode::kInvalidArgument,
                   "The HIP file ({}) is not the only input: hipcc links each HIP file by itself. "
                   "Compile it alone, or include the other files in it.",
                   printable(input));
    }
  }
  return units;
}

const char* how_to_write_a_kernel(Language language) {
  switch (language) {
    case Language::kC:
      return "In C a kernel is a function with __attribute__((amdgpu_kernel)).";
    case Language::kOpenCl:
      return "In OpenCL C a kernel is a function with `kernel` before its type.";
    case Language::kHip:
      return "In HIP a kernel is a function with __global__; a template has to be used or "
             "instantiated.";
    case Language::kLlvmIr:
      return "In LLVM IR a kernel is a function with the calling convention amdgpu_kernel.";
    case Language::kAssembly:
      return "In assembly a kernel has a descriptor (.amdhsa_kernel) and an entry in "
             ".amdgpu_metadata.";
    case Language::kMlir:
      return "In MLIR a kernel is a gpu.launch, or a gpu.func with the attribute `kernel`.";
    case Language::kRust:
      return "In Rust a kernel is a function with `#[unsafe(no_mangle)] pub extern "
             "\"gpu-kernel\"` before its name.";
  }
  return "";
}

Status check_kernels(const std::vector<Unit>& units, const std::vector<std::byte>& bytes) {
  HALYARD_ASSIGN_OR_RETURN(const CodeObject object, CodeObject::read(bytes.data(), bytes.size()));
  const auto& kernels = object.kernels();
  const bool any_usable = std::any_of(kernels.begin(), kernels.end(), [](const KernelInfo& kernel) {
    return kernel.function.problem.empty();
  });
  if (any_usable) return {};
  const Unit& first = units.front();
  const std::string others = units.size() > 1 ? " or in the others" : "";
  if (!kernels.empty()) {
    const FunctionInfo& kernel = kernels.front().function;
    return error(StatusCode::kInvalidArgument,
                 "No kernel in the file ({}){} can be used, the first (\"{}\") for this reason: {}",
                 printable(first.input), others, short_name(kernel.name), kernel.problem);
  }
  return error(StatusCode::kInvalidArgument, "There is no kernel in the file ({}){}. {}",
               printable(first.input), others, how_to_write_a_kernel(first.language));
}

}  // namespace halyard::toolchain
