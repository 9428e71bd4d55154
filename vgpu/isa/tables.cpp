#include "vgpu/isa/tables.h"

#include <array>
#include <vector>

#include "vgpu/isa/simd.h"

namespace halyard::vgpu::isa {
namespace {

// Never destroyed: instructions point into it.
const std::vector<Opcode>* join(std::initializer_list<std::span<const Opcode>> parts) {
  auto* all = new std::vector<Opcode>;
  for (const auto& part : parts) all->insert(all->end(), part.begin(), part.end());
  return all;
}

}  // namespace

std::span<const Opcode> scalar_opcodes() {
  static const std::vector<Opcode>* const all =
      join({scalar_alu_opcodes(), scalar_control_opcodes(), scalar_memory_opcodes()});
  return *all;
}

std::span<const Opcode> memory_opcodes() {
  static const std::vector<Opcode>* const all =
      join({simd_build().flat, simd_build().buffer, buffer_format_opcodes()});
  return *all;
}

const Opcode* find_opcode(Op op) {
  static const auto& all = *new std::array<const Opcode*, kOps>([] {
    std::array<const Opcode*, kOps> by_op{};
    for (const auto& family :
         {scalar_opcodes(), vector_opcodes(), matrix_opcodes(), memory_opcodes(), lds_opcodes()}) {
      for (const Opcode& opcode : family) by_op[static_cast<unsigned>(opcode.op)] = &opcode;
    }
    return by_op;
  }());
  return all[static_cast<unsigned>(op)];
}

}  // namespace halyard::vgpu::isa
