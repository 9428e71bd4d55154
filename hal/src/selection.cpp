#include "hal/selection.h"

#include <fmt/format.h>

#include <tuple>

namespace halyard {
namespace {

bool is_set(Feature feature) {
  return feature == Feature::kOn || feature == Feature::kOff;
}

// Settings of the code that the device has too, and such as the device says nothing about.
struct Settings {
  int known = 0;
  int unknown = 0;
};

Settings settings_of(const TargetId& code, const TargetId& device) {
  Settings settings;
  const auto count = [&settings](Feature wanted, Feature there) {
    if (!is_set(wanted)) return;
    ++(is_set(there) ? settings.known : settings.unknown);
  };
  count(code.xnack, device.xnack);
  count(code.sramecc, device.sramecc);
  return settings;
}

// Smaller is better.
auto rank_of(const VariantFacts& variant, const LoaderFacts& loader) {
  const bool is_generic = variant.target.processor != loader.device.processor;
  const Settings settings = settings_of(variant.target, loader.device);
  return std::tuple(is_generic, settings.unknown, -settings.known,
                    -static_cast<int64_t>(variant.generic_version),
                    -static_cast<int64_t>(variant.version));
}

}  // namespace

std::string why_not_fits(const VariantFacts& variant, const LoaderFacts& loader) {
  if (!variant.problem.empty()) return variant.problem;
  if (variant.version > loader.newest_version) {
    return fmt::format("it has code object version {}, and the newest that is loaded is {}",
                       variant.version, loader.newest_version);
  }
  return why_not_runs_on(variant.target, loader.device);
}

bool is_preferred(const VariantFacts& a, const VariantFacts& b, const LoaderFacts& loader) {
  return rank_of(a, loader) < rank_of(b, loader);
}

Selection select_variant(const std::vector<VariantFacts>& variants, const LoaderFacts& loader) {
  Selection selection;
  for (size_t i = 0; i < variants.size(); ++i) {
    const std::string& reason = selection.reasons.emplace_back(why_not_fits(variants[i], loader));
    if (!reason.empty()) continue;
    if (!selection.chosen || is_preferred(variants[i], variants[*selection.chosen], loader)) {
      selection.chosen = i;
    }
  }
  return selection;
}

}  // namespace halyard
