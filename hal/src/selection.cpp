#include "hal/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "hal/target_map.h"

namespace halyard {
namespace {

bool is_set(Feature feature) {
  return feature == Feature::kOn || feature == Feature::kOff;
}

// How many settings the code needs of which the device says nothing.
int unknown_settings(const TargetId& code, const TargetId& device) {
  const auto is_unknown = [](Feature wanted, Feature there) {
    return is_set(wanted) && !is_set(there);
  };
  return is_unknown(code.xnack, device.xnack) + is_unknown(code.sramecc, device.sramecc);
}

}  // namespace

std::string why_not_fits(const VariantFacts& variant, const LoaderFacts& loader) {
  if (!variant.problem.empty()) return variant.problem;
  if (variant.version > loader.newest_version) {
    return fmt::format("it has code object version {}, and the newest that is loaded is {}",
                       variant.version, loader.newest_version);
  }
  return why_not_runs_on(variant.target, loader.device, variant.generic_version);
}

bool is_preferred(const VariantFacts& a, const VariantFacts& b, const LoaderFacts& loader) {
  const auto is_generic = [&](const VariantFacts& variant) {
    return variant.target.processor != loader.device.processor;
  };
  if (is_generic(a) != is_generic(b)) return is_generic(b);
  const int unknown_a = unknown_settings(a.target, loader.device);
  const int unknown_b = unknown_settings(b.target, loader.device);
  if (unknown_a != unknown_b) return unknown_a < unknown_b;
  if (is_preferred(a.target, b.target)) return true;
  if (is_preferred(b.target, a.target)) return false;
  return std::pair(a.generic_version, a.version) > std::pair(b.generic_version, b.version);
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

std::vector<size_t> select_loose(const std::vector<LooseVariant>& variants,
                                 const LoaderFacts& loader) {
  std::vector<size_t> order;
  for (size_t i = 0; i < variants.size(); ++i) {
    if (why_not_fits(variants[i].facts, loader).empty()) order.push_back(i);
  }
  // Of two that are as good, the first stays first.
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (is_preferred(variants[a].facts, variants[b].facts, loader)) return true;
    return a < b && !is_preferred(variants[b].facts, variants[a].facts, loader);
  });
  std::vector<size_t> chosen;
  std::set<std::string_view> kernels;
  for (const size_t i : order) {
    bool has_new = false;
    for (const std::string& kernel : variants[i].kernels) has_new |= kernels.insert(kernel).second;
    if (has_new) chosen.push_back(i);
  }
  if (chosen.empty() && !order.empty()) chosen.push_back(order.front());
  return chosen;
}

}  // namespace halyard
