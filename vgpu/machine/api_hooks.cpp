// halyard_vgpu_hook_runtime: names this library as one of the runtime's tools.
#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "vgpu/halyard_vgpu.h"
#include "vgpu/machine/api.h"

namespace {

// For HSA_TOOLS_LIB, whose names cannot contain blanks.
std::string escaped(const std::string& path) {
  std::string text;
  for (const char c : path) {
    if (c == ' ' || c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text;
}

std::string own_path() {
  Dl_info info = {};
  const bool found = dladdr(reinterpret_cast<void*>(&halyard_vgpu_hook_runtime), &info) != 0;
  return found && info.dli_fname != nullptr ? info.dli_fname : "";
}

}  // namespace

HALYARD_VGPU_API void halyard_vgpu_hook_runtime(void) {
  std::string tools = escaped(own_path());
  const char* const variable = std::getenv("HSA_TOOLS_LIB");
  const std::string before = variable != nullptr ? variable : "";
  // A process that this one starts may ask once more.
  if (before == tools || before.starts_with(tools + " ")) return;
  if (!before.empty()) tools += " " + before;
  setenv("HSA_TOOLS_LIB", tools.c_str(), 1);
}
