// f32 instructions.

#include "vgpu/isa/valu/apply.h"
#include "vgpu/isa/valu/lane_ops_float.h"
#include "vgpu/isa/valu/lane_ops_rounding.h"
#include "vgpu/isa/valu/row_loops_mad.h"
#include "vgpu/isa/valu/tables.h"

namespace halyard::vgpu::isa::valu {
namespace {

constexpr Traits kAccumulates{.accumulates = true};
constexpr Traits kLiteralMultiplicand{.literal_multiplicand = true};

constexpr Opcode kOpcodes[] = {
    op_fast<add<float>, add_fast<float>>(Op::v_add_f32),
    op_fast<sub<float>, sub_fast<float>>(Op::v_sub_f32),
    op_fast<subrev<float>, subrev_fast<float>>(Op::v_subrev_f32),
    op_fast<mul<float>, mul_fast<float>>(Op::v_mul_f32),
    op_fast<mul_legacy_f32, mul_legacy_f32_fast>(Op::v_mul_legacy_f32),
    op_fast<fma<float>, fma_f32_fast>(Op::v_fma_f32),
    op_fast<fma<float>, fma_f32_fast, kAccumulates>(Op::v_fmac_f32),
    op_fast<mad_f32, mad_f32_fast>(Op::v_mad_f32),
    op_fast<mad_f32, mad_f32_fast, kAccumulates>(Op::v_mac_f32),
    op_fast<mad_f32, mad_f32_fast, kLiteralMultiplicand>(Op::v_madmk_f32),
    op_fast<mad_f32, mad_f32_fast>(Op::v_madak_f32),
    op_fast<fma<float>, fma_f32_fast, kLiteralMultiplicand>(Op::v_fmamk_f32),
    op_fast<fma<float>, fma_f32_fast>(Op::v_fmaak_f32),
    op_fast<mad_legacy_f32, mad_legacy_f32_fast>(Op::v_mad_legacy_f32),

    op_fast<min_num<float>, min_fast<float>>(Op::v_min_f32),
    op_fast<max_num<float>, max_fast<float>>(Op::v_max_f32),
    op_fast<min3<float>, min3_f32_fast>(Op::v_min3_f32),
    op_fast<max3<float>, max3_f32_fast>(Op::v_max3_f32),
    op_fast<minimum3<float>, min3_f32_fast>(Op::v_minimum3_f32),
    op_fast<maximum3<float>, max3_f32_fast>(Op::v_maximum3_f32),
    op_fast<med3<float>, med3_f32_fast>(Op::v_med3_f32),

    op_fast<trunc<float>, trunc_fast<float>>(Op::v_trunc_f32),
    op_fast<floor<float>, floor_fast<float>>(Op::v_floor_f32),
    op_fast<ceil<float>, ceil_fast<float>>(Op::v_ceil_f32),
    op_fast<rndne<float>, rndne_fast<float>>(Op::v_rndne_f32),
    op_fast<fract<float>, fract_fast<float>>(Op::v_fract_f32),
    op_fast<ldexp_f32, ldexp_f32_fast>(Op::v_ldexp_f32),
    op_fast<frexp_exp<float>, frexp_exp_fast<float>>(Op::v_frexp_exp_i32_f32),
    op_fast<frexp_mant<float>, frexp_mant_fast<float>>(Op::v_frexp_mant_f32),
};

}  // namespace

std::span<const Opcode> float32_opcodes() {
  return kOpcodes;
}

}  // namespace halyard::vgpu::isa::valu
