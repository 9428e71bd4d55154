#include "vgpu/observe/kernel_names.h"

#include <fmt/format.h>

namespace halyard::vgpu::observe {

std::string kernel_text(const KernelNames& names, uint64_t kernel_object) {
  const std::string name = names ? names(kernel_object) : std::string();
  if (name.empty()) return fmt::format("kernel of unknown name (0x{:x})", kernel_object);
  return "kernel " + name;
}

std::string offset_text(const isa::GroupContext& context, uint64_t pc) {
  const uint64_t entry = context.kernel->entry;
  return pc >= entry ? fmt::format("+0x{:04x}", pc - entry) : fmt::format("-0x{:04x}", entry - pc);
}

std::string group_text(const isa::WorkGroup& group) {
  return fmt::format("({}, {}, {})", group.id[0], group.id[1], group.id[2]);
}

}  // namespace halyard::vgpu::observe
