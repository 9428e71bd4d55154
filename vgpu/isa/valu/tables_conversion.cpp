// Conversions and packing.

#include "vgpu/isa/valu/apply.h"
#include "vgpu/isa/valu/lane_ops_convert.h"
#include "vgpu/isa/valu/row_loops_convert.h"
#include "vgpu/isa/valu/tables.h"

namespace halyard::vgpu::isa::valu {
namespace {

constexpr Opcode kOpcodes[] = {
    op<cvt_f32_i32>(Op::v_cvt_f32_i32),
    op<cvt_f32_u32>(Op::v_cvt_f32_u32),
    op<cvt_i32_f32>(Op::v_cvt_i32_f32),
    op<cvt_u32_f32>(Op::v_cvt_u32_f32),
    op<cvt_f32_ubyte<0>>(Op::v_cvt_f32_ubyte0),
    op<cvt_f32_ubyte<1>>(Op::v_cvt_f32_ubyte1),
    op<cvt_f32_ubyte<2>>(Op::v_cvt_f32_ubyte2),
    op<cvt_f32_ubyte<3>>(Op::v_cvt_f32_ubyte3),
    op<cvt_rpi_i32_f32>(Op::v_cvt_rpi_i32_f32),
    op<cvt_flr_i32_f32>(Op::v_cvt_flr_i32_f32),
    op<cvt_off_f32_i4>(Op::v_cvt_off_f32_i4),

    op<cvt_f64_i32>(Op::v_cvt_f64_i32),
    op<cvt_f64_u32>(Op::v_cvt_f64_u32),
    op<cvt_i32_f64>(Op::v_cvt_i32_f64),
    op<cvt_u32_f64>(Op::v_cvt_u32_f64),
    op<cvt_f32_f64>(Op::v_cvt_f32_f64),
    op<cvt_f64_f32>(Op::v_cvt_f64_f32),

    op<cvt_f32_f16>(Op::v_cvt_f32_f16),
    op<cvt_f16_f32>(Op::v_cvt_f16_f32),
    op<cvt_f16_i16>(Op::v_cvt_f16_i16),
    op<cvt_f16_u16>(Op::v_cvt_f16_u16),
    op<cvt_i16_f16>(Op::v_cvt_i16_f16),
    op<cvt_u16_f16>(Op::v_cvt_u16_f16),

    op<cvt_norm_i16_f16>(Op::v_cvt_norm_i16_f16),
    op<cvt_norm_u16_f16>(Op::v_cvt_norm_u16_f16),
    op<cvt_pknorm_i16_f16>(Op::v_cvt_pknorm_i16_f16),
    op<cvt_pknorm_u16_f16>(Op::v_cvt_pknorm_u16_f16),
    op<cvt_pknorm_i16_f32>(Op::v_cvt_pknorm_i16_f32),
    op<cvt_pknorm_u16_f32>(Op::v_cvt_pknorm_u16_f32),
    op<cvt_pk_u16_u32>(Op::v_cvt_pk_u16_u32),
    op<cvt_pk_i16_i32>(Op::v_cvt_pk_i16_i32),
    op_fast<cvt_pkrtz_f16_f32, cvt_pkrtz_f16_f32_fast>(Op::v_cvt_pkrtz_f16_f32),
    op<pack_b32_f16>(Op::v_pack_b32_f16),
    op<sat_pk_u8_i16>(Op::v_sat_pk_u8_i16),
    op<cvt_pk_u8_f32>(Op::v_cvt_pk_u8_f32),
    op<cvt_pk_u8_f32, Traits{.accumulates = true}>(Op::v_cvt_pkaccum_u8_f32),
};

}  // namespace

std::span<const Opcode> conversion_opcodes() {
  return kOpcodes;
}

}  // namespace halyard::vgpu::isa::valu
