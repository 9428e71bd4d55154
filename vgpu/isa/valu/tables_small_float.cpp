// Conversions from and to fp8, bf8 and bf16 without a scale (those with one:
// scaled_conversions.cpp).

#include "vgpu/isa/target.h"
#include "vgpu/isa/valu/apply.h"
#include "vgpu/isa/valu/lane_ops_small_float.h"
#include "vgpu/isa/valu/tables.h"

namespace halyard::vgpu::isa::valu {
namespace {

constexpr Traits kKeep{.keeps_other = true};
constexpr Traits kAccumulates{.accumulates = true};

// One instruction, two formats: the target says which.
template <Handler kFnuz, Handler kOcp>
Outcome by_float8(Wave& w, const Instruction& in) {
  return w.target->float8 == Float8::kFnuz ? kFnuz(w, in) : kOcp(w, in);
}
template <class Fnuz, class Ocp>
constexpr Opcode op_float8(Op name) {
  Opcode o = Ocp::opcode(name);
  o.plain = by_float8<Fnuz::plain, Ocp::plain>;
  o.general = by_float8<Fnuz::general, Ocp::general>;
  return o;
}

// From bytes: SDWA says which part is converted, and nothing else; there is no NEG and no ABS
// (CDNA 4 ISA 7.3). kPair: its two low bits say whether it is word 1.
template <class Base, bool kPair>
struct FromPart : Base {
  static Outcome general(Wave& w, const Instruction& in) {
    Instruction selected = in;
    InstructionExtra extra;
    selected.neg = selected.abs = 0;
    if (in.has_sdwa) {
      const auto code = static_cast<unsigned>(in.extra->sdwa.src_sel[0]);
      const SubDword word = (code & 3) == 1 ? SubDword::kWord1 : SubDword::kWord0;
      const SubDword byte = code < 4 ? in.extra->sdwa.src_sel[0] : SubDword::kByte0;
      extra.sdwa.src_sel[0] = kPair ? word : byte;
      selected.extra = &extra;
      selected.clamp = false;
      selected.omod = 0;
    }
    return Base::general(w, selected);
  }
};
template <FloatFormat kFormat>
using FromByte = FromPart<Operation<cvt_f32_byte<kFormat>, nullptr, nullptr, Traits{}>, false>;
template <FloatFormat kFormat>
using FromBytes = FromPart<Operation<cvt_pk_f32_bytes<kFormat>, nullptr, nullptr, Traits{}>, true>;

template <FloatFormat kFormat>
using ToBytes = Operation<cvt_pk_bytes_f32<kFormat>, nullptr, nullptr, kKeep>;

// op_sel[3:2] is the byte of the destination.
template <FloatFormat kFormat>
struct ToByte : Operation<cvt_sr_byte_f32<kFormat, 0>, nullptr, nullptr, kAccumulates> {
  template <unsigned kByte>
  using At = Operation<cvt_sr_byte_f32<kFormat, kByte>, nullptr, nullptr, kAccumulates>;

  static Outcome general(Wave& w, const Instruction& in) {
    switch (in.op_sel >> 2 & 3) {
      case 1:
        return At<1>::general(w, in);
      case 2:
        return At<2>::general(w, in);
      case 3:
        return At<3>::general(w, in);
      default:
        return At<0>::general(w, in);
    }
  }
};

constexpr Opcode kOpcodes[] = {
    op_float8<FromByte<kE4M3Fnuz>, FromByte<kE4M3>>(Op::v_cvt_f32_fp8),
    op_float8<FromByte<kE5M2Fnuz>, FromByte<kE5M2>>(Op::v_cvt_f32_bf8),
    op_float8<FromBytes<kE4M3Fnuz>, FromBytes<kE4M3>>(Op::v_cvt_pk_f32_fp8),
    op_float8<FromBytes<kE5M2Fnuz>, FromBytes<kE5M2>>(Op::v_cvt_pk_f32_bf8),
    op_float8<ToBytes<kE4M3Fnuz>, ToBytes<kE4M3>>(Op::v_cvt_pk_fp8_f32),
    op_float8<ToBytes<kE5M2Fnuz>, ToBytes<kE5M2>>(Op::v_cvt_pk_bf8_f32),
    op_float8<ToByte<kE4M3Fnuz>, ToByte<kE4M3>>(Op::v_cvt_sr_fp8_f32),
    op_float8<ToByte<kE5M2Fnuz>, ToByte<kE5M2>>(Op::v_cvt_sr_bf8_f32),

    op<cvt_f32_bf16>(Op::v_cvt_f32_bf16),
    op<cvt_pk_bf16_f32>(Op::v_cvt_pk_bf16_f32),
    op<cvt_pk_f16_f32>(Op::v_cvt_pk_f16_f32),
    op<cvt_sr_bf16_f32, kKeep>(Op::v_cvt_sr_bf16_f32),
    op<cvt_sr_f16_f32, kKeep>(Op::v_cvt_sr_f16_f32),
};

}  // namespace

std::span<const Opcode> small_float_opcodes() {
  return kOpcodes;
}

}  // namespace halyard::vgpu::isa::valu
