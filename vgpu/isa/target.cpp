#include "vgpu/isa/target.h"

#include <fmt/format.h>

#include <algorithm>

namespace halyard::vgpu::isa {
namespace {

// Whether `features` ("+sramecc,-xnack") has `feature` on; of two settings the last one counts, as
// for LLVM.
bool is_on(std::string_view features, std::string_view feature) {
  bool on = false;
  while (!features.empty()) {
    const std::string_view one = features.substr(0, features.find(','));
    if (one.substr(0, 1).find_first_of("+-") == 0 && one.substr(1) == feature) on = one[0] == '+';
    features.remove_prefix(std::min(one.size() + 1, features.size()));
  }
  return on;
}

}  // namespace

bool find_target(std::string_view processor, std::string_view features, Target& target,
                 std::string& error) {
  target = Target{};
  target.processor = processor;
  target.d16_loads_clear = is_on(features, "sramecc");
  if (processor == "gfx900" || processor == "gfx902" || processor == "gfx904" ||
      processor == "gfx906" || processor == "gfx909" || processor == "gfx90c") {
    return true;
  }
  if (processor == "gfx908") {
    target.accumulators = true;
    return true;
  }
  if (processor == "gfx90a") {
    target.accumulators = true;
    target.unified_registers = true;
    target.lds_direct = false;
    target.packed_work_item_ids = true;
    target.vgpr_granule = 8;
    target.d16_loads_clear = true;
    return true;
  }
  error = fmt::format(
      "The virtual GPU cannot execute code for processor ({}); it executes gfx900, gfx902, gfx904, "
      "gfx906, gfx908, gfx909, gfx90a and gfx90c.",
      processor);
  return false;
}

}  // namespace halyard::vgpu::isa
