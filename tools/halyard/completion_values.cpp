// The values that completions offer.
#include <algorithm>
#include <filesystem>

#include "config/settings/apply.h"
#include "hal/target_map.h"
#include "registry/discovery.h"
#include "registry/installation.h"
#include "tools/halyard/completion.h"

namespace halyard::cli {
namespace {

// The second part of each path below `prefix`: of "devices.", "devices.mine.uri" is "mine".
void add_configured(const config::Settings& settings, std::string_view prefix,
                    std::vector<std::string>& names) {
  for (const config::Setting* const setting : settings.below(prefix)) {
    const std::string rest = setting->path.substr(prefix.size());
    names.push_back(rest.substr(0, rest.find('.')));
  }
}

std::vector<std::string> sorted(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace

std::vector<std::string> profile_names(const config::Settings& settings) {
  std::vector<std::string> names;
  for (const std::string& prefix : installation_prefixes()) {
    std::error_code none;
    const std::string folder = prefix + "/share/halyard/config/vgpu";
    for (const auto& file : std::filesystem::directory_iterator(folder, none)) {
      if (file.path().extension() == ".yaml") names.push_back(file.path().stem());
    }
  }
  add_configured(settings, "virtual_gpus.", names);
  return sorted(std::move(names));
}

std::vector<std::string> target_names() {
  std::vector<std::string> names = {"native"};
  for (const ProcessorInfo& processor : all_processors()) {
    if (processor.kind != ProcessorKind::kHistoric) names.emplace_back(processor.name);
  }
  for (const ArchitectureInfo& architecture : all_architectures())
    names.emplace_back(architecture.name);
  for (const ProductInfo& product : all_products()) names.emplace_back(product.name);
  for (const FamilyInfo& family : all_families()) names.emplace_back(family.name);
  return sorted(std::move(names));
}

std::vector<std::string> device_names(const config::Settings& settings) {
  std::vector<std::string> names;
  const RegistryOptions options = config::registry_options(settings);
  for (const Candidate& candidate : discover(options.discovery).candidates) {
    const std::string_view driver = driver_of_file_name(candidate.path);
    if (!driver.empty()) names.emplace_back(driver);
  }
  add_configured(settings, "devices.", names);
  return sorted(std::move(names));
}

}  // namespace halyard::cli
