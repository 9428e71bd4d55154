#include "vgpu/isa/observer.h"

#include "vgpu/isa/work_group.h"

namespace halyard::vgpu::isa {
namespace {

Outcome execute_observed(Wave& wave, const Instruction& instruction) {
  const auto& observers = wave.group->observers;
  const uint64_t pc = wave.pc;
  for (const auto& observer : observers) observer->before(wave, instruction);
  const Outcome outcome = instruction.extra->observed(wave, instruction);
  for (const auto& observer : observers) observer->after(wave, instruction, pc, outcome);
  return outcome;
}

}  // namespace

void observe(Instruction& instruction) {
  instruction.extra->observed = instruction.execute;
  instruction.execute = execute_observed;
}

}  // namespace halyard::vgpu::isa
