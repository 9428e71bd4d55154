#include "registry/vgpu.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <cstring>
#include <exception>
#include <filesystem>
#include <mutex>
#include <optional>

#include "elf_check.h"
#include "hal/error.h"
#include "hal/target_map.h"
#include "hal/text.h"
#include "registry/installation.h"
#include "registry/load_report.h"

namespace halyard {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLibrary = "libhalyard-kfd.so.0";
constexpr const char* kRuntime = "libhsa-runtime64.so.1";
constexpr const char* kConfigure = "halyard_vgpu_configure";
constexpr const char* kCheck = "halyard_vgpu_check";
constexpr const char* kHookRuntime = "halyard_vgpu_hook_runtime";
constexpr const char* kFiles = "halyard_vgpu_files";
constexpr const char* kEnter = "halyard_vgpu_enter";
constexpr const char* kPreload = "libhalyard-kfd-preload.so.0";
constexpr const char* kPathVariable = "HALYARD_VGPU_PATH";
constexpr const char* kProfileVariable = "HALYARD_VGPU_PROFILE";
constexpr const char* kRuntimeVariable = "HALYARD_LIBHSA_PATH";

// 0, or anything else and a sentence in `error`.
using Configure = int (*)(const char* profile, char* error, size_t error_size);

using Check = int (*)(const char* checks, const char* findings, char* error, size_t error_size);
using Enter = int (*)(const char* runtime, char* error, size_t error_size);
using Files = int (*)(const char* profile, char* path, size_t path_size, char* error,
                      size_t error_size);

// Never destroyed: the library's threads outlive main, and so may callers.
struct State {
  std::mutex mutex;
  std::optional<std::string> profile;  // the one that is in force
  std::string library;                 // its path, absolute
};
State& state() {
  static State* const state = new State;
  return *state;
}

// The path of the process's library with this soname; empty if there is none.
std::string loaded_path(const char* soname) {
  void* library = dlopen(soname, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return {};
  const link_map* map = nullptr;
  std::string path = soname;
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map->l_name != nullptr) path = map->l_name;
  dlclose(library);  // only what RTLD_NOLOAD has counted
  return path;
}

// The vendor's libraries are redirected when they are loaded, before they are used.
Status check_process() {
  const std::string runtime = loaded_path(kRuntime);
  if (runtime.empty()) return {};
  return error(StatusCode::kFailedPrecondition,
               "The virtual GPU cannot be loaded: this process has already loaded {} ({}), which "
               "would not use it. Load the virtual GPU before any driver, or run the program under "
               "\"halyard vgpu exec\".",
               kRuntime, runtime);
}

// The file itself, or the one in the folder.
std::string place_in(const std::string& chosen) {
  std::error_code error;
  return fs::is_directory(chosen, error) ? chosen + "/" + kLibrary : chosen;
}

// The paths that may hold the library, in order.
std::vector<std::string> places(const VirtualGpuOptions& options) {
  std::string chosen = trusted_environment(kPathVariable);
  if (chosen.empty()) chosen = options.library;
  if (!chosen.empty()) return {place_in(chosen)};
  std::vector<std::string> paths;
  for (const std::string& prefix : installation_prefixes(options.installation)) {
    paths.push_back(prefix + "/lib/halyard/vgpu/" + kLibrary);
  }
  return paths;
}

Status find_library(const VirtualGpuOptions& options, std::string* path) {
  std::string tried;
  for (const std::string& candidate : places(options)) {
    const std::string why = why_not_loadable(candidate);
    if (why.empty()) {
      *path = candidate;
      return {};
    }
    tried += fmt::format("\n  {}: {}", printable(candidate), why);
  }
  return error(
      StatusCode::kNotFound,
      "The virtual GPU's library ({}) is not found. Build Halyard with HALYARD_VGPU=ON, or "
      "name the library's folder in {}. Tried:{}",
      kLibrary, kPathVariable, tried.empty() ? " nothing" : tried);
}

// For now without a hold on the process: a library that turns out to be something else must not
// stay.
Status open_library(const std::string& path, Configure* configure) {
  const std::string absolute = fs::absolute(path).string();
  void* trial = dlopen(absolute.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (trial == nullptr) {
    const char* why = dlerror();
    return error(StatusCode::kFailedPrecondition,
                 "The virtual GPU's library ({}) cannot be loaded: {}", path,
                 why == nullptr ? "the loader does not say why." : why);
  }
  void* symbol = dlsym(trial, kConfigure);
  void* library = nullptr;
  if (symbol != nullptr) library = dlopen(absolute.c_str(), RTLD_LOCAL | RTLD_NOW | RTLD_NODELETE);
  dlclose(trial);
  if (library == nullptr) {
    return error(StatusCode::kFailedPrecondition,
                 "The library ({}) is not Halyard's virtual GPU: it has no function {}.{}", path,
                 kConfigure,
                 trusted_environment(kPathVariable).empty()
                     ? ""
                     : fmt::format(" It comes from {}.", kPathVariable));
  }
  *configure = reinterpret_cast<Configure>(symbol);
  return {};
}

// "The product mi300x has the processor gfx942. " for a product, an architecture or a family;
// otherwise empty.
std::string note_on_name(const std::string& profile) {
  const std::string name = profile.substr(0, profile.find(','));
  if (name.empty() || name.find('/') != std::string::npos) return {};
  const Result<NamedTarget> target = resolve_target_name(name);
  if (!target.ok() || target->kind == TargetNameKind::kProcessor ||
      target->kind == TargetNameKind::kGeneric)
    return {};
  std::vector<std::string_view> processors;
  for (const TargetId& id : target->targets) processors.push_back(id.processor);
  return fmt::format("The {} {} has the processor {}. ", to_string(target->kind), printable(name),
                     list_of(processors));
}

Status configure_library(Configure configure, const std::string& profile) {
  char message[2048] = {};
  int result = 0;
  try {
    result = configure(profile.c_str(), message, sizeof message);
  } catch (...) {
    return error(StatusCode::kInternal, "The virtual GPU's {} threw an exception.", kConfigure);
  }
  if (result == 0) return {};
  message[sizeof message - 1] = '\0';
  if (message[0] != '\0')
    return Status(StatusCode::kInvalidArgument, note_on_name(profile) + message);
  return error(StatusCode::kInvalidArgument,
               "The virtual GPU refuses the profile ({}) with {} and no message.",
               printable(profile), result);
}

// The runtime's file, or the one in the folder that is named.
std::string runtime_path(const VirtualGpuOptions& options) {
  std::string chosen =
      options.runtime.empty() ? trusted_environment(kRuntimeVariable) : options.runtime;
  std::error_code error;
  if (!fs::is_directory(chosen, error)) return chosen;
  const std::string below = chosen + "/lib/" + kRuntime;
  const std::string inside = chosen + "/" + kRuntime;
  return !fs::exists(inside, error) && fs::exists(below, error) ? below : inside;
}

Status enter(const std::string& path, const VirtualGpuOptions& options) {
  void* const library = dlopen(fs::absolute(path).c_str(), RTLD_NOW | RTLD_NOLOAD);
  const auto enter_process =
      reinterpret_cast<Enter>(library != nullptr ? dlsym(library, kEnter) : nullptr);
  if (enter_process == nullptr) {
    return error(StatusCode::kFailedPrecondition,
                 "The virtual GPU's library ({}) is older than this program: it has no {}.", path,
                 kEnter);
  }
  char message[2048] = {};
  if (enter_process(runtime_path(options).c_str(), message, sizeof message) == 0) return {};
  return Status(StatusCode::kUnavailable, message);
}

}  // namespace

Status load_virtual_gpu(std::string_view profile, const VirtualGpuOptions& options) {
  if (profile.find('\0') != std::string_view::npos) {
    return Status(StatusCode::kInvalidArgument, "The virtual GPU's profile holds a NUL character.");
  }
  const bool chosen_here = !profile.empty();
  const std::string wanted =
      chosen_here ? std::string(profile) : trusted_environment(kProfileVariable);
  State& now = state();
  const std::lock_guard lock(now.mutex);
  if (now.profile) {
    if (*now.profile == wanted) return {};
    return error(StatusCode::kFailedPrecondition,
                 "This process already has a virtual GPU with the profile ({}), and cannot get "
                 "another one ({}). A process has one virtual GPU.",
                 now.profile->empty() ? "default" : printable(*now.profile),
                 wanted.empty() ? "default" : printable(wanted));
  }
  std::string path;
  HALYARD_RETURN_IF_ERROR(find_library(options, &path));
  if (options.in_this_process) HALYARD_RETURN_IF_ERROR(check_process());
  Configure configure = nullptr;
  HALYARD_RETURN_IF_ERROR(open_library(path, &configure));
  const Status configured = configure_library(configure, wanted);
  if (!configured.ok() && !chosen_here && !wanted.empty()) {
    return configured.with_context(
        fmt::format("The profile of {} ({})", kProfileVariable, printable(wanted)));
  }
  HALYARD_RETURN_IF_ERROR(configured);
  if (options.in_this_process) HALYARD_RETURN_IF_ERROR(enter(path, options));
  now.profile = wanted;
  now.library = fs::absolute(path).string();
  return {};
}

namespace {

// A function of the virtual GPU's library, which has been loaded.
Result<void*> loaded_function(const char* name) {
  const std::string path = virtual_gpu_library();
  if (path.empty()) {
    return Status(StatusCode::kFailedPrecondition,
                  "This needs the virtual GPU, which this process has not loaded: call "
                  "load_virtual_gpu() first (--vgpu).");
  }
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  void* const symbol = library != nullptr ? dlsym(library, name) : nullptr;
  if (symbol != nullptr) return symbol;
  return error(StatusCode::kFailedPrecondition,
               "The virtual GPU's library ({}) is older than this program: it has no {}.", path,
               name);
}

}  // namespace

Status hook_runtime_with_virtual_gpu() {
  HALYARD_ASSIGN_OR_RETURN(void* const symbol, loaded_function(kHookRuntime));
  reinterpret_cast<void (*)()>(symbol)();
  return {};
}

Status make_virtual_kernel_driver(std::string_view profile, VirtualKernelDriver* driver) {
  HALYARD_ASSIGN_OR_RETURN(void* const symbol, loaded_function(kFiles));
  const std::string preload =
      fs::path(virtual_gpu_library()).parent_path().string() + "/" + kPreload;
  const std::string why = why_not_loadable(preload);
  if (!why.empty()) {
    return error(StatusCode::kNotFound,
                 "The virtual kernel driver's library ({}) cannot be preloaded: {}",
                 printable(preload), why);
  }
  char root[4096] = {};
  char message[2048] = {};
  const auto files = reinterpret_cast<Files>(symbol);
  if (files(std::string(profile).c_str(), root, sizeof root, message, sizeof message) != 0)
    return Status(StatusCode::kFailedPrecondition, message);
  driver->preload = preload;
  driver->root = root;
  return {};
}

Status check_with_virtual_gpu(const std::string& checks, const std::string& findings) {
  HALYARD_ASSIGN_OR_RETURN(void* const symbol, loaded_function(kCheck));
  char message[2048] = {};
  const auto check = reinterpret_cast<Check>(symbol);
  if (check(checks.c_str(), findings.c_str(), message, sizeof message) == 0) return {};
  return Status(StatusCode::kInvalidArgument, message);
}

bool virtual_gpu_loaded() {
  State& now = state();
  const std::lock_guard lock(now.mutex);
  return now.profile.has_value();
}

std::string virtual_gpu_library() {
  State& now = state();
  const std::lock_guard lock(now.mutex);
  return now.library;
}

}  // namespace halyard
