#include "vgpu/queue/kernel_fault.h"

#include <fmt/format.h>

#include "vgpu/queue/kernel_name.h"

namespace halyard::vgpu::queue {

const char* fault_name(isa::Fault::Kind kind) {
  switch (kind) {
    case isa::Fault::Kind::kAperture:
      return "aperture violation";
    case isa::Fault::Kind::kMemory:
      return "memory access fault";
    case isa::Fault::Kind::kIllegalInstruction:
      return "illegal instruction";
    case isa::Fault::Kind::kWatchdog:
      return "no progress";
    default:
      return "trap";
  }
}

std::string failed_kernel(const isa::DispatchResult& result, uint64_t object,
                          const isa::AddressSpace& memory, const char* kind) {
  const isa::Fault& fault = result.fault;
  const std::string name = kernel_name(object, memory);
  std::string text =
      fmt::format("{} ({} {:#x})", name.empty() ? "of unknown name" : name, kind, object);
  if (!result.report.empty()) return text + fmt::format("\n{}", result.report);
  if (!fault.message.empty()) text += fmt::format("\n  {}", fault.message);
  if (fault.kind != isa::Fault::Kind::kMemory) return text;
  char where[512] = "";
  memory.describe(fault.address, where, sizeof where);
  return text + fmt::format("\n  address {:#x}: {}", fault.address, where);
}

}  // namespace halyard::vgpu::queue
