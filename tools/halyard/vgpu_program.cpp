#include "tools/halyard/vgpu_program.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "config/settings/apply.h"
#include "hal/error.h"
#include "registry/trust.h"
#include "registry/vgpu.h"
#include "toolchain/tools.h"

namespace halyard::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProfile = "HALYARD_VGPU_PROFILE";
constexpr const char* kPreload = "LD_PRELOAD";
constexpr const char* kRoot = "HALYARD_VGPU_ROOT";

// A profile that is a file is found from every folder that the program may go to.
std::string absolute_profile(const std::string& profile) {
  const std::string_view name = std::string_view(profile).substr(0, profile.find(','));
  const bool is_file = profile.find('/') != std::string::npos || name.ends_with(".yaml");
  return is_file ? fs::absolute(profile).string() : profile;
}

// Puts a path before those that the variable holds.
void prepend(const char* variable, const std::string& path) {
  const char* const before = std::getenv(variable);
  const bool is_empty = before == nullptr || *before == '\0';
  setenv(variable, is_empty ? path.c_str() : (path + ":" + before).c_str(), 1);
}

}  // namespace

Result<std::string> choose_program_profile(const std::string& command, const std::string& flag) {
  if (runs_privileged()) {
    return error(StatusCode::kPermissionDenied,
                 "{} runs no program with more privileges than its caller has "
                 "(set-user-ID, set-group-ID, file capabilities): the dynamic linker would not put "
                 "the virtual GPU into it. Start a copy of halyard without them.",
                 command);
  }
  const char* const environment = std::getenv(kProfile);
  config::SettingsSources sources;
  if (!flag.empty()) sources.flags.push_back({"vgpu.profile", flag});
  HALYARD_ASSIGN_OR_RETURN(const config::Settings settings, config::Settings::load(sources));
  HALYARD_ASSIGN_OR_RETURN(std::string profile, config::virtual_gpu_profile(settings, ""));
  if (profile.empty() && environment != nullptr) profile = environment;
  profile = absolute_profile(profile);
  VirtualGpuOptions options = config::virtual_gpu_options(settings);
  options.in_this_process = false;
  HALYARD_RETURN_IF_ERROR(load_virtual_gpu(profile, options));
  return profile;
}

Status set_program_environment(const std::string& profile) {
  if (!profile.empty()) setenv(kProfile, profile.c_str(), 1);
  VirtualKernelDriver driver;
  HALYARD_RETURN_IF_ERROR(make_virtual_kernel_driver(profile, &driver));
  prepend(kPreload, driver.preload);
  setenv(kRoot, driver.root.c_str(), 1);
  return hook_runtime_with_virtual_gpu();
}

std::string program_file(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  for (const std::string& folder : toolchain::SearchContext::of_process().folders) {
    std::string path = folder + "/" + program;
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  return program;
}

}  // namespace halyard::cli
