// Reciprocals, roots, exponentials, trigonometry and the steps of a division.

#include "vgpu/isa/valu/apply.h"
#include "vgpu/isa/valu/lane_ops_division.h"
#include "vgpu/isa/valu/lane_ops_transcendental.h"
#include "vgpu/isa/valu/row_loops_division.h"
#include "vgpu/isa/valu/row_loops_transcendental.h"
#include "vgpu/isa/valu/row_loops_transcendental_f16.h"
#include "vgpu/isa/valu/tables.h"

namespace halyard::vgpu::isa::valu {
namespace {

// An exact function, which has vectors for the default mode (row_loops_transcendental.h).
template <auto kExact>
constexpr Opcode op_rows(Op name) {
  return op_fast<kExact, in_default_mode<kExact>>(name);
}

constexpr Traits kReadsVcc{.reads_vcc = true};

constexpr Opcode kOpcodes[] = {
    op<rcp_f32>(Op::v_rcp_f32),
    op<rcp_f32>(Op::v_rcp_iflag_f32),
    op_rows<kF32<reciprocal_root>>(Op::v_rsq_f32),
    op<sqrt_f32>(Op::v_sqrt_f32),
    op_rows<kF32<power_of_two>>(Op::v_exp_f32),
    op_rows<kF32<power_of_two>>(Op::v_exp_legacy_f32),
    op_rows<kF32<log_base_two>>(Op::v_log_f32),
    op_rows<kF32<log_base_two>>(Op::v_log_legacy_f32),
    op_rows<kF32InMode<sine_in_domain>>(Op::v_sin_f32),
    op_rows<kF32InMode<cosine_in_domain>>(Op::v_cos_f32),

    op_rows<kF16<reciprocal>>(Op::v_rcp_f16),
    op_rows<kF16<reciprocal_root>>(Op::v_rsq_f16),
    op_rows<kF16<root>>(Op::v_sqrt_f16),
    op_rows<kF16<power_of_two>>(Op::v_exp_f16),
    op_rows<kF16<log_base_two>>(Op::v_log_f16),
    op_rows<kF16<sine_in_domain>>(Op::v_sin_f16),
    op_rows<kF16<cosine_in_domain>>(Op::v_cos_f16),

    op<in_f64<reciprocal>>(Op::v_rcp_f64),
    op<in_f64<reciprocal_root>>(Op::v_rsq_f64),
    op<in_f64<root>>(Op::v_sqrt_f64),
    op<trig_preop_f64>(Op::v_trig_preop_f64),

    op_fast<div_scale<float>, div_scale_fast<float>>(Op::v_div_scale_f32),
    op_fast<div_scale<double>, div_scale_fast<double>>(Op::v_div_scale_f64),
    op_fast<div_fmas<float>, div_fmas_f32_fast, kReadsVcc>(Op::v_div_fmas_f32),
    op_fast<div_fmas<double>, div_fmas_f64_fast, kReadsVcc>(Op::v_div_fmas_f64),
    op_fast<div_fixup<float>, div_fixup_fast<float>>(Op::v_div_fixup_f32),
    op_fast<div_fixup<double>, div_fixup_fast<double>>(Op::v_div_fixup_f64),
};

}  // namespace

std::span<const Opcode> transcendental_opcodes() {
  return kOpcodes;
}

}  // namespace halyard::vgpu::isa::valu
