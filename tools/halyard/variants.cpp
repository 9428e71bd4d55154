#include "tools/halyard/variants.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "hal/error.h"
#include "hal/target_id.h"
#include "hal/target_map.h"
#include "hal/text.h"

namespace halyard::cli {

Result<std::vector<const ModuleVariant*>> variants_for(const Module& module,
                                                       const std::string& file,
                                                       const std::string& target) {
  std::vector<const ModuleVariant*> wanted;
  std::vector<std::string> present;
  for (const ModuleVariant& variant : module.variants()) {
    const TargetId& built = variant.facts.target;
    const std::string name = to_string(built);
    if (target.empty() || target == name || target == built.processor) wanted.push_back(&variant);
    if (!name.empty() && std::find(present.begin(), present.end(), name) == present.end())
      present.push_back(name);
  }
  if (!wanted.empty() || target.empty()) return wanted;
  // Not a variant's name: is it the name of any target?
  const Result<NamedTarget> named = resolve_target_name(target);
  const ProcessorInfo* const processor = find_processor(target);
  const bool is_historic = processor != nullptr && processor->kind == ProcessorKind::kHistoric;
  if (!named.ok() && !is_historic) return named.status();
  std::vector<std::string> meant;
  for (const TargetId& one : named.ok() ? named->targets : std::vector<TargetId>()) {
    meant.push_back(to_string(one));
    for (const ModuleVariant& variant : module.variants()) {
      const bool fits = to_string(variant.facts.target) == meant.back() ||
                        variant.facts.target.processor == meant.back();
      if (fits) wanted.push_back(&variant);
    }
  }
  if (!wanted.empty()) return wanted;
  const bool is_plain = meant.empty() || (meant.size() == 1 && meant.front() == target);
  return error(
      StatusCode::kNotFound, "The file ({}) has no code for the target ({}{}). It has {}.",
      printable(file), printable(target),
      is_plain ? ""
               : ", which is " + list_of(std::vector<std::string_view>(meant.begin(), meant.end())),
      list_of(std::vector<std::string_view>(present.begin(), present.end()), present.size()));
}

std::string place_of(const std::string& file, const ModuleVariant& variant) {
  if (variant.origin.empty()) return fmt::format("({})", printable(file));
  return fmt::format("({}, {})", printable(file), variant.origin);
}

}  // namespace halyard::cli
