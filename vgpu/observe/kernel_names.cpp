#include "vgpu/observe/kernel_names.h"

#include <fmt/format.h>

namespace halyard::vgpu::observe {

std::string kernel_text(const KernelNames& names, uint64_t kernel_object) {
  const std::string name = names ? names(kernel_object) : std::string();
  if (name.empty()) return fmt::format("kernel of unknown name (0x{:x})", kernel_object);
  return "kernel " + name;
}

}  // namespace halyard::vgpu::observe
