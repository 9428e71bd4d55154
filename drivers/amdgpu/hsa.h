// The HSA runtime, opened at run time: finding libhsa-runtime64.so.1, its functions, and the
// process-wide state that comes with it.
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "drivers/common/fault_listener.h"
#include "hal/status.h"

namespace halyard::amdgpu {

inline constexpr const char* kHsaSoname = "libhsa-runtime64.so.1";
inline constexpr const char* kHsaPathVariable = "HALYARD_LIBHSA_PATH";

// The functions of hsa_symbols.inl under their own names. Once loaded it lives as long as the
// process: the library is never closed and never shut down, since both crash when the runtime's
// own threads or static objects go first.
class Hsa {
 public:
#define HALYARD_HSA_REQUIRED(name) decltype(&::name) name = nullptr;
#define HALYARD_HSA_OPTIONAL(name, ...) std::add_pointer_t<__VA_ARGS__> name = nullptr;
#include "drivers/amdgpu/hsa_symbols.inl"
#undef HALYARD_HSA_REQUIRED
#undef HALYARD_HSA_OPTIONAL

  // Opens the library. A path that is given (`path`, or else HALYARD_LIBHSA_PATH; a file or a
  // directory) is the only place that is looked at; without one the loader finds the soname.
  // UNAVAILABLE lists each path that was tried with the loader's own words.
  static Result<Hsa*> load(std::string_view path);

  // The same with the places to look at given, for tests.
  static Result<Hsa*> load_from(const std::vector<std::string>& candidates,
                                std::string_view origin);

  // hsa_init, once; what it said then is what every later call says.
  Status initialise();

  // Calls `callback` for every memory fault from now on: the runtime does, or, where it uses no
  // interrupts and so hears of none, a thread that listens to the thunk. Handlers are never
  // removed, and only the first one counts. Data is null.
  Status on_system_event(hsa_amd_system_event_callback_t callback);

  const std::string& path() const { return path_; }  // real, symbolic links resolved
  std::string version();                             // "1.1"; empty before initialise

 private:
  Hsa() = default;
  Status resolve(void* library, const std::string& opened);
  Result<bool> uses_interrupts() const;
  void tell(const NodeFault& fault, hsa_amd_system_event_callback_t callback) const;

  std::string path_;
  std::mutex mutex_;
  bool initialised_ = false;
  bool listening_ = false;
  Status init_status_;
};

// The files that a path from a flag or the environment may mean: itself, or the library inside of
// it if it is a directory.
std::vector<std::string> candidates_for(const std::string& path);

// "HSA_STATUS_ERROR_OUT_OF_RESOURCES: The runtime failed to …": HSA's own words, as
// hsa_status_string gives them.
std::string describe(const Hsa& hsa, hsa_status_t status);

// The canonical code that is closest to an HSA status.
StatusCode code_for(hsa_status_t status);

// "<doing> fails: <HSA's own words>."; OK for HSA_STATUS_SUCCESS and HSA_STATUS_INFO_BREAK.
Status check(const Hsa& hsa, hsa_status_t status, std::string_view doing);

}  // namespace halyard::amdgpu
