#include "vgpu/observe/register_names.h"

#include <fmt/format.h>

namespace halyard::vgpu::observe {
namespace {

std::string scalar_name(unsigned index) {
  switch (index) {
    case isa::scalar::kFlatScratch:
      return "flat_scratch_lo";
    case isa::scalar::kFlatScratch + 1:
      return "flat_scratch_hi";
    case isa::scalar::kXnackMask:
      return "xnack_mask_lo";
    case isa::scalar::kXnackMask + 1:
      return "xnack_mask_hi";
    case isa::scalar::kVcc:
      return "vcc_lo";
    case isa::scalar::kVcc + 1:
      return "vcc_hi";
    case isa::scalar::kM0:
      return "m0";
    case isa::scalar::kExec:
      return "exec_lo";
    case isa::scalar::kExec + 1:
      return "exec_hi";
    default:
      break;
  }
  if (index >= isa::scalar::kTtmp0 && index < isa::scalar::kM0)
    return fmt::format("ttmp{}", index - isa::scalar::kTtmp0);
  return fmt::format("s{}", index);
}

}  // namespace

std::string register_name(RegisterFile file, unsigned index) {
  if (file == RegisterFile::kVector) return fmt::format("v{}", index);
  if (file == RegisterFile::kAcc) return fmt::format("a{}", index);
  return scalar_name(index);
}

}  // namespace halyard::vgpu::observe
