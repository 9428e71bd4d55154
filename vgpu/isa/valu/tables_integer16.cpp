// 16-bit integer instructions.

#include "vgpu/isa/valu/apply.h"
#include "vgpu/isa/valu/lane_ops_integer.h"
#include "vgpu/isa/valu/tables.h"

namespace halyard::vgpu::isa::valu {
namespace {

// On gfx9 most 16-bit results clear the upper half of the register; what came new as VOP3 with gfx9
// keeps it.
constexpr Traits kKeep{.keeps_other = true};

constexpr Opcode kOpcodes[] = {
    op_clamp<add_u16, add_u16_clamp>(Op::v_add_u16),
    op_clamp<sub_u16, sub_u16_clamp>(Op::v_sub_u16),
    op_clamp<subrev_u16, subrev_u16_clamp>(Op::v_subrev_u16),
    op_clamp<mul_lo_u16, mul_lo_u16_clamp>(Op::v_mul_lo_u16),
    op<lshlrev_b16>(Op::v_lshlrev_b16),
    op<lshrrev_b16>(Op::v_lshrrev_b16),
    op<ashrrev_i16>(Op::v_ashrrev_i16),
    op<min_int<int16_t>>(Op::v_min_i16),
    op<max_int<int16_t>>(Op::v_max_i16),
    op<min_int<uint16_t>>(Op::v_min_u16),
    op<max_int<uint16_t>>(Op::v_max_u16),
    op_clamp<mad_u16, mad_u16_clamp>(Op::v_mad_legacy_u16),
    op_clamp<mad_u16, mad_i16_clamp>(Op::v_mad_legacy_i16),

    op_clamp<mad_u16, mad_u16_clamp, kKeep>(Op::v_mad_u16),
    op_clamp<mad_u16, mad_i16_clamp, kKeep>(Op::v_mad_i16),
    op_clamp<add_u16, add_i16_clamp, kKeep>(Op::v_add_i16),
    op_clamp<sub_u16, sub_i16_clamp, kKeep>(Op::v_sub_i16),
    op<min3_int<int16_t>, kKeep>(Op::v_min3_i16),
    op<max3_int<int16_t>, kKeep>(Op::v_max3_i16),
    op<med3_int<int16_t>, kKeep>(Op::v_med3_i16),
    op<min3_int<uint16_t>, kKeep>(Op::v_min3_u16),
    op<max3_int<uint16_t>, kKeep>(Op::v_max3_u16),
    op<med3_int<uint16_t>, kKeep>(Op::v_med3_u16),
};

}  // namespace

std::span<const Opcode> integer16_opcodes() {
  return kOpcodes;
}

}  // namespace halyard::vgpu::isa::valu
