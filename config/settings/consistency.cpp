#include "config/settings/consistency.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>

#include "config/settings/key_table.h"
#include "hal/text.h"
#include "registry/device_uri.h"

namespace halyard::config {
namespace {

constexpr std::string_view kDevicesKey = "devices.";
constexpr std::string_view kVirtualGpusKey = "virtual_gpus.";

Location place_of(const Value& value) {
  return {value.origin.place, 0, 0};
}

// The names between "virtual_gpus." and the next dot.
std::set<std::string> virtual_gpu_names(const SettingMap& settings) {
  std::set<std::string> names;
  for (const auto& [path, setting] : settings) {
    if (path.starts_with(kVirtualGpusKey)) names.emplace(segments_of(path)[1]);
  }
  return names;
}

std::string sentence_for_unknown(const std::string& path, const std::string& name,
                                 const std::vector<std::string>& known) {
  const std::vector<std::string_view> views(known.begin(), known.end());
  return fmt::format("{} ({}) is not a profile of the virtual GPU.{} The profiles are {}.", path,
                     printable(name), did_you_mean_clause(name, views), list_of(views, SIZE_MAX));
}

}  // namespace

void check_device_names(const SettingMap& settings, Diagnostics& diagnostics) {
  for (const auto& [path, setting] : settings) {
    if (!path.starts_with(kDevicesKey)) continue;
    for (const Value& value : setting.values) {
      const Result<DeviceUri> uri = parse_device_uri(value.text);
      if (!uri.ok() || !settings.contains(std::string(kDevicesKey) + uri->driver)) continue;
      diagnostics.error(place_of(value),
                        fmt::format("{} ({}) names another name; it must name devices of a driver.",
                                    path, value.text));
    }
  }
}

void check_profiles(const SettingMap& settings, const std::vector<std::string>& profiles,
                    Diagnostics& diagnostics) {
  const std::set<std::string> own = virtual_gpu_names(settings);
  for (const auto& [path, setting] : settings) {
    if (setting.key->type != KeyType::kProfile) continue;
    const Value& value = setting.value();
    // Limits can follow: "mi210,memory_size=4GiB".
    const std::string name = value.text.substr(0, value.text.find(','));
    std::error_code none;
    if (name.find('/') != std::string::npos || name.ends_with(".yaml")) {
      if (std::filesystem::is_regular_file(name, none)) continue;
      diagnostics.error(place_of(value),
                        fmt::format("{} ({}) is not a file.", path, printable(name)));
      continue;
    }
    std::vector<std::string> known = profiles;
    if (!path.starts_with(kVirtualGpusKey)) known.insert(known.end(), own.begin(), own.end());
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    diagnostics.error(place_of(value), sentence_for_unknown(path, name, known));
  }
  for (const std::string& name : own) {
    const std::string prefix = fmt::format("{}{}.", kVirtualGpusKey, name);
    if (settings.contains(prefix + "profile")) continue;
    diagnostics.error(
        place_of(settings.lower_bound(prefix)->second.value()),
        fmt::format("The virtual GPU {} has no profile: {}profile must name one.", name, prefix));
  }
}

}  // namespace halyard::config
