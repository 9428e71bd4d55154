#include "vgpu/isa/target.h"

#include <fmt/format.h>

namespace halyard::vgpu::isa {

bool find_target(std::string_view processor, Target& target, std::string& error) {
  target = Target{};
  target.processor = processor;
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
    return true;
  }
  error = fmt::format(
      "The virtual GPU cannot execute code for processor ({}); it executes gfx900, gfx902, gfx904, "
      "gfx906, gfx908, gfx909, gfx90a and gfx90c.",
      processor);
  return false;
}

}  // namespace halyard::vgpu::isa
