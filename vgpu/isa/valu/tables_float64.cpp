// f64 instructions.

#include "vgpu/isa/valu/apply.h"
#include "vgpu/isa/valu/lane_ops_float.h"
#include "vgpu/isa/valu/lane_ops_rounding.h"
#include "vgpu/isa/valu/row_loops_order.h"
#include "vgpu/isa/valu/row_loops_wide.h"
#include "vgpu/isa/valu/tables.h"

namespace halyard::vgpu::isa::valu {
namespace {

constexpr Opcode kOpcodes[] = {
    op_fast<add<double>, add_fast<double>>(Op::v_add_f64),
    op_fast<mul<double>, mul_fast<double>>(Op::v_mul_f64),
    op_fast<fma<double>, fma_fast<double>>(Op::v_fma_f64),
    op_fast<fma<double>, fma_fast<double>, Traits{.accumulates = true}>(Op::v_fmac_f64),
    op_fast<min_num<double>, min_fast<double>>(Op::v_min_f64),
    op_fast<max_num<double>, max_fast<double>>(Op::v_max_f64),
    op<trunc<double>>(Op::v_trunc_f64),
    op<floor<double>>(Op::v_floor_f64),
    op<ceil<double>>(Op::v_ceil_f64),
    op<rndne<double>>(Op::v_rndne_f64),
    op_fast<fract<double>, fract_fast<double>>(Op::v_fract_f64),
    op_fast<ldexp_f64, ldexp_f64_fast>(Op::v_ldexp_f64),
    op_fast<frexp_exp<double>, frexp_exp_fast<double>>(Op::v_frexp_exp_i32_f64),
    op_fast<frexp_mant<double>, frexp_mant_fast<double>>(Op::v_frexp_mant_f64),
};

}  // namespace

std::span<const Opcode> float64_opcodes() {
  return kOpcodes;
}

}  // namespace halyard::vgpu::isa::valu
