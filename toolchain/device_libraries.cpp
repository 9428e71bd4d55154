#include "toolchain/device_libraries.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>

#include "hal/error.h"
#include "hal/target_map.h"
#include "hal/text.h"

namespace halyard::toolchain {
namespace {

constexpr const char* kVariable = "HALYARD_BITCODE_DIR";
constexpr const char* kIsaVersion = "oclc_isa_version_";
constexpr const char* kOfRocm = "/opt/rocm/amdgcn/bitcode";
constexpr const char* kOfDebian12 = "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode";

bool has_libraries(const std::string& folder) {
  std::error_code ignored;
  return std::filesystem::exists(folder + "/ocml.bc", ignored);
}

// Debian has them beside the LLVM that has made them, since 13.
std::string of_llvm(int version) {
  return fmt::format("/usr/lib/llvm-{0}/lib/clang/{0}/amdgcn/bitcode", version);
}
constexpr int kNewestLlvm = 40;
constexpr int kOldestLlvm = 16;

}  // namespace

std::string usual_device_libraries(const std::string& root) {
  for (const char* const folder : {kOfRocm, kOfDebian12}) {
    if (has_libraries(root + folder)) return root + folder;
  }
  for (int version = kNewestLlvm; version >= kOldestLlvm; --version) {
    if (has_libraries(root + of_llvm(version))) return root + of_llvm(version);
  }
  return std::string();
}

bool uses_device_libraries(std::span<const std::byte> object) {
  const std::string_view text(reinterpret_cast<const char*>(object.data()), object.size());
  for (const std::string_view prefix :
       {"__ocml_", "__ockl_", "__oclc_", "__atomic_work_item_fence"}) {
    if (text.find(prefix) != std::string_view::npos) return true;
  }
  return false;
}

Result<std::string> find_device_libraries(const std::string& chosen, const SearchContext& context) {
  const std::string variable = context.variable(kVariable);
  const std::string& named = chosen.empty() ? variable : chosen;
  if (!named.empty()) {
    if (has_libraries(named)) return named;
    return error(StatusCode::kNotFound,
                 "The folder ({}) of {} has no device libraries (ocml.bc and others). Name the "
                 "folder with the *.bc files of ROCm's device libraries; the Debian package "
                 "rocm-device-libs has them in {}.",
                 printable(named), chosen.empty() ? kVariable : "--bitcode-dir", kOfDebian12);
  }
  return usual_device_libraries("");
}

std::vector<std::string> device_library_files(
    const std::string& folder, const LibraryChoice& choice,
    const std::function<bool(const std::string&)>& exists) {
  const ProcessorInfo* const processor = find_processor(choice.target.processor);
  const bool wave64 = processor == nullptr || processor->wavefront_size != 32;
  // "gfx90a" is 90a, "gfx9-4-generic" is 9-4-generic.
  const std::string isa =
      choice.target.processor.substr(std::string_view("gfx").size(), std::string::npos);
  std::vector<std::string> names;
  if (choice.opencl) names.emplace_back("opencl");
  names.insert(names.end(), {"hip", "ocml", "ockl", "oclc_daz_opt_off", "oclc_unsafe_math_off",
                             "oclc_finite_only_off", "oclc_correctly_rounded_sqrt_on",
                             wave64 ? "oclc_wavefrontsize64_on" : "oclc_wavefrontsize64_off",
                             kIsaVersion + isa});
  // Version 6 has version 5's hidden arguments, which are all that these constants are about.
  const auto abi = [](uint32_t version) {
    return "oclc_abi_version_" + std::to_string(version) + "00";
  };
  const bool has_own = exists(folder + "/" + abi(choice.code_object_version) + ".bc");
  names.push_back(
      abi(choice.code_object_version == 6 && !has_own ? 5 : choice.code_object_version));
  std::vector<std::string> files;
  for (const std::string& name : names) {
    const std::string file = folder + "/" + name + ".bc";
    if (exists(file)) files.push_back(file);
  }
  return files;
}

bool has_isa_version(const std::vector<std::string>& files) {
  return std::any_of(files.begin(), files.end(), [](const std::string& file) {
    return file.find(kIsaVersion) != std::string::npos;
  });
}

std::string isa_version_ir(std::string_view processor) {
  processor.remove_prefix(std::string_view("gfx").size());
  constexpr std::string_view kGeneric = "-generic";
  unsigned major = 0;
  unsigned minor = 0;
  unsigned stepping = 0;
  const auto read = [](std::string_view digits, int base, unsigned& number) {
    std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  };
  if (processor.ends_with(kGeneric)) {
    // "9-4"
    processor.remove_suffix(kGeneric.size());
    const size_t dash = processor.find('-');
    read(processor.substr(0, dash), 10, major);
    if (dash != std::string_view::npos) read(processor.substr(dash + 1), 10, minor);
  } else {
    // "90a": a digit each for minor and stepping
    read(processor.substr(0, processor.size() - 2), 10, major);
    read(processor.substr(processor.size() - 2, 1), 16, minor);
    read(processor.substr(processor.size() - 1), 16, stepping);
  }
  return fmt::format(
      "target triple = \"amdgcn-amd-amdhsa\"\n"
      "@__oclc_ISA_version = linkonce_odr protected local_unnamed_addr addrspace(4) constant i32 "
      "{}, "
      "align 4\n",
      major * 1000 + minor * 100 + stepping);
}

}  // namespace halyard::toolchain
