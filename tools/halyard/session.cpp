#include "tools/halyard/session.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "hal/error.h"
#include "registry/vgpu.h"

namespace halyard::cli {

void add_session_flags(CLI::App& command, SessionFlags& flags) {
  flags.vgpu = command
                   .add_option("--vgpu",
                               "Run on the virtual GPU, which needs no hardware: its profile, as a "
                               "name (gfx900) or a YAML file; without one, the default profile")
                   ->type_name("[PROFILE]")
                   ->expected(0, 1);
  command
      .add_option("--plugin-path", flags.plugin_paths,
                  "A folder with driver plugins, or one plugin; before HALYARD_PLUGIN_PATH and the "
                  "installation's own. May be repeated")
      ->type_name("PATH")
      ->allow_extra_args(false);
  command
      .add_option("--libhsa", flags.libhsa,
                  "The HSA runtime for the amdgpu driver: libhsa-runtime64.so.1 or its folder; "
                  "before HALYARD_LIBHSA_PATH and the system's own")
      ->type_name("PATH");
}

Result<std::unique_ptr<Registry>> open_session(const SessionFlags& flags) {
  if (flags.vgpu->count() > 0) {
    const std::vector<std::string>& profile = flags.vgpu->results();
    HALYARD_RETURN_IF_ERROR(load_virtual_gpu(profile.empty() ? "" : profile.front()));
  }
  RegistryOptions options;
  options.discovery.plugin_paths = flags.plugin_paths;
  if (!flags.libhsa.empty()) options.driver_options.push_back({"amdgpu", "libhsa", flags.libhsa});
  auto registry = Registry::create(options);
  // The search goes on without a folder that cannot be read; somebody who has named it wants to
  // know.
  for (const SearchedPlace& place : registry->report_so_far().places) {
    if (place.origin != PluginOrigin::kExplicit || place.problem.empty()) continue;
    return error(StatusCode::kNotFound, "The plugin path ({}) cannot be used: {}",
                 printable(place.path), place.problem);
  }
  return registry;
}

Status print(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (written && std::fflush(stdout) == 0) return {};
  return error(StatusCode::kUnavailable, "Standard output cannot be written: {}.",
               std::strerror(errno));
}

}  // namespace halyard::cli
