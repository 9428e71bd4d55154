// f16 instructions.

#include "vgpu/isa/valu/apply.h"
#include "vgpu/isa/valu/lane_ops_division.h"
#include "vgpu/isa/valu/lane_ops_float.h"
#include "vgpu/isa/valu/lane_ops_rounding.h"
#include "vgpu/isa/valu/row_loops_half.h"
#include "vgpu/isa/valu/tables.h"

namespace halyard::vgpu::isa::valu {
namespace {

// On gfx9 most 16-bit results clear the upper half of the register; what came new as VOP3 with gfx9
// and the VOP2 forms of multiply-add keep it (LLVM's GCNSubtarget::zeroesHigh16BitsOfDest, which
// was found by experiment).
constexpr Traits kKeep{.keeps_other = true};

constexpr Opcode kOpcodes[] = {
    op_fast<add<F16>, add_fast<F16>>(Op::v_add_f16),
    op_fast<sub<F16>, sub_fast<F16>>(Op::v_sub_f16),
    op_fast<subrev<F16>, subrev_fast<F16>>(Op::v_subrev_f16),
    op_fast<mul<F16>, mul_fast<F16>>(Op::v_mul_f16),
    op_fast<mad_f16, mad_f16_fast, Traits{.accumulates = true, .keeps_other = true}>(Op::v_mac_f16),
    op_fast<mad_f16, mad_f16_fast, Traits{.literal_multiplicand = true, .keeps_other = true}>(
        Op::v_madmk_f16),
    op_fast<mad_f16, mad_f16_fast, kKeep>(Op::v_madak_f16),
    op_fast<mad_f16, mad_f16_fast>(Op::v_mad_legacy_f16),
    op_fast<mad_f16, mad_f16_fast, kKeep>(Op::v_mad_f16),
    op_fast<fma<F16>, fma_f16_fast>(Op::v_fma_legacy_f16),
    op_fast<fma<F16>, fma_f16_fast, kKeep>(Op::v_fma_f16),
    op_fast<div_fixup<F16>, div_fixup_f16_fast>(Op::v_div_fixup_legacy_f16),
    op_fast<div_fixup<F16>, div_fixup_f16_fast, kKeep>(Op::v_div_fixup_f16),

    op_fast<min_num<F16>, min_fast<F16>>(Op::v_min_f16),
    op_fast<max_num<F16>, max_fast<F16>>(Op::v_max_f16),
    op_fast<min3<F16>, min3_f16_fast, kKeep>(Op::v_min3_f16),
    op_fast<max3<F16>, max3_f16_fast, kKeep>(Op::v_max3_f16),
    op_fast<med3<F16>, med3_f16_fast, kKeep>(Op::v_med3_f16),

    op_fast<trunc<F16>, through_f32<trunc_fast<float>>>(Op::v_trunc_f16),
    op_fast<floor<F16>, through_f32<floor_fast<float>>>(Op::v_floor_f16),
    op_fast<ceil<F16>, through_f32<ceil_fast<float>>>(Op::v_ceil_f16),
    op_fast<rndne<F16>, through_f32<rndne_fast<float>>>(Op::v_rndne_f16),
    op_fast<fract<F16>, through_f32<fract_of_f16>>(Op::v_fract_f16),
    op_fast<ldexp_f16, ldexp_f16_fast>(Op::v_ldexp_f16),
    op_fast<frexp_exp_i16_f16, frexp_exp_f16_fast>(Op::v_frexp_exp_i16_f16),
    op_fast<frexp_mant<F16>, frexp_mant_f16_fast>(Op::v_frexp_mant_f16),
};

}  // namespace

std::span<const Opcode> float16_opcodes() {
  return kOpcodes;
}

}  // namespace halyard::vgpu::isa::valu
