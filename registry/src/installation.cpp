#include "registry/installation.h"

#include <dlfcn.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>

namespace halyard {
namespace {

namespace fs = std::filesystem;

fs::path file_of_this_code() {
  Dl_info info;
  // The address of a function of this library; which one does not matter.
  if (dladdr(reinterpret_cast<const void*>(&installation_prefixes), &info) == 0) return {};
  std::error_code error;
  return fs::canonical(info.dli_fname, error);
}

}  // namespace

std::string installation_prefix_of(const std::string& file) {
  const fs::path folder = fs::path(file).parent_path();
  if (folder.empty() || !folder.has_relative_path()) return {};
  for (fs::path step = folder; step.has_relative_path(); step = step.parent_path()) {
    const std::string name = step.filename().string();
    for (const char* const known : {"bin", "sbin", "lib", "lib32", "lib64", "libexec"}) {
      if (name == known) return step.parent_path().string();
    }
  }
  return folder.parent_path().string();
}

std::vector<std::string> installation_prefixes(const std::string& override) {
  if (!override.empty()) return {override};
  std::error_code error;
  std::vector<std::string> prefixes;
  for (const fs::path& file : {fs::read_symlink("/proc/self/exe", error), file_of_this_code()}) {
    std::string prefix = installation_prefix_of(file.string());
    if (prefix.empty()) continue;
    if (std::find(prefixes.begin(), prefixes.end(), prefix) != prefixes.end()) continue;
    prefixes.push_back(std::move(prefix));
  }
  return prefixes;
}

std::string trusted_environment(const char* name) {
  const char* value = secure_getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace halyard
