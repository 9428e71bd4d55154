#include "vgpu/isa/fault_report.h"

#include <fmt/format.h>

#include "vgpu/host_guard.h"

namespace halyard::vgpu::isa {

std::string fault_report(const Job& job, const WorkGroup& group, const AddressSpace& memory,
                         const std::string& instruction) {
  const Wave& wave = group.waves[group.faulted];
  std::string raw;
  const MemoryRange range = memory.find(wave.pc);
  uint8_t byte = 0;
  for (unsigned n = 0; n < 8 && range.contains(wave.pc + n, 1); ++n) {
    if (!read_host(&byte, range.host(wave.pc + n), 1)) break;
    raw += fmt::format("{}{:02x}", n ? " " : "", byte);
  }
  const Dispatch& dispatch = *job.context.dispatch;
  return fmt::format(
      "{}\n"
      "  kernel object 0x{:x}, entry 0x{:x}{}\n"
      "  grid {}x{}x{}, work-groups of {}x{}x{}\n"
      "  work-group ({}, {}, {}), wave {} of {}, lane {}, EXEC 0x{:016x}\n"
      "  pc 0x{:x} (entry {} 0x{:x})\n"
      "  instruction: {}\n"
      "  bytes: {}\n",
      wave.fault.message, dispatch.kernel_object, job.kernel.entry,
      job.kernel.legacy    ? " (amd_kernel_code_t)"
      : dispatch.registers ? " (started from registers)"
                           : "",
      dispatch.grid[0], dispatch.grid[1], dispatch.grid[2], dispatch.group[0], dispatch.group[1],
      dispatch.group[2], group.id[0], group.id[1], group.id[2], wave.index_in_group,
      group.wave_count, wave.fault.lane < 0 ? std::string("any") : std::to_string(wave.fault.lane),
      wave.exec(), wave.pc, wave.pc >= job.kernel.entry ? "+" : "-",
      wave.pc >= job.kernel.entry ? wave.pc - job.kernel.entry : job.kernel.entry - wave.pc,
      instruction, raw.empty() ? "<not mapped>" : raw);
}

}  // namespace halyard::vgpu::isa
