#include "vgpu/isa/scalar_operands.h"

namespace halyard::vgpu::isa {

uint64_t read_special(const Wave& wave, const Operand& operand) {
  switch (operand.kind) {
    case OperandKind::kAperture:
      return wave.apertures[operand.index & 3];
    case OperandKind::kVccz:
      return wave.vcc() == 0;
    case OperandKind::kExecz:
      return wave.exec() == 0;
    case OperandKind::kScc:
      return wave.scc;
    default:
      return 0;
  }
}

}  // namespace halyard::vgpu::isa
