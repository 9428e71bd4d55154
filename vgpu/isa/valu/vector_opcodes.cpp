#include <vector>

#include "vgpu/isa/opcode.h"
#include "vgpu/isa/valu/tables.h"

namespace halyard::vgpu::isa {

std::span<const Opcode> vector_opcodes() {
  using Part = std::span<const Opcode> (*)();
  static constexpr Part kParts[] = {
      valu::integer_opcodes,       valu::float32_opcodes,         valu::conversion_opcodes,
      valu::compare_float_opcodes, valu::compare_integer_opcodes, valu::lane_access_opcodes,
      valu::float64_opcodes,       valu::float16_opcodes,         valu::integer16_opcodes,
      valu::packed_opcodes,        valu::transcendental_opcodes,  valu::byte_opcodes,
  };
  // Never destroyed: the vendor runtime's threads outlive main.
  static const auto& all = *new std::vector<Opcode>([] {
    std::vector<Opcode> joined;
    for (const Part part : kParts) joined.insert(joined.end(), part().begin(), part().end());
    return joined;
  }());
  return all;
}

}  // namespace halyard::vgpu::isa
