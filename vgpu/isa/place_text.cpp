#include "vgpu/isa/place_text.h"

#include <fmt/format.h>

#include "vgpu/isa/kernel.h"

namespace halyard::vgpu::isa {

std::string offset_text(const GroupContext& context, uint64_t pc) {
  const uint64_t entry = context.kernel->entry;
  return pc >= entry ? fmt::format("+0x{:04x}", pc - entry) : fmt::format("-0x{:04x}", entry - pc);
}

std::string group_text(const WorkGroup& group) {
  return fmt::format("({}, {}, {})", group.id[0], group.id[1], group.id[2]);
}

}  // namespace halyard::vgpu::isa
