#include "tools/halyard/session.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "config/settings/apply.h"
#include "hal/error.h"
#include "hal/text.h"
#include "registry/vgpu.h"
#include "tools/halyard/message.h"

namespace halyard::cli {
namespace {

const char* virtual_gpu_hint() {
  if (virtual_gpu_loaded()) return "";
  return " --vgpu uses a virtual GPU, which runs on any machine.";
}

// Appends an option that was given.
void add_flag_value(std::vector<config::FlagValue>& values, const char* path,
                    const std::string& text) {
  if (!text.empty()) values.push_back({path, text});
}

void print_warning(const std::string& path, const std::string& warning) {
  if (warning.empty()) return;
  say(MessageKind::kWarning, fmt::format("{}: {}", printable(path), warning));
}

}  // namespace

void add_session_flags(Command command, SessionFlags& flags) {
  flags.vgpu =
      command
          .add_option(
              "--vgpu",
              "Use the virtual GPU, which needs no hardware. PROFILE is a name (gfx900) or a YAML "
              "file; by default that of HALYARD_VGPU_PROFILE or of a config, or else gfx900")
          ->type_name("[PROFILE]")
          ->expected(0, 1);
  command
      .add_option("--config", flags.configs,
                  "A config, which overrides those of the system and the user (docs/config.md). "
                  "May be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command
      .add_option("--plugin-path", flags.plugin_paths,
                  "A folder with driver plugins, or one plugin; searched before "
                  "HALYARD_PLUGIN_PATH and the installation. May be repeated")
      ->type_name("PATH")
      ->allow_extra_args(false);
  command
      .add_option("--libhsa", flags.libhsa,
                  "The HSA runtime for the amdgpu driver: libhsa-runtime64.so.1 or its folder; "
                  "overrides HALYARD_LIBHSA_PATH and the system's runtime")
      ->type_name("PATH");
  command
      .add_option("--libhip", flags.libhip,
                  "The HIP runtime for the hip driver: libamdhip64.so.6 or .5, or its folder; "
                  "overrides HALYARD_LIBHIP_PATH and the system's runtime")
      ->type_name("PATH");
}

Status load_session_settings(const SessionFlags& flags) {
  config::SettingsSources sources;
  sources.files = flags.configs;
  for (const std::string& path : flags.plugin_paths) {
    sources.flags.push_back({"plugins.paths", path});
  }
  add_flag_value(sources.flags, "drivers.amdgpu.libhsa", flags.libhsa);
  add_flag_value(sources.flags, "drivers.hip.libhip", flags.libhip);
  if (flags.vgpu->count() > 0 && !flags.vgpu->results().empty()) {
    add_flag_value(sources.flags, "vgpu.profile", flags.vgpu->results().front());
  }
  HALYARD_ASSIGN_OR_RETURN(*flags.settings, config::Settings::load(sources));
  if (config::log_level(*flags.settings) == config::LogLevel::kError) return {};
  for (const std::string& warning : flags.settings->warnings()) {
    say(MessageKind::kWarning, warning);
  }
  return {};
}

Result<std::unique_ptr<Registry>> open_session(const SessionFlags& flags) {
  HALYARD_RETURN_IF_ERROR(load_session_settings(flags));
  const config::Settings& settings = *flags.settings;
  if (flags.vgpu->count() > 0) {
    HALYARD_ASSIGN_OR_RETURN(const std::string profile, config::virtual_gpu_profile(settings, ""));
    HALYARD_RETURN_IF_ERROR(load_virtual_gpu(profile, config::virtual_gpu_options(settings)));
  }
  RegistryOptions options = config::registry_options(settings);
  options.load_timeout = config::load_timeout(settings);
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

void print_notes(const config::Settings& settings, const LoadReport& report) {
  const config::LogLevel level = config::log_level(settings);
  if (level == config::LogLevel::kError) return;
  for (const SearchedPlace& place : report.places) print_warning(place.path, place.warning);
  for (const Candidate& candidate : report.candidates)
    print_warning(candidate.path, candidate.warning);
  if (level == config::LogLevel::kWarning) return;
  bool is_lacking = false;
  for (const Candidate& candidate : report.candidates) {
    if (candidate.disabled) continue;
    const std::string who = candidate.driver.empty() ? "plugin (" + printable(candidate.path) + ")"
                                                     : "driver " + printable(candidate.driver);
    if (!candidate.reason.empty()) {
      say(MessageKind::kNote, fmt::format("The {} lists no devices: {}", who, candidate.reason));
    } else if (candidate.device_count == 0) {
      say(MessageKind::kNote, fmt::format("The {} finds no device.", who));
    } else {
      continue;
    }
    is_lacking = true;
  }
  if (is_lacking && !virtual_gpu_loaded()) say(MessageKind::kNote, virtual_gpu_hint() + 1);
}

Status no_device(Registry& registry) {
  return error(StatusCode::kNotFound, "There is no device.{}\n{}", virtual_gpu_hint(),
               to_text(registry.report()));
}

Status print(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (written && std::fflush(stdout) == 0) return {};
  return error(StatusCode::kUnavailable, "Standard output cannot be written: {}.",
               std::strerror(errno));
}

}  // namespace halyard::cli
