#include "tools/halyard/variants.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "hal/error.h"
#include "hal/target_id.h"
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
  return error(
      StatusCode::kNotFound, "The file ({}) has no code for the target ({}). It has {}.",
      printable(file), printable(target),
      list_of(std::vector<std::string_view>(present.begin(), present.end()), present.size()));
}

std::string place_of(const std::string& file, const ModuleVariant& variant) {
  if (variant.origin.empty()) return fmt::format("({})", printable(file));
  return fmt::format("({}, {})", printable(file), variant.origin);
}

}  // namespace halyard::cli
