// The one symbol by which a build of the lane handlers is known; compiled once for each.
//
// Nothing here may run but by a call of the entry: a constructor would execute instructions that
// the CPU may lack.

#include <initializer_list>
#include <vector>

#include "vgpu/isa/simd.h"
#include "vgpu/isa/tables.h"
#include "vgpu/isa/valu/tables.h"

#define HALYARD_JOIN_NAMES(a, b) a##b
#define HALYARD_ENTRY(build) HALYARD_JOIN_NAMES(halyard_simd_, build)
#define HALYARD_QUOTE_NAME(a) #a
#define HALYARD_QUOTE(a) HALYARD_QUOTE_NAME(a)

extern "C" const halyard::vgpu::isa::SimdBuild* HALYARD_ENTRY(HALYARD_SIMD_BUILD)() {
  using namespace halyard::vgpu::isa;
  using Part = std::span<const Opcode> (*)();
  // Never destroyed: the vendor runtime's threads outlive main.
  static const auto& vector = *new std::vector<Opcode>([] {
    std::vector<Opcode> joined;
    for (const Part part :
         {valu::integer_opcodes, valu::float32_opcodes, valu::conversion_opcodes,
          valu::compare_float_opcodes, valu::compare_integer_opcodes, valu::lane_access_opcodes,
          valu::float64_opcodes, valu::float16_opcodes, valu::integer16_opcodes,
          valu::packed_opcodes, valu::transcendental_opcodes, valu::byte_opcodes,
          valu::small_float_opcodes, valu::scaled_conversion_opcodes, valu::truth_table_opcodes})
      joined.insert(joined.end(), part().begin(), part().end());
    return joined;
  }());
  static const SimdBuild build{HALYARD_QUOTE(HALYARD_SIMD_BUILD),
                               vector,
                               simd_matrix_opcodes(),
                               flat_opcodes(),
                               buffer_opcodes(),
                               simd_lds_opcodes()};
  return &build;
}
