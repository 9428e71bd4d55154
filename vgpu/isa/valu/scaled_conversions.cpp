// v_cvt_scalef32_*: between f32, f16, bf16 and formats of 4, 6 and 8 bits, with a scale, which is a
// power of two (CDNA 4 ISA 7.3 and 12.11). A value is computed exactly and rounded once.
//
// To a small format a value is divided by the scale; from one it is multiplied with it. Results of
// 8 or 16 bits go to the part of the destination that op_sel[3:2] or op_sel[3] says, and the rest
// stays; sources of 8 or 16 bits are in the part that op_sel[1:0] or op_sel[0] says.

#include "vgpu/isa/lane_access.h"
#include "vgpu/isa/valu/lane_ops_integer.h"
#include "vgpu/isa/valu/operands.h"
#include "vgpu/isa/valu/small_floats.h"
#include "vgpu/isa/valu/tables.h"

namespace halyard::vgpu::isa::valu {
namespace {

constexpr unsigned kMostDwords = 32;

struct Conversion {
  FloatFormat from, to;
  unsigned count;         // values
  unsigned operands = 1;  // that hold them: with two, they alternate
  bool is_stochastic = false;

  constexpr unsigned input_bits() const { return count / operands * from.bits(); }  // of an operand
  constexpr unsigned input_dwords() const { return (input_bits() + 31) / 32; }
  constexpr unsigned output_bits() const { return count * to.bits(); }
  constexpr unsigned output_dwords() const { return (output_bits() + 31) / 32; }
  constexpr unsigned seed() const { return operands; }
  constexpr unsigned scale() const { return operands + (is_stochastic ? 1 : 0); }
  constexpr bool widens() const { return to.bits() >= 16; }
};

// Consecutive values of `bits` bits each, which may straddle dwords.
uint32_t get_bits(const uint32_t* dwords, unsigned at, unsigned bits) {
  const unsigned last = (at + bits - 1) / 32;
  const uint64_t both = dwords[at / 32] | uint64_t{last != at / 32 ? dwords[last] : 0} << 32;
  return static_cast<uint32_t>(both >> at % 32) & (bits == 32 ? ~0u : (1u << bits) - 1);
}
void put_bits(uint32_t* dwords, unsigned at, unsigned bits, uint32_t value) {
  const unsigned last = (at + bits - 1) / 32;
  const uint64_t field = (uint64_t{1} << bits) - 1;
  uint64_t both = dwords[at / 32] | uint64_t{last != at / 32 ? dwords[last] : 0} << 32;
  both = (both & ~(field << at % 32)) | uint64_t{value} << at % 32;
  dwords[at / 32] = static_cast<uint32_t>(both);
  if (last != at / 32) dwords[last] = static_cast<uint32_t>(both >> 32);
}

unsigned selected_bit(unsigned bits, unsigned op_sel) {
  if (bits == 8) return 8 * op_sel;
  return bits == 16 ? 16 * (op_sel & 1) : 0;
}

// The dwords of an operand in one lane.
class Source {
 public:
  Source(const Wave& w, const Operand& operand)
      : rows_(vector_source(w, operand)), value_(rows_ ? 0 : uniform_value(w, operand)) {}
  uint32_t dword(unsigned index, unsigned lane) const {
    if (rows_ != nullptr) return rows_[index].lane[lane];
    return index < 2 ? static_cast<uint32_t>(value_ >> (32 * index)) : 0;
  }

 private:
  const VectorRegister* rows_;
  uint64_t value_;
};

// One value: its signs changed as NEG and ABS say, converted.
struct Converter {
  const Conversion& c;
  const FloatMode& mode;

  bool saturates() const { return mode.fp16_overflow && c.to != kBrain16 && c.to != kBinary32; }
  static bool is_denormal(const FloatFormat& f, uint32_t code) {
    const uint32_t magnitude = code & f.all_ones();
    return magnitude != 0 && magnitude < 1u << f.mantissa_bits;
  }
  // MODE is about denormals of f32, and of f16 results; smaller formats keep them.
  uint32_t flushed(const FloatFormat& f, unsigned keep, uint32_t code) const {
    return keep == 0 && is_denormal(f, code) ? code & f.sign() : code;
  }

  uint32_t operator()(uint32_t code, unsigned scale, PackRounding rounding) const {
    if (c.from == kBinary32) code = flushed(c.from, mode.denorm_f32 & 1, code);
    Unpacked value = unpack(c.from, code);
    value.nan |= scale == 255;
    const int power = static_cast<int>(scale) - 127;
    value.exponent += c.widens() ? power : -power;
    const uint32_t result = pack(c.to, value, rounding, saturates());
    if (c.to == kBinary32) return flushed(c.to, mode.denorm_f32 & 2, result);
    return c.to == kBinary16 ? flushed(c.to, mode.denorm_f16_f64 & 2, result) : result;
  }
};

void convert_lane(const Conversion& c, const Instruction& in, const Converter& converter,
                  const Source (&sources)[3], unsigned lane, uint32_t* out) {
  uint32_t values[2][kMostDwords];
  for (unsigned s = 0; s < c.operands; ++s) {
    for (unsigned d = 0; d < c.input_dwords(); ++d) values[s][d] = sources[s].dword(d, lane);
  }
  const unsigned scale = sources[c.scale()].dword(0, lane) >> 23 & 0xff;
  uint32_t seed = c.is_stochastic ? sources[c.seed()].dword(0, lane) : 0;
  const unsigned from = selected_bit(c.input_bits(), in.op_sel & 3);
  const unsigned to =
      selected_bit(c.output_bits(), c.output_bits() == 16 ? in.op_sel >> 3 : in.op_sel >> 2 & 3);
  for (unsigned i = 0; i < c.count; ++i) {
    const unsigned s = i % c.operands;
    uint32_t code = get_bits(values[s], from + i / c.operands * c.from.bits(), c.from.bits());
    if (!c.widens()) {
      if ((in.abs >> s & 1) != 0) code &= ~c.from.sign();
      if ((in.neg >> s & 1) != 0) code ^= c.from.sign();
    }
    const PackRounding rounding = c.is_stochastic ? stochastic(c.from, c.to, seed) : PackRounding{};
    put_bits(out, to + i * c.to.bits(), c.to.bits(), converter(code, scale, rounding));
    seed = prng_b32(seed);
  }
}

Outcome run(Wave& w, const Instruction& in, const Conversion& c) {
  VectorRegister* const dst = destination(w, in.dst);
  if (dst == nullptr) return Outcome::kNext;
  const Source sources[3] = {{w, in.src[0]}, {w, in.src[1]}, {w, in.src[2]}};
  const Converter converter{c, w.mode};
  for_each_lane(w.exec(), [&](unsigned lane) {
    uint32_t out[kMostDwords];
    for (unsigned d = 0; d < c.output_dwords(); ++d) out[d] = dst[d].lane[lane];
    convert_lane(c, in, converter, sources, lane, out);
    for (unsigned d = 0; d < c.output_dwords(); ++d) dst[d].lane[lane] = out[d];
  });
  return Outcome::kNext;
}

template <Conversion kConversion>
Outcome handler(Wave& w, const Instruction& in) {
  return run(w, in, kConversion);
}

// The type of `count` values.
constexpr Type type_of(const FloatFormat& format, unsigned count) {
  if (format == kBinary32 && count == 1) return Type::kF32;
  if (format == kBinary16 && count <= 2) return count == 1 ? Type::kF16 : Type::kPkF16;
  if (format == kBrain16 && count <= 2) return count == 1 ? Type::kBF16 : Type::kPkBF16;
  switch ((format.bits() * count + 31) / 32) {
    case 1:
      return Type::kB32;
    case 2:
      return Type::kPkF32;
    case 6:
      return Type::kB192;
    case 16:
      return Type::kB512;
    default:
      return Type::kB1024;
  }
}

template <Conversion kC>
constexpr Opcode op(Op name) {
  Opcode o{name, handler<kC>, handler<kC>};
  o.is_typed = true;
  o.dst = type_of(kC.to, kC.count);
  for (unsigned s = 0; s < kC.operands; ++s) o.src[s] = type_of(kC.from, kC.count / kC.operands);
  if (kC.is_stochastic) o.src[kC.seed()] = Type::kB32;
  o.src[kC.scale()] = Type::kF32;
  return o;
}

// From a float of 16 bits or more, and back.
template <FloatFormat kFrom, FloatFormat kTo, unsigned kCount, unsigned kOperands = 1>
constexpr Opcode nearest(Op name) {
  return op<Conversion{kFrom, kTo, kCount, kOperands}>(name);
}
template <FloatFormat kFrom, FloatFormat kTo, unsigned kCount>
constexpr Opcode random(Op name) {
  return op<Conversion{kFrom, kTo, kCount, 1, true}>(name);
}

constexpr Opcode kOpcodes[] = {
    nearest<kBinary32, kE4M3, 2, 2>(Op::v_cvt_scalef32_pk_fp8_f32),
    nearest<kBinary32, kE5M2, 2, 2>(Op::v_cvt_scalef32_pk_bf8_f32),
    nearest<kBinary32, kE2M1, 2, 2>(Op::v_cvt_scalef32_pk_fp4_f32),
    nearest<kBinary16, kE4M3, 2>(Op::v_cvt_scalef32_pk_fp8_f16),
    nearest<kBinary16, kE5M2, 2>(Op::v_cvt_scalef32_pk_bf8_f16),
    nearest<kBinary16, kE2M1, 2>(Op::v_cvt_scalef32_pk_fp4_f16),
    nearest<kBrain16, kE4M3, 2>(Op::v_cvt_scalef32_pk_fp8_bf16),
    nearest<kBrain16, kE5M2, 2>(Op::v_cvt_scalef32_pk_bf8_bf16),
    nearest<kBrain16, kE2M1, 2>(Op::v_cvt_scalef32_pk_fp4_bf16),
    nearest<kBinary32, kE2M3, 32, 2>(Op::v_cvt_scalef32_2xpk16_fp6_f32),
    nearest<kBinary32, kE3M2, 32, 2>(Op::v_cvt_scalef32_2xpk16_bf6_f32),
    nearest<kBinary16, kE2M3, 32>(Op::v_cvt_scalef32_pk32_fp6_f16),
    nearest<kBinary16, kE3M2, 32>(Op::v_cvt_scalef32_pk32_bf6_f16),
    nearest<kBrain16, kE2M3, 32>(Op::v_cvt_scalef32_pk32_fp6_bf16),
    nearest<kBrain16, kE3M2, 32>(Op::v_cvt_scalef32_pk32_bf6_bf16),

    random<kBinary32, kE4M3, 1>(Op::v_cvt_scalef32_sr_fp8_f32),
    random<kBinary32, kE5M2, 1>(Op::v_cvt_scalef32_sr_bf8_f32),
    random<kBinary16, kE4M3, 1>(Op::v_cvt_scalef32_sr_fp8_f16),
    random<kBinary16, kE5M2, 1>(Op::v_cvt_scalef32_sr_bf8_f16),
    random<kBrain16, kE4M3, 1>(Op::v_cvt_scalef32_sr_fp8_bf16),
    random<kBrain16, kE5M2, 1>(Op::v_cvt_scalef32_sr_bf8_bf16),
    random<kBinary32, kE2M1, 2>(Op::v_cvt_scalef32_sr_pk_fp4_f32),
    random<kBinary16, kE2M1, 2>(Op::v_cvt_scalef32_sr_pk_fp4_f16),
    random<kBrain16, kE2M1, 2>(Op::v_cvt_scalef32_sr_pk_fp4_bf16),
    random<kBinary32, kE2M3, 32>(Op::v_cvt_scalef32_sr_pk32_fp6_f32),
    random<kBinary32, kE3M2, 32>(Op::v_cvt_scalef32_sr_pk32_bf6_f32),
    random<kBinary16, kE2M3, 32>(Op::v_cvt_scalef32_sr_pk32_fp6_f16),
    random<kBinary16, kE3M2, 32>(Op::v_cvt_scalef32_sr_pk32_bf6_f16),
    random<kBrain16, kE2M3, 32>(Op::v_cvt_scalef32_sr_pk32_fp6_bf16),
    random<kBrain16, kE3M2, 32>(Op::v_cvt_scalef32_sr_pk32_bf6_bf16),

    nearest<kE4M3, kBinary32, 1>(Op::v_cvt_scalef32_f32_fp8),
    nearest<kE5M2, kBinary32, 1>(Op::v_cvt_scalef32_f32_bf8),
    nearest<kE4M3, kBinary16, 1>(Op::v_cvt_scalef32_f16_fp8),
    nearest<kE5M2, kBinary16, 1>(Op::v_cvt_scalef32_f16_bf8),
    nearest<kE4M3, kBinary32, 2>(Op::v_cvt_scalef32_pk_f32_fp8),
    nearest<kE5M2, kBinary32, 2>(Op::v_cvt_scalef32_pk_f32_bf8),
    nearest<kE2M1, kBinary32, 2>(Op::v_cvt_scalef32_pk_f32_fp4),
    nearest<kE4M3, kBinary16, 2>(Op::v_cvt_scalef32_pk_f16_fp8),
    nearest<kE5M2, kBinary16, 2>(Op::v_cvt_scalef32_pk_f16_bf8),
    nearest<kE2M1, kBinary16, 2>(Op::v_cvt_scalef32_pk_f16_fp4),
    nearest<kE4M3, kBrain16, 2>(Op::v_cvt_scalef32_pk_bf16_fp8),
    nearest<kE5M2, kBrain16, 2>(Op::v_cvt_scalef32_pk_bf16_bf8),
    nearest<kE2M1, kBrain16, 2>(Op::v_cvt_scalef32_pk_bf16_fp4),
    nearest<kE2M3, kBinary32, 32>(Op::v_cvt_scalef32_pk32_f32_fp6),
    nearest<kE3M2, kBinary32, 32>(Op::v_cvt_scalef32_pk32_f32_bf6),
    nearest<kE2M3, kBinary16, 32>(Op::v_cvt_scalef32_pk32_f16_fp6),
    nearest<kE3M2, kBinary16, 32>(Op::v_cvt_scalef32_pk32_f16_bf6),
    nearest<kE2M3, kBrain16, 32>(Op::v_cvt_scalef32_pk32_bf16_fp6),
    nearest<kE3M2, kBrain16, 32>(Op::v_cvt_scalef32_pk32_bf16_bf6),
};

}  // namespace

std::span<const Opcode> scaled_conversion_opcodes() {
  return kOpcodes;
}

}  // namespace halyard::vgpu::isa::valu
