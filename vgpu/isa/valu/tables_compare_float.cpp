// v_cmp and v_cmpx of floats: 16 relations and the class test, for three types.

#include "vgpu/isa/valu/apply.h"
#include "vgpu/isa/valu/lane_ops_compare.h"
#include "vgpu/isa/valu/tables.h"

namespace halyard::vgpu::isa::valu {
namespace {

constexpr Traits kExec{.writes_exec = true};

template <class T, unsigned kHolds>
inline constexpr auto kCompare = &compare_float<T, kHolds>;
template <unsigned kHolds>
inline constexpr auto kCompare<F16, kHolds> = &compare_f16<kHolds>;

#define HALYARD_COMPARE(relation, type_name, T, holds)        \
  op<kCompare<T, holds>>(Op::v_cmp_##relation##_##type_name), \
      op<kCompare<T, holds>, kExec>(Op::v_cmpx_##relation##_##type_name)

#define HALYARD_COMPARE_TYPE(type_name, T)                                            \
  HALYARD_COMPARE(f, type_name, T, 0), HALYARD_COMPARE(lt, type_name, T, 1),          \
      HALYARD_COMPARE(eq, type_name, T, 2), HALYARD_COMPARE(le, type_name, T, 3),     \
      HALYARD_COMPARE(gt, type_name, T, 4), HALYARD_COMPARE(lg, type_name, T, 5),     \
      HALYARD_COMPARE(ge, type_name, T, 6), HALYARD_COMPARE(o, type_name, T, 7),      \
      HALYARD_COMPARE(u, type_name, T, 8), HALYARD_COMPARE(nge, type_name, T, 9),     \
      HALYARD_COMPARE(nlg, type_name, T, 10), HALYARD_COMPARE(ngt, type_name, T, 11), \
      HALYARD_COMPARE(nle, type_name, T, 12), HALYARD_COMPARE(neq, type_name, T, 13), \
      HALYARD_COMPARE(nlt, type_name, T, 14), HALYARD_COMPARE(tru, type_name, T, 15), \
      op<compare_class<T>>(Op::v_cmp_class_##type_name),                              \
      op<compare_class<T>, kExec>(Op::v_cmpx_class_##type_name)

constexpr Opcode kOpcodes[] = {
    HALYARD_COMPARE_TYPE(f32, float),
    HALYARD_COMPARE_TYPE(f64, double),
    HALYARD_COMPARE_TYPE(f16, F16),
};

}  // namespace

std::span<const Opcode> compare_float_opcodes() {
  return kOpcodes;
}

}  // namespace halyard::vgpu::isa::valu
