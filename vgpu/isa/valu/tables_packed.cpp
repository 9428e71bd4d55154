// VOP3P: packed pairs, dot products, mixed precision; and the accumulating VOP2 forms of gfx90a.

#include "vgpu/isa/valu/apply.h"
#include "vgpu/isa/valu/lane_ops_packed.h"
#include "vgpu/isa/valu/row_loops_dot.h"
#include "vgpu/isa/valu/row_loops_f32_pairs.h"
#include "vgpu/isa/valu/row_loops_half.h"
#include "vgpu/isa/valu/row_loops_mix.h"
#include "vgpu/isa/valu/row_loops_order.h"
#include "vgpu/isa/valu/tables.h"

namespace halyard::vgpu::isa::valu {
namespace {

constexpr Traits kAccumulates{.accumulates = true};
constexpr Traits kMix{.mixed_sources = true};
constexpr Traits kMixLow{.keeps_other = true, .mixed_sources = true};
constexpr Traits kMixHigh{.keeps_other = true, .to_high = true, .mixed_sources = true};

constexpr Opcode kOpcodes[] = {
    op_clamp<packed2<PkU16, add_u16>, packed2<PkU16, add_u16_clamp>>(Op::v_pk_add_u16),
    op_clamp<packed2<PkU16, sub_u16>, packed2<PkU16, sub_u16_clamp>>(Op::v_pk_sub_u16),
    op_clamp<packed2<PkU16, add_u16>, packed2<PkI16, add_i16_clamp>>(Op::v_pk_add_i16),
    op_clamp<packed2<PkU16, sub_u16>, packed2<PkI16, sub_i16_clamp>>(Op::v_pk_sub_i16),
    op_clamp<packed2<PkU16, mul_lo_u16>, packed2<PkU16, mul_lo_u16_clamp>>(Op::v_pk_mul_lo_u16),
    op_clamp<packed3<PkU16, mad_u16>, packed3<PkU16, mad_u16_clamp>>(Op::v_pk_mad_u16),
    op_clamp<packed3<PkU16, mad_u16>, packed3<PkI16, mad_i16_clamp>>(Op::v_pk_mad_i16),
    op<packed2<PkU16, lshlrev_b16>>(Op::v_pk_lshlrev_b16),
    op<packed2<PkU16, lshrrev_b16>>(Op::v_pk_lshrrev_b16),
    op<pk_ashrrev_i16>(Op::v_pk_ashrrev_i16),
    op<packed2<PkI16, min_int<int16_t>>>(Op::v_pk_min_i16),
    op<packed2<PkI16, max_int<int16_t>>>(Op::v_pk_max_i16),
    op<packed2<PkU16, min_int<uint16_t>>>(Op::v_pk_min_u16),
    op<packed2<PkU16, max_int<uint16_t>>>(Op::v_pk_max_u16),

    op_fast<packed_float2<PkF16, add<F16>>, packed2<PkF16, add_fast<F16>>>(Op::v_pk_add_f16),
    op_fast<packed_float2<PkF16, mul<F16>>, packed2<PkF16, mul_fast<F16>>>(Op::v_pk_mul_f16),
    op_fast<packed_float3<PkF16, fma<F16>>, pk_fma_f16_fast>(Op::v_pk_fma_f16),
    op_fast<packed_float3<PkF16, fma<F16>>, pk_fma_f16_fast, kAccumulates>(Op::v_pk_fmac_f16),
    op_fast<packed_float2<PkF16, min_num<F16>>, pk_min_f16_fast>(Op::v_pk_min_f16),
    op_fast<packed_float2<PkF16, max_num<F16>>, pk_max_f16_fast>(Op::v_pk_max_f16),
    op<packed_float3<PkF16, minimum3<F16>>>(Op::v_pk_minimum3_f16),
    op<packed_float3<PkF16, maximum3<F16>>>(Op::v_pk_maximum3_f16),

    op_fast<packed_float2<PkF32, add<float>>, packed2<PkF32, add_fast<float>>>(Op::v_pk_add_f32),
    op_fast<packed_float2<PkF32, mul<float>>, packed2<PkF32, mul_fast<float>>>(Op::v_pk_mul_f32),
    op_fast<packed_float3<PkF32, fma<float>>, pk_fma_f32_fast>(Op::v_pk_fma_f32),
    op<pk_mov_b32>(Op::v_pk_mov_b32),

    op_fast<mad_mix, mad_mix_fast, kMix>(Op::v_mad_mix_f32),
    op_fast<mad_mix_f16, mad_mix_f16_fast<false>, kMixLow>(Op::v_mad_mixlo_f16),
    op_fast<mad_mix_f16, mad_mix_f16_fast<true>, kMixHigh>(Op::v_mad_mixhi_f16),
    op_fast<fma_mix, fma_mix_fast, kMix>(Op::v_fma_mix_f32),
    op_fast<fma_mix_f16, fma_mix_f16_fast<false>, kMixLow>(Op::v_fma_mixlo_f16),
    op_fast<fma_mix_f16, fma_mix_f16_fast<true>, kMixHigh>(Op::v_fma_mixhi_f16),

    op_fast<dot2_f32_f16, dot2_f32_f16_fast>(Op::v_dot2_f32_f16),
    op<dot2_f32_bf16>(Op::v_dot2_f32_bf16),
    op<dot2c_f32_bf16, kAccumulates>(Op::v_dot2c_f32_bf16),
    op_clamp<dot2_i32_i16<false>, dot2_i32_i16<true>>(Op::v_dot2_i32_i16),
    op_clamp<dot2_u32_u16<false>, dot2_u32_u16<true>>(Op::v_dot2_u32_u16),
    op_clamp<dot<int32_t, 8, false>, dot<int32_t, 8, true>>(Op::v_dot4_i32_i8),
    op_clamp<dot<uint32_t, 8, false>, dot<uint32_t, 8, true>>(Op::v_dot4_u32_u8),
    op_clamp<dot<int32_t, 4, false>, dot<int32_t, 4, true>>(Op::v_dot8_i32_i4),
    op_clamp<dot<uint32_t, 4, false>, dot<uint32_t, 4, true>>(Op::v_dot8_u32_u4),
    op_fast<dot2_f32_f16, dot2_f32_f16_fast, kAccumulates>(Op::v_dot2c_f32_f16),
    op_clamp<dot2_i32_i16<false>, dot2_i32_i16<true>, kAccumulates>(Op::v_dot2c_i32_i16),
    op_clamp<dot<int32_t, 8, false>, dot<int32_t, 8, true>, kAccumulates>(Op::v_dot4c_i32_i8),
    op_clamp<dot<int32_t, 4, false>, dot<int32_t, 4, true>, kAccumulates>(Op::v_dot8c_i32_i4),
};

}  // namespace

std::span<const Opcode> packed_opcodes() {
  return kOpcodes;
}

}  // namespace halyard::vgpu::isa::valu
