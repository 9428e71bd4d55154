// Integer and bit instructions of 32 and 64 bits.

#include "vgpu/isa/valu/apply.h"
#include "vgpu/isa/valu/lane_ops_integer.h"
#include "vgpu/isa/valu/row_loops_wide.h"
#include "vgpu/isa/valu/tables.h"

namespace halyard::vgpu::isa::valu {
namespace {

constexpr Traits kAmount0{.amounts = 1};
constexpr Traits kAmount1{.amounts = 2};
constexpr Traits kAmount2{.amounts = 4};
constexpr Traits kField{.amounts = 6};
constexpr Traits kKeep{.keeps_other = true};

constexpr Opcode kOpcodes[] = {
    op<mov_b32>(Op::v_mov_b32),
    op<not_b32>(Op::v_not_b32),
    op<and_b32>(Op::v_and_b32),
    op<or_b32>(Op::v_or_b32),
    op<xor_b32>(Op::v_xor_b32),
    op<xnor_b32>(Op::v_xnor_b32),
    op<or3_b32>(Op::v_or3_b32),
    op<and_or_b32>(Op::v_and_or_b32),
    op<bfi_b32>(Op::v_bfi_b32),
    op<cndmask_b32>(Op::v_cndmask_b32),
    op<bfrev_b32>(Op::v_bfrev_b32),
    op<ffbh_u32>(Op::v_ffbh_u32),
    op<ffbl_b32>(Op::v_ffbl_b32),
    op<ffbh_i32>(Op::v_ffbh_i32),
    op<bcnt_u32_b32>(Op::v_bcnt_u32_b32),
    op<mbcnt_lo_u32_b32>(Op::v_mbcnt_lo_u32_b32),
    op<mbcnt_hi_u32_b32>(Op::v_mbcnt_hi_u32_b32),
    op<bfm_b32>(Op::v_bfm_b32),
    op<bfe_u32, kField>(Op::v_bfe_u32),
    op<bfe_i32, kField>(Op::v_bfe_i32),
    op<alignbit_b32, kAmount2>(Op::v_alignbit_b32),
    op<alignbyte_b32, kAmount2>(Op::v_alignbyte_b32),

    op<lshlrev_b32, kAmount0>(Op::v_lshlrev_b32),
    op<lshrrev_b32, kAmount0>(Op::v_lshrrev_b32),
    op<ashrrev_i32, kAmount0>(Op::v_ashrrev_i32),
    op<lshlrev_b64, kAmount0>(Op::v_lshlrev_b64),
    op<lshrrev_b64, kAmount0>(Op::v_lshrrev_b64),
    op<ashrrev_i64, kAmount0>(Op::v_ashrrev_i64),
    op<lshl_add_u32, kAmount1>(Op::v_lshl_add_u32),
    op<add_lshl_u32, kAmount2>(Op::v_add_lshl_u32),
    op<lshl_or_b32, kAmount1>(Op::v_lshl_or_b32),
    op<xad_u32>(Op::v_xad_u32),

    op_clamp<add_u32, add_u32_clamp>(Op::v_add_u32),
    op_clamp<sub_u32, sub_u32_clamp>(Op::v_sub_u32),
    op_clamp<subrev_u32, subrev_u32_clamp>(Op::v_subrev_u32),
    op_clamp<add_u32, add_i32_clamp>(Op::v_add_i32),
    op_clamp<sub_u32, sub_i32_clamp>(Op::v_sub_i32),
    op<add3_u32>(Op::v_add3_u32),
    op_clamp<add_co_u32, add_co_u32_clamp>(Op::v_add_co_u32),
    op_clamp<sub_co_u32, sub_co_u32_clamp>(Op::v_sub_co_u32),
    op_clamp<subrev_co_u32, subrev_co_u32_clamp>(Op::v_subrev_co_u32),
    op_clamp<addc_co_u32, addc_co_u32_clamp>(Op::v_addc_co_u32),
    op_clamp<subb_co_u32, subb_co_u32_clamp>(Op::v_subb_co_u32),
    op_clamp<subbrev_co_u32, subbrev_co_u32_clamp>(Op::v_subbrev_co_u32),

    op<mul_lo_u32>(Op::v_mul_lo_u32),
    op<mul_hi_u32>(Op::v_mul_hi_u32),
    op<mul_hi_i32>(Op::v_mul_hi_i32),
    op<mul_u32_u24>(Op::v_mul_u32_u24),
    op<mul_hi_u32_u24>(Op::v_mul_hi_u32_u24),
    op<mul_i32_i24>(Op::v_mul_i32_i24),
    op<mul_hi_i32_i24>(Op::v_mul_hi_i32_i24),
    op_clamp<mad_u32_u24, mad_u32_u24_clamp>(Op::v_mad_u32_u24),
    op_clamp<mad_i32_i24, mad_i32_i24_clamp>(Op::v_mad_i32_i24),
    op_clamp<mad_u32_u16, mad_u32_u16_clamp>(Op::v_mad_u32_u16),
    op_clamp<mad_i32_i16, mad_i32_i16_clamp>(Op::v_mad_i32_i16),
    op_clamp<mad_u64_u32, mad_u64_u32_clamp>(Op::v_mad_u64_u32),
    op_clamp<mad_i64_i32, mad_i64_i32_clamp>(Op::v_mad_i64_i32),

    op<min_int<int32_t>>(Op::v_min_i32),
    op<max_int<int32_t>>(Op::v_max_i32),
    op<min_int<uint32_t>>(Op::v_min_u32),
    op<max_int<uint32_t>>(Op::v_max_u32),
    op<min3_int<int32_t>>(Op::v_min3_i32),
    op<max3_int<int32_t>>(Op::v_max3_i32),
    op<med3_int<int32_t>>(Op::v_med3_i32),
    op<min3_int<uint32_t>>(Op::v_min3_u32),
    op<max3_int<uint32_t>>(Op::v_max3_u32),
    op<med3_int<uint32_t>>(Op::v_med3_u32),

    op<mov_b64>(Op::v_mov_b64),
    op<lshl_add_u64>(Op::v_lshl_add_u64),
    op<prng_b32>(Op::v_prng_b32),
    op<ashr_pk<int8_t>, kKeep>(Op::v_ashr_pk_i8_i32),
    op<ashr_pk<uint8_t>, kKeep>(Op::v_ashr_pk_u8_i32),
};

}  // namespace

std::span<const Opcode> integer_opcodes() {
  return kOpcodes;
}

}  // namespace halyard::vgpu::isa::valu
