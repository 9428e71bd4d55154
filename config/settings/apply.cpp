#include "config/settings/apply.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "hal/error.h"
#include "hal/text.h"
#include "registry/device_uri.h"

namespace halyard::config {

namespace {

// What the registry and the drivers read from the environment themselves is left to them: their
// messages then name the variable.
bool is_from_environment(const Value& value) {
  return value.origin.layer == Layer::kEnvironment;
}

// "drivers.NAME.enabled" → NAME
std::string second_segment(const std::string& path) {
  return std::string(segments_of(path)[1]);
}

void apply_driver(const Setting& setting, RegistryOptions& options) {
  const std::vector<std::string_view> names = segments_of(setting.path);
  const std::string driver(names[1]);
  const Value& value = setting.value();
  if (names[2] == "enabled") {
    if (!value.truth) options.disabled_drivers.push_back({driver, value.origin.place});
  } else if (names[2] == "options") {
    options.driver_options.push_back({driver, std::string(names[3]), value.text});
  } else if (!is_from_environment(value)) {
    options.driver_options.push_back({driver, std::string(names[2]), value.text});
  }
}

bool has(const std::vector<DeviceOptionInfo>& known, std::string_view key) {
  return std::ranges::any_of(known, [&](const auto& option) { return option.key.view() == key; });
}

// The names below `prefix` ("processors.gfx90a.drivers.mine.").
void add_names_below(const Settings& settings, const std::string& prefix,
                     std::set<std::string>* names) {
  for (const Setting* const setting : settings.below(prefix)) {
    names->insert(setting->path.substr(prefix.size()));
  }
}

// What processors.<processor> says of a device, as its driver's options.
std::vector<ConfiguredOption> device_options(const Settings& settings, std::string_view driver,
                                             std::string_view processor,
                                             const std::vector<DeviceOptionInfo>& known) {
  std::vector<ConfiguredOption> options;
  constexpr std::string_view kPrefix = "processors.<processor>.";
  for (const Key& key : key_table()) {
    if (key.device_option.empty() || !has(known, key.device_option)) continue;
    const Setting* const setting =
        settings.of_processor(processor, key.path.substr(kPrefix.size()));
    if (setting == nullptr) continue;
    const Value& value = setting->value();
    uint64_t number = value.number;
    if (key.type == KeyType::kDuration) number /= 1000;  // microseconds
    options.push_back({std::string(key.device_option), std::to_string(number), value.origin.place});
  }
  // By the driver's own names: also of a driver that does not list its options.
  const std::string own = fmt::format("drivers.{}.", driver);
  std::set<std::string> names;
  for (const std::string_view of : {processor, std::string_view("default")}) {
    add_names_below(settings, fmt::format("processors.{}.{}", of, own), &names);
  }
  for (const std::string& name : names) {
    const Value& value = settings.of_processor(processor, own + name)->value();
    options.push_back({name, value.text, value.origin.place});
  }
  return options;
}

}  // namespace

RegistryOptions registry_options(const Settings& settings) {
  RegistryOptions options;
  if (const Setting* const paths = settings.find("plugins.paths")) {
    for (const Value& value : paths->values) {
      if (is_from_environment(value)) continue;
      auto& list = value.origin.layer == Layer::kFlag ? options.discovery.plugin_paths
                                                      : options.discovery.configured_paths;
      list.push_back(value.text);
    }
  }
  for (const Setting* const setting : settings.below("drivers.")) apply_driver(*setting, options);
  for (const Setting* const setting : settings.below("devices.")) {
    NamedDevice named{second_segment(setting->path), {}};
    for (const Value& value : setting->values) {
      Result<DeviceUri> uri = parse_device_uri(value.text);  // the reader has refused others
      if (uri.ok()) named.devices.push_back(std::move(uri).value());
    }
    options.devices.push_back(std::move(named));
  }
  options.validation = settings.text("validation.level") != "none";
  options.device_options = [own = std::make_shared<const Settings>(settings)](
                               std::string_view driver, std::string_view processor,
                               const std::vector<DeviceOptionInfo>& known) {
    return device_options(*own, driver, processor, known);
  };
  return options;
}

Result<std::string> virtual_gpu_profile(const Settings& settings, std::string_view wanted) {
  const Setting* const standard = settings.find("vgpu.profile");
  std::string profile(wanted);
  if (profile.empty() && standard != nullptr) profile = standard->value().text;
  const std::string name = profile.substr(0, profile.find(','));
  const std::vector<const Setting*> own = settings.below("virtual_gpus." + name + ".");
  if (name.empty() || own.empty()) {
    // load_virtual_gpu reads the variable itself, and names it in its messages.
    const bool is_variable =
        wanted.empty() && standard != nullptr && is_from_environment(standard->value());
    return is_variable ? std::string() : profile;
  }
  const std::string limits = profile.substr(name.size());
  const std::string base = settings.text("virtual_gpus." + name + ".profile");
  if (base.empty()) {
    return error(StatusCode::kInvalidArgument,
                 "The virtual GPU {} has no profile: virtual_gpus.{}.profile must name one ({}).",
                 name, name, own.front()->value().origin.place);
  }
  std::string made = base;
  for (const char* const limit : {"memory_size", "compute_units"}) {
    const std::string text = settings.text("virtual_gpus." + name + "." + limit);
    if (!text.empty()) made += std::string(",") + limit + "=" + text;
  }
  return made + limits;
}

VirtualGpuOptions virtual_gpu_options(const Settings& settings) {
  VirtualGpuOptions options;
  const Setting* const library = settings.find("vgpu.library");
  if (library != nullptr && !is_from_environment(library->value())) {
    options.library = library->value().text;
  }
  const Setting* const runtime = settings.find("drivers.amdgpu.libhsa");
  if (runtime != nullptr && !is_from_environment(runtime->value()))
    options.runtime = runtime->value().text;
  return options;
}

std::chrono::milliseconds load_timeout(const Settings& settings) {
  const Setting* const setting = settings.find("plugins.load_timeout");
  const std::chrono::nanoseconds time(setting == nullptr ? 0 : setting->value().number);
  return std::chrono::ceil<std::chrono::milliseconds>(time);
}

LogLevel log_level(const Settings& settings) {
  const std::string level = settings.text("logging.level");
  if (level == "error") return LogLevel::kError;
  return level == "warning" ? LogLevel::kWarning : LogLevel::kNote;
}

}  // namespace halyard::config
