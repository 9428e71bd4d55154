#include "toolchain/targets.h"

#include <algorithm>

#include "hal/error.h"
#include "hal/target_map.h"
#include "hal/text.h"

namespace halyard::toolchain {
namespace {

Result<std::vector<TargetId>> targets_of(
    std::string_view name, const std::function<Result<std::vector<TargetId>>()>& native) {
  if (name == "native") return native();
  HALYARD_ASSIGN_OR_RETURN(const NamedTarget named, resolve_target_name(name));
  return named.targets;
}

}  // namespace

Result<std::vector<TargetId>> parse_targets(
    std::string_view text, const std::function<Result<std::vector<TargetId>>()>& native) {
  std::vector<TargetId> targets;
  for (std::string_view rest = text;;) {
    const size_t comma = rest.find(',');
    const std::string_view name = rest.substr(0, comma);
    if (name.empty()) {
      return error(
          StatusCode::kInvalidArgument,
          "The list of targets ({}) has an empty name. Write NAME or NAME,NAME,…; `halyard "
          "targets` lists the names.",
          printable(text));
    }
    HALYARD_ASSIGN_OR_RETURN(const std::vector<TargetId> named, targets_of(name, native));
    for (const TargetId& target : named) {
      if (std::find(targets.begin(), targets.end(), target) == targets.end())
        targets.push_back(target);
    }
    if (comma == std::string_view::npos) return targets;
    rest.remove_prefix(comma + 1);
  }
}

TargetId without_features(TargetId target) {
  if (target.sramecc != Feature::kUnsupported) target.sramecc = Feature::kAny;
  if (target.xnack != Feature::kUnsupported) target.xnack = Feature::kAny;
  return target;
}

}  // namespace halyard::toolchain
