#include "vgpu/isa/valu/operands.h"

#include <cfenv>

#include "vgpu/isa/lds_direct.h"

namespace halyard::vgpu::isa::valu {

uint64_t special_value(const Wave& w, const Operand& operand) {
  switch (operand.kind) {
    case OperandKind::kAperture:
      return w.apertures[operand.index];
    case OperandKind::kVccz:
      return w.vcc() == 0;
    case OperandKind::kExecz:
      return w.exec() == 0;
    case OperandKind::kScc:
      return w.scc;
    case OperandKind::kLdsDirect:
      return read_lds_direct(w);
    default:
      return 0;
  }
}

RoundingScope::RoundingScope(unsigned rounding) : saved_(std::fegetround()) {
  constexpr int kHostModes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  std::fesetround(kHostModes[rounding & 3]);
}

RoundingScope::~RoundingScope() {
  std::fesetround(saved_);
}

}  // namespace halyard::vgpu::isa::valu
