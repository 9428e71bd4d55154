#pragma once

#include "vgpu/isa/opcode.h"

namespace halyard::vgpu::isa {

// One handler with and without modifiers.
constexpr Opcode op(Op op, Handler handler) {
  return {op, handler, handler};
}

}  // namespace halyard::vgpu::isa
