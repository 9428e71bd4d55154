// One code object out of one of the suite's fat files, for tests that want it plain.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "hal/error.h"
#include "hal/module.h"
#include "hal/target_id.h"

namespace halyard {

// The variant of the file at `path` that is for `target` to the letter ("gfx9-generic"), or else
// the one that such a device loads. NOT_FOUND or FAILED_PRECONDITION if there is none.
inline Result<std::vector<std::byte>> read_variant(const std::string& path,
                                                   std::string_view target) {
  HALYARD_ASSIGN_OR_RETURN(const Module module, Module::open(path));
  const auto copy = [](const ModuleVariant& variant) {
    return std::vector<std::byte>(variant.bytes.begin(), variant.bytes.end());
  };
  for (const ModuleVariant& variant : module.variants()) {
    if (to_string(variant.facts.target) == target) return copy(variant);
  }
  HALYARD_ASSIGN_OR_RETURN(const TargetId device, parse_target_id(target));
  HALYARD_ASSIGN_OR_RETURN(const std::vector<size_t> chosen, module.choose({.device = device}));
  return copy(module.variants()[chosen.front()]);
}

}  // namespace halyard
