#include "drivers/hip/hip.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <thread>

#include "drivers/common/address_space.h"
#include "hal/error.h"

namespace halyard::hip {

namespace {

std::string real_path(void* library, const std::string& fallback) {
  link_map* map = nullptr;
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) return fallback;
  char resolved[PATH_MAX];
  if (realpath(map->l_name, resolved) != nullptr) return resolved;
  return map->l_name;
}

// Every library that was opened, so that two drivers in one process share one table. Leaked on
// purpose: the vendor's threads outlive main.
struct Loaded {
  std::mutex mutex;
  std::vector<Hip*> tables;
};
Loaded& loaded() {
  static auto* const all = new Loaded;
  return *all;
}

// The library that other HIP code of this process uses; a second one would not know its streams.
std::vector<std::string> system_candidates() {
  for (const char* soname : kHipSonames) {
    void* const library = dlopen(soname, RTLD_NOW | RTLD_NOLOAD);
    if (library == nullptr) continue;
    dlclose(library);  // only what RTLD_NOLOAD has counted
    return {soname};
  }
  return {std::begin(kHipSonames), std::end(kHipSonames)};
}

std::string base_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

std::vector<std::string> candidates_for(const std::string& path) {
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return {path};
  const std::string folder = path.ends_with('/') ? path : path + "/";
  std::vector<std::string> candidates;
  for (const char* middle : {"", "lib/"}) {
    for (const char* soname : kHipSonames) candidates.push_back(folder + middle + soname);
  }
  return candidates;
}

namespace {

std::atomic<bool> over{false};
std::atomic<uint32_t> queries{0};  // calls of Hip::query under way

void end() {
  // A query takes microseconds. One that never returns does not keep the process.
  constexpr int kLooks = 1000;
  over.store(true, std::memory_order_seq_cst);
  for (int i = 0; i < kLooks && queries.load(std::memory_order_seq_cst) != 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// Static objects are destroyed in the reverse order, so this runs before HIP destroys those that it
// had when it was loaded, and after the program has destroyed what it made since.
void watch_for_the_end() {
  static const int registered = std::atexit(end);
  static_cast<void>(registered);
}

}  // namespace

bool Hip::is_over() {
  return over.load(std::memory_order_acquire);
}

hipError_t Hip::query(hipEvent_t event) const {
  queries.fetch_add(1, std::memory_order_seq_cst);
  // Either this sees the end, or the end sees this.
  const bool ended = over.load(std::memory_order_seq_cst);
  const hipError_t result = ended ? hipErrorNotReady : hipEventQuery(event);
  queries.fetch_sub(1, std::memory_order_release);
  return result;
}

Result<Hip*> Hip::load(std::string_view path) {
  if (!path.empty()) return load_from(candidates_for(std::string(path)), "the option libhip");
  // secure_getenv: a setuid program does not load what its caller names.
  const char* const variable = secure_getenv(kHipPathVariable);
  if (variable != nullptr && variable[0] != '\0') {
    return load_from(candidates_for(variable),
                     fmt::format("the environment variable {}", kHipPathVariable));
  }
  return load_from(system_candidates(), "the system's library path");
}

Result<Hip*> Hip::load_from(const std::vector<std::string>& candidates, std::string_view origin) {
  std::string tried;
  for (const std::string& candidate : candidates) {
    void* const library = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == nullptr) {
      const char* const words = dlerror();
      tried += fmt::format("\n  {}: {}", candidate, words != nullptr ? words : "no reason given");
      continue;
    }
    const std::string real = real_path(library, candidate);
    Loaded& all = loaded();
    const std::lock_guard lock(all.mutex);
    for (Hip* known : all.tables) {
      if (known->path_ == real) return known;
    }
    auto* const hip = new Hip;
    hip->path_ = real;
    hip->soname_ = base_name(candidate);
    if (Status status = hip->resolve(library); !status.ok()) {
      delete hip;
      return status;
    }
    watch_for_the_end();
    all.tables.push_back(hip);
    return hip;
  }
  return error(StatusCode::kUnavailable,
               "The HIP runtime (libamdhip64.so.6 or .5) cannot be opened through {}. Tried:{}\n"
               "Install it (Debian: libamdhip64-5), or name the file or its folder with the option "
               "libhip or the environment variable {}.",
               origin, tried, kHipPathVariable);
}

Status Hip::resolve(void* library) {
  // Required functions are kept under the name that C has for them.
#define HALYARD_HIP_REQUIRED(symbol, ...)                                                    \
  symbol = reinterpret_cast<decltype(symbol)>(dlsym(library, #symbol));                      \
  if (symbol == nullptr) {                                                                   \
    return error(StatusCode::kUnavailable,                                                   \
                 "The HIP runtime ({}) lacks the function {}, which the driver needs. ROCm " \
                 "5.2.3 and newer have it.",                                                 \
                 path_, #symbol);                                                            \
  }
#define HALYARD_HIP_OPTIONAL(member, symbol, ...) \
  member = reinterpret_cast<decltype(member)>(dlsym(library, symbol));
#include "drivers/hip/hip_symbols.inl"
#undef HALYARD_HIP_REQUIRED
#undef HALYARD_HIP_OPTIONAL
  if (hipExtModuleLaunchKernel == nullptr) hipExtModuleLaunchKernel = hipExtModuleLaunchKernelCxx;
  const bool launches = hipExtModuleLaunchKernel != nullptr;
  if (launches && (hipGetDeviceProperties != nullptr || hipGetDevicePropertiesR0600 != nullptr)) {
    return {};
  }
  return error(StatusCode::kUnavailable,
               "The HIP runtime ({}) lacks the function {}, which the driver needs. ROCm 5.2.3 and "
               "newer have it.",
               path_, launches ? "hipGetDeviceProperties" : "hipExtModuleLaunchKernel");
}

Status Hip::initialise() {
  const std::lock_guard lock(mutex_);
  if (initialised_) return init_status_;
  // It may run for other code of the process.
  const auto nothing = [](hsa_agent_t, void*) -> hsa_status_t { return HSA_STATUS_SUCCESS; };
  const bool runs =
      hsa_iterate_agents != nullptr && hsa_iterate_agents(nothing, nullptr) == HSA_STATUS_SUCCESS;
  if (!runs) {
    // For its threads and for some queues; measured, 5.2.3 takes 310 MiB.
    constexpr uint64_t kBeside = 512 << 20;
    // Not kept: the limit may be raised.
    HALYARD_RETURN_IF_ERROR(
        check_address_space(fmt::format("The HIP runtime ({})", path_),
                            {hsaKmtOpenKFD, hsaKmtCloseKFD, hsaKmtAcquireSystemProperties,
                             hsaKmtReleaseSystemProperties, hsaKmtGetNodeProperties},
                            kBeside));
  }
  initialised_ = true;
  int count = 0;
  hipError_t result = hipInit(0);
  if (result == hipSuccess) result = hipGetDeviceCount(&count);
  if (result == hipSuccess) result = hipRuntimeGetVersion(&version_);
  if (result != hipSuccess) {
    init_status_ = error(StatusCode::kUnavailable,
                         "The HIP runtime ({}) does not start: {}. It needs an AMD GPU and the "
                         "kernel's door to it (/dev/kfd).",
                         path_, describe(*this, result));
  }
  return init_status_;
}

std::string Hip::version() {
  const std::lock_guard lock(mutex_);
  if (version_ == 0) return {};
  return fmt::format("{}.{}.{}", version_ / 10'000'000, version_ / 100'000 % 100,
                     version_ % 100'000);
}

std::string describe(const Hip& hip, hipError_t error) {
  const char* const name = hip.hipGetErrorName(error);
  const char* const text = hip.hipGetErrorString(error);
  if (name == nullptr) return fmt::format("HIP error {}", error);
  // HIP 5's text is the name again.
  if (text == nullptr || std::string_view(text) == name) {
    return fmt::format("{} (HIP error {})", name, error);
  }
  return fmt::format("{}: {} (HIP error {})", name, text, error);
}

StatusCode code_for(hipError_t error) {
  switch (error) {
    case hipErrorInvalidValue:
    case hipErrorInvalidDevice:
    case hipErrorInvalidImage:
    case hipErrorNoBinaryForGpu:
    case hipErrorInvalidKernelFile:
    case hipErrorSharedObjectInitFailed:
    case hipErrorInvalidHandle:
      return StatusCode::kInvalidArgument;
    case hipErrorOutOfMemory:
      return StatusCode::kResourceExhausted;
    case hipErrorNotInitialized:
    case hipErrorInsufficientDriver:
    case hipErrorNoDevice:
      return StatusCode::kUnavailable;
    case hipErrorNotFound:
      return StatusCode::kNotFound;
    case hipErrorNotSupported:
      return StatusCode::kUnimplemented;
    default:
      return StatusCode::kInternal;
  }
}

Status check(const Hip& hip, hipError_t error, std::string_view doing) {
  if (error == hipSuccess) [[likely]]
    return {};
  return ::halyard::error(code_for(error), "{} fails: {}.", doing, describe(hip, error));
}

}  // namespace halyard::hip
