// Bytes, sums of absolute differences, cube maps.

#include "vgpu/isa/valu/apply.h"
#include "vgpu/isa/valu/lane_ops_bytes.h"
#include "vgpu/isa/valu/row_loops_bytes.h"
#include "vgpu/isa/valu/tables.h"

namespace halyard::vgpu::isa::valu {
namespace {

// Without byte shuffles the exact function, which branches, is the faster one.
#if defined(__AVX2__)
constexpr auto kPermFast = &perm_b32_fast;
#else
constexpr auto kPermFast = nullptr;
#endif

constexpr Opcode kOpcodes[] = {
    op_fast<perm_b32, kPermFast>(Op::v_perm_b32),
    op<lerp_u8>(Op::v_lerp_u8),
    op_clamp<sad_u8<false>, sad_u8<true>>(Op::v_sad_u8),
    op_clamp<sad_hi_u8<false>, sad_hi_u8<true>>(Op::v_sad_hi_u8),
    op_clamp<sad_u16<false>, sad_u16<true>>(Op::v_sad_u16),
    op_clamp<sad_u32<false>, sad_u32<true>>(Op::v_sad_u32),
    op_clamp<msad_u8<false>, msad_u8<true>>(Op::v_msad_u8),
    op_clamp<qsad_pk_u16_u8<false>, qsad_pk_u16_u8<true>>(Op::v_qsad_pk_u16_u8),
    op_clamp<mqsad_pk_u16_u8<false>, mqsad_pk_u16_u8<true>>(Op::v_mqsad_pk_u16_u8),
    op_clamp<mqsad_u32_u8<false>, mqsad_u32_u8<true>>(Op::v_mqsad_u32_u8),
    op<cubeid_f32>(Op::v_cubeid_f32),
    op<cubesc_f32>(Op::v_cubesc_f32),
    op<cubetc_f32>(Op::v_cubetc_f32),
    op<cubema_f32>(Op::v_cubema_f32),
};

}  // namespace

std::span<const Opcode> byte_opcodes() {
  return kOpcodes;
}

}  // namespace halyard::vgpu::isa::valu
