#include "vgpu/kfd/runtime_processors.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <vector>

namespace halyard::vgpu::kfd {
namespace {

// Since which release a runtime knows a processor; those that all of them know from 5.2 on are not
// here.
struct Since {
  Runtime runtime;
  const char* processor;
  const char* release;
  const char* debian;  // what Debian has of it
};
constexpr Since kSince[] = {
    {Runtime::kHsa, "gfx942", "6.1", "Debian 13 has 6.1.2"},
    {Runtime::kHsa, "gfx950", "6.4", "Debian unstable has 6.4.3"},
    {Runtime::kHip, "gfx942", "5.7", "Debian 13 has 5.7.1"},
    {Runtime::kHip, "gfx950", "7.0", "no Debian has it, and the driver amdgpu needs no HIP"},
};

const Since* since_of(Runtime runtime, const std::string& processor) {
  const auto* const found = std::find_if(
      std::begin(kSince), std::end(kSince),
      [&](const Since& since) { return runtime == since.runtime && processor == since.processor; });
  return found != std::end(kSince) ? found : nullptr;
}

bool contains(const std::string& bytes, const std::string& name) {
  return bytes.find(name) != std::string::npos;
}

// What the runtimes take every GPU for, whatever it is, if the user says so; empty: nothing.
std::string override_processor() {
  const char* const text = std::getenv("HSA_OVERRIDE_GFX_VERSION");
  unsigned major = 0;
  unsigned minor = 0;
  unsigned stepping = 0;
  char rest = 0;
  if (text == nullptr || std::sscanf(text, "%u.%u.%u%c", &major, &minor, &stepping, &rest) != 3)
    return {};
  return fmt::format("gfx{}{:x}{:x}", major, minor, stepping);
}

// What to do with the release that the file is. A gfx950 executes what compilers make for
// gfx9-4-generic, and most of what they make for gfx942.
std::string remedy(const std::string& bytes, const std::string& unknown) {
  const bool knows_gfx942 = contains(bytes, "gfx942");
  return fmt::format(
      "use a profile of {} or an earlier processor{}", knows_gfx942 ? "gfx942" : "gfx90a",
      knows_gfx942 && unknown == "gfx950"
          ? ", or have it taken for a gfx942 (HSA_OVERRIDE_GFX_VERSION=9.4.2), whose "
            "code it then runs"
          : "");
}

int add_name(dl_phdr_info* info, size_t /*size*/, void* names) {
  if (info->dlpi_name != nullptr && *info->dlpi_name != '\0')
    static_cast<std::vector<std::string>*>(names)->emplace_back(info->dlpi_name);
  return 0;
}

}  // namespace

std::string loaded_runtime(Runtime runtime) {
  std::vector<std::string> names;
  dl_iterate_phdr(add_name, &names);
  for (const std::string& name : names) {
    void* const library = dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) continue;
    // Of a library that needs the runtime, the function is the runtime's too.
    void* const function = dlsym(library, runtime == Runtime::kHsa ? "hsa_init" : "hipInit");
    Dl_info info = {};
    const bool found = function != nullptr && dladdr(function, &info) != 0;
    std::string file = found && info.dli_fname != nullptr ? info.dli_fname : "";
    dlclose(library);
    if (!file.empty()) return file;
  }
  return {};
}

std::string unknown_processors(const machine::Profile& profile, Runtime runtime,
                               const std::string& file, bool& usable) {
  usable = true;
  const std::string instead = override_processor();
  const auto since_of_gpu = [&](const machine::GpuProfile& gpu) {
    return since_of(runtime, instead.empty() ? gpu.processor : instead);
  };
  const auto is_new = [&](const machine::GpuProfile& gpu) { return since_of_gpu(gpu) != nullptr; };
  if (std::none_of(profile.gpus.begin(), profile.gpus.end(), is_new)) return {};
  std::ifstream stream(file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  if (bytes.empty()) return {};
  const Since* unknown = nullptr;
  usable = false;
  for (const machine::GpuProfile& gpu : profile.gpus) {
    const Since* const since = since_of_gpu(gpu);
    if (since == nullptr || contains(bytes, since->processor)) {
      usable = true;
    } else {
      unknown = since;
    }
  }
  if (unknown == nullptr) return {};
  return fmt::format(
      "The {} runtime ({}) does not know the processor ({}) of the virtual GPU's profile ({}), and "
      "leaves that GPU out. Releases from {} on know it ({}); with this one, {}.",
      runtime == Runtime::kHsa ? "HSA" : "HIP", file, unknown->processor, profile.name,
      unknown->release, unknown->debian, remedy(bytes, unknown->processor));
}

}  // namespace halyard::vgpu::kfd
