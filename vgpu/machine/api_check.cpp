// halyard_vgpu_check: what `--check` of halyard's programs stands on.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "vgpu/halyard_vgpu.h"
#include "vgpu/machine/api.h"
#if HALYARD_VGPU_ENGINE
#include "vgpu/observe/observers.h"
#endif

namespace {

bool set_variables(const std::string& checks, const std::string& findings, std::string& error) {
#if HALYARD_VGPU_ENGINE
  halyard::vgpu::observe::Checks chosen;
  if (!halyard::vgpu::observe::Checks::parse(checks, chosen, error)) return false;
  if (!findings.empty() && findings.front() != '/') {
    error = fmt::format("The file for findings ({}) must be an absolute path.", findings);
    return false;
  }
  setenv("HALYARD_VGPU_CHECK", findings.empty() ? "1" : findings.c_str(), 1);
  setenv("HALYARD_VGPU_CHECKS", checks.c_str(), 1);
  // Each of the program's allocations is one of the runtime's then.
  setenv("HSA_DISABLE_FRAGMENT_ALLOCATOR", "1", 1);
  if (!chosen.bounds && !chosen.races) return true;
  // The runtime tells this library of each block that the program allocates.
  halyard_vgpu_hook_runtime();
  return true;
#else
  static_cast<void>(checks);
  static_cast<void>(findings);
  error =
      "This virtual GPU was built without its engine (HALYARD_VGPU_ENGINE=OFF): no kernel runs "
      "that could be checked.";
  return false;
#endif
}

}  // namespace

HALYARD_VGPU_API int halyard_vgpu_check(const char* checks, const char* findings, char* error,
                                        size_t error_size) {
  std::string message;
  const bool done =
      set_variables(checks != nullptr ? checks : "", findings != nullptr ? findings : "", message);
  if (error != nullptr && error_size != 0) std::snprintf(error, error_size, "%s", message.c_str());
  return done ? 0 : 1;
}
