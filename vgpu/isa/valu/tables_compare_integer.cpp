// v_cmp and v_cmpx of integers: 8 relations for six types.

#include "vgpu/isa/valu/apply.h"
#include "vgpu/isa/valu/lane_ops_compare.h"
#include "vgpu/isa/valu/tables.h"

namespace halyard::vgpu::isa::valu {
namespace {

constexpr Traits kExec{.writes_exec = true};

#define HALYARD_COMPARE(relation, type_name, T, holds)           \
  op<compare_int<T, holds>>(Op::v_cmp_##relation##_##type_name), \
      op<compare_int<T, holds>, kExec>(Op::v_cmpx_##relation##_##type_name)

#define HALYARD_COMPARE_TYPE(type_name, T)                                        \
  HALYARD_COMPARE(f, type_name, T, 0), HALYARD_COMPARE(lt, type_name, T, 1),      \
      HALYARD_COMPARE(eq, type_name, T, 2), HALYARD_COMPARE(le, type_name, T, 3), \
      HALYARD_COMPARE(gt, type_name, T, 4), HALYARD_COMPARE(ne, type_name, T, 5), \
      HALYARD_COMPARE(ge, type_name, T, 6), HALYARD_COMPARE(t, type_name, T, 7)

constexpr Opcode kOpcodes[] = {
    HALYARD_COMPARE_TYPE(i16, int16_t), HALYARD_COMPARE_TYPE(u16, uint16_t),
    HALYARD_COMPARE_TYPE(i32, int32_t), HALYARD_COMPARE_TYPE(u32, uint32_t),
    HALYARD_COMPARE_TYPE(i64, int64_t), HALYARD_COMPARE_TYPE(u64, uint64_t),
};

}  // namespace

std::span<const Opcode> compare_integer_opcodes() {
  return kOpcodes;
}

}  // namespace halyard::vgpu::isa::valu
