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
    op_fast<add<double>, add_fast<double>>("v_add_f64"),
    op_fast<mul<double>, mul_fast<double>>("v_mul_f64"),
    op_fast<fma<double>, fma_fast<double>>("v_fma_f64"),
    op_fast<fma<double>, fma_fast<double>, Traits{.accumulates = true}>("v_fmac_f64"),
    op_fast<min_num<double>, min_fast<double>>("v_min_f64"),
    op_fast<max_num<double>, max_fast<double>>("v_max_f64"),
    op<trunc<double>>("v_trunc_f64"),
    op<floor<double>>("v_floor_f64"),
    op<ceil<double>>("v_ceil_f64"),
    op<rndne<double>>("v_rndne_f64"),
    op_fast<fract<double>, fract_fast<double>>("v_fract_f64"),
    op_fast<ldexp_f64, ldexp_f64_fast>("v_ldexp_f64"),
    op_fast<frexp_exp<double>, frexp_exp_fast<double>>("v_frexp_exp_i32_f64"),
    op_fast<frexp_mant<double>, frexp_mant_fast<double>>("v_frexp_mant_f64"),
};

}  // namespace

std::span<const Opcode> float64_opcodes() {
  return kOpcodes;
}

}  // namespace halyard::vgpu::isa::valu
