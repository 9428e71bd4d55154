// v_cvt_scalef32_* against a model of one value after the other (CDNA 4 ISA 7.3 and 12.11), as
// gfx950's assembler encodes them: random values, scales and modes, and the edges of all.

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "vgpu/isa/decode.h"
#include "vgpu/isa/opcode.h"
#include "vgpu/isa/tests/assembler.h"
#include "vgpu/isa/tests/covered.h"
#include "vgpu/isa/tests/model/mini_float.h"
#include "vgpu/isa/tests/model/row.h"
#include "vgpu/isa/wave.h"

namespace halyard::vgpu::isa::model {
namespace {

using Random = std::mt19937_64;

struct Format {
  const char* name;
  unsigned bits, mantissa_bits;
  Float large;            // of f32, f16 and bf16
  const MiniFloat* mini;  // of the others
};
constexpr Format kFormats[] = {
    {"f32", 32, 23, Float::kF32, nullptr},  {"f16", 16, 10, Float::kF16, nullptr},
    {"bf16", 16, 7, Float::kBF16, nullptr}, {"fp8", 8, 3, Float::kF32, &kFp8},
    {"bf8", 8, 2, Float::kF32, &kBf8},      {"fp6", 6, 3, Float::kF32, &kFp6},
    {"bf6", 6, 2, Float::kF32, &kBf6},      {"fp4", 4, 1, Float::kF32, &kFp4},
};

// "2xpk16_fp6_f32", "sr_pk32_bf6_bf16", "f16_fp8": how many values, from what, to what.
struct Conversion {
  std::string name;
  Format from, to;
  unsigned count, operands;
  bool is_stochastic;

  unsigned seed() const { return operands; }
  unsigned scale() const { return operands + is_stochastic; }
  unsigned input_bits() const { return count / operands * from.bits; }
};
std::vector<Conversion> all_conversions() {
  std::vector<Conversion> all;
  const auto add = [&](const std::string& how, const Format& to, const Format& from, unsigned count,
                       unsigned operands = 1) {
    const std::string name =
        "v_cvt_scalef32_" + how + (how.empty() ? "" : "_") + to.name + "_" + from.name;
    all.push_back({name, from, to, count, operands, how.starts_with("sr")});
  };
  for (const Format& small : std::span(kFormats).subspan(3)) {
    for (const Format& large : std::span(kFormats).first(3)) {
      const bool single = large.bits == 32;
      if (small.bits == 6) {
        if (single)
          add("2xpk16", small, large, 32, 2);
        else
          add("pk32", small, large, 32);
        add("sr_pk32", small, large, 32);
        add("pk32", large, small, 32);
      } else {
        add("pk", small, large, 2, single ? 2 : 1);
        add(small.bits == 4 ? "sr_pk" : "sr", small, large, small.bits == 4 ? 2 : 1);
        add("pk", large, small, 2);
        if (small.bits == 8 && large.large != Float::kBF16) add("", large, small, 1);
      }
    }
  }
  return all;
}

uint32_t bit_field(const uint32_t* dwords, unsigned at, unsigned bits) {
  uint32_t value = 0;
  for (unsigned n = 0; n < bits; ++n) value |= (dwords[(at + n) / 32] >> (at + n) % 32 & 1) << n;
  return value;
}
void set_bit_field(uint32_t* dwords, unsigned at, unsigned bits, uint32_t value) {
  for (unsigned n = 0; n < bits; ++n) {
    uint32_t& dword = dwords[(at + n) / 32];
    dword = (dword & ~(1u << (at + n) % 32)) | (value >> n & 1) << (at + n) % 32;
  }
}

double number(Float f, uint32_t code) {
  return mpfr_get_d(Exact(f, code).get(), MPFR_RNDN);
}

uint32_t to_small(const Conversion& c, const Mode& mode, uint32_t code, unsigned scale,
                  uint32_t seed) {
  const Float f = c.from.large;
  const MiniFloat& mini = *c.to.mini;
  if (f == Float::kF32) code = static_cast<uint32_t>(flushed(f, code, mode.rules(f).keep_inputs));
  const bool minus = negative(f, code), saturate = mode.overflow16;
  if (nan(f, code) || scale == 255) return mini.nan(minus);
  if (infinite(f, code)) return mini.overflow(minus, saturate);
  const double x = std::ldexp(number(f, code), 127 - static_cast<int>(scale));
  if (!c.is_stochastic) return mini.nearest(x, saturate);
  return mini.stochastic(x, seed, c.from.mantissa_bits - c.to.mantissa_bits, saturate);
}

uint32_t from_small(const Conversion& c, const Mode& mode, uint32_t code, unsigned scale) {
  const Float f = c.to.large;
  const MiniFloat& mini = *c.from.mini;
  const uint64_t sign = (code & mini.sign()) != 0 ? sign_bit(f) : 0;
  if (mini.is_nan(code) || scale == 255)
    return static_cast<uint32_t>(sign | (f == Float::kF32 ? default_nan(f) : sign_bit(f) - 1));
  if (mini.is_infinite(code)) return static_cast<uint32_t>(sign | infinity_bits(f));
  const double x = std::ldexp(mini.value(code), static_cast<int>(scale) - 127);
  const bool saturate = f == Float::kF16 && mode.overflow16;
  const uint64_t result = round_to(f, Exact(x), 0, saturate);
  const bool keeps = f == Float::kBF16 || mode.rules(f).keep_outputs;
  return static_cast<uint32_t>(flushed(f, result, keeps));
}

constexpr unsigned kRegisterCount = 128, kResult = 96;  // sources begin at v0, v32, v64
struct File {
  uint32_t v[kRegisterCount][64];
};

struct Operands {
  unsigned op_sel = 0, negate = 0, absolute = 0;
  std::string text;
};

std::string registers(unsigned first, unsigned dwords) {
  if (dwords == 1) return "v" + std::to_string(first);
  return "v[" + std::to_string(first) + ":" + std::to_string(first + dwords - 1) + "]";
}

Operands random_operands(const Conversion& c, Random& random) {
  Operands o;
  const bool down = c.to.mini != nullptr;
  const unsigned output_bits = c.count * c.to.bits;
  o.text = c.name + " " + registers(kResult, (output_bits + 31) / 32);
  for (unsigned i = 0; i <= c.scale(); ++i) {
    const bool is_input = i < c.operands;
    std::string text = registers(32 * i, is_input ? (c.input_bits() + 31) / 32 : 1);
    if (down && is_input && c.count <= 2) {
      if (random() % 4 == 0) o.absolute |= 1u << i, text = "|" + text + "|";
      if (random() % 4 == 0) o.negate |= 1u << i, text = "-" + text;
    }
    o.text += ", " + text;
  }
  // op_sel: the source's part in bits 1:0, the result's in bits 3:2.
  if (c.input_bits() == 8) o.op_sel |= random() % 4;
  if (c.input_bits() == 16) o.op_sel |= random() % 2;
  if (output_bits == 8) o.op_sel |= random() % 4 << 2;
  if (output_bits == 16) o.op_sel |= random() % 2 << 3;
  if (o.op_sel == 0) return o;
  // What of the four bits the assembler's list has depends on the number of sources.
  const bool two_sources = c.scale() == 1;
  const bool has_all = !two_sources || output_bits == 8;
  o.text += " op_sel:[" + std::to_string(o.op_sel & 1) + "," + std::to_string(o.op_sel >> 1 & 1);
  if (has_all) o.text += "," + std::to_string(o.op_sel >> 2 & 1);
  o.text += "," + std::to_string(o.op_sel >> 3) + "]";
  return o;
}

uint32_t random_input(const Format& f, unsigned scale, Random& random) {
  const auto any = static_cast<uint32_t>(random());
  if (f.mini != nullptr || random() % 3 == 0) return any;
  constexpr uint32_t kEdges[] = {0,          0x80000000, 0x7f800000, 0xff800000, 0x7fc00001,
                                 0x00000001, 0x807fffff, 0x00800000, 0x7f7fffff, 0xff812345};
  if (f.bits == 32 && random() % 6 == 0) return kEdges[random() % std::size(kEdges)];
  if (f.bits == 16) return any;
  // In the range of the small formats, once scaled.
  const int exponent = static_cast<int>(scale) - 18 + static_cast<int>(random() % 36);
  const uint32_t fraction = any & 0x7fffff & (random() % 2 != 0 ? ~0u : ~0u << random() % 23);
  return (any & 0x80000000) | static_cast<uint32_t>(std::clamp(exponent, 0, 254)) << 23 | fraction;
}

void expect(const Conversion& c, const Operands& o, const Mode& mode, const File& before,
            uint64_t exec, File& after) {
  const bool down = c.to.mini != nullptr;
  const unsigned output_bits = c.count * c.to.bits;
  const auto part = [](unsigned bits, unsigned select) {
    return bits == 8 ? 8 * select : bits == 16 ? 16 * (select & 1) : 0;
  };
  const unsigned from = part(c.input_bits(), o.op_sel & 3);
  const unsigned to = part(output_bits, output_bits == 16 ? o.op_sel >> 3 : o.op_sel >> 2);
  after = before;
  for (unsigned lane = 0; lane < 64; ++lane) {
    if ((exec >> lane & 1) == 0) continue;
    uint32_t in[2][32], out[32];
    for (unsigned d = 0; d < 32; ++d) {
      in[0][d] = before.v[d][lane];
      in[1][d] = before.v[32 + d][lane];
      out[d] = before.v[kResult + d][lane];
    }
    const unsigned scale = before.v[32 * c.scale()][lane] >> 23 & 0xff;
    uint32_t seed = before.v[32 * c.seed()][lane];
    for (unsigned n = 0; n < c.count; ++n) {
      const unsigned operand = n % c.operands;
      uint32_t code = bit_field(in[operand], from + n / c.operands * c.from.bits, c.from.bits);
      const uint32_t sign = 1u << (c.from.bits - 1);
      if ((o.absolute >> operand & 1) != 0) code &= ~sign;
      if ((o.negate >> operand & 1) != 0) code ^= sign;
      const uint32_t result =
          down ? to_small(c, mode, code, scale, seed) : from_small(c, mode, code, scale);
      set_bit_field(out, to + n * c.to.bits, c.to.bits, result);
      seed = seed * 2 ^ (seed >= 0x80000000 ? 197 : 0);
    }
    for (unsigned d = 0; d < 32; ++d) after.v[kResult + d][lane] = out[d];
  }
}

testing::Covered scaled_covered([] {
  testing::Names names;
  for (const Opcode& o : vector_opcodes()) {
    const std::string name = row_of(o.op).name;
    if (name.starts_with("v_cvt_scalef32_")) names.insert(name);
  }
  return names;
});

TEST(ScaledModel, EveryConversionAgrees) {
  const char* const asked = std::getenv("HALYARD_MODEL_CASES");
  const unsigned rounds = asked ? static_cast<unsigned>(std::atoi(asked)) : 12;
  std::string error;
  const auto decoder = Decoder::create("gfx950", "", error);
  ASSERT_NE(decoder, nullptr) << error;
  const auto file = std::make_unique<VectorRegister[]>(kRegisterCount);
  Wave wave;
  wave.vgpr = file.get();
  wave.vgpr_count = kRegisterCount;
  wave.target = &decoder->target();
  Random random(950);
  const auto before = std::make_unique<File>(), expected = std::make_unique<File>();
  for (const Conversion& c : all_conversions()) {
    for (unsigned n = 0; n < rounds; ++n) {
      const Operands o = random_operands(c, random);
      const std::vector<uint8_t> code = testing::assemble(o.text, "gfx950", error);
      ASSERT_EQ(error, "") << o.text;
      DecodedInstruction in;
      decoder->decode(code, in);
      ASSERT_EQ(in.extra->mnemonic, c.name) << o.text;
      Mode mode;
      if (n % 3 != 0) {
        mode.denormals32 = static_cast<unsigned>(random() % 4);
        mode.denormals16_64 = static_cast<unsigned>(random() % 4);
        mode.overflow16 = random() % 2 == 0;
        mode.round32 = static_cast<unsigned>(random() % 4);
      }
      constexpr unsigned kScales[] = {0, 1, 127, 127, 254, 255};
      for (unsigned lane = 0; lane < 64; ++lane) {
        const unsigned scale = random() % 3 == 0 ? kScales[random() % std::size(kScales)]
                                                 : 95 + static_cast<unsigned>(random() % 64);
        for (auto& row : before->v) row[lane] = random_input(c.from, scale, random);
        before->v[32 * c.scale()][lane] =
            scale << 23 | (static_cast<uint32_t>(random()) & 0x807fffff);
        if (c.is_stochastic) before->v[32 * c.seed()][lane] = static_cast<uint32_t>(random());
      }
      const uint64_t exec = n % 2 == 0 ? ~uint64_t{0} : random();
      expect(c, o, mode, *before, exec, *expected);
      std::memcpy(file.get(), before->v, sizeof before->v);
      wave.set_exec(exec);
      wave.set_mode(mode.bits());
      ASSERT_EQ(in.execute(wave, in), Outcome::kNext) << o.text;
      for (unsigned v = 0; v < kRegisterCount; ++v) {
        for (unsigned lane = 0; lane < 64; ++lane) {
          ASSERT_EQ(file[v].lane[lane], expected->v[v][lane])
              << o.text << ": v" << v << ", lane " << lane << ", v0 " << std::hex
              << before->v[0][lane] << ", v32 " << before->v[32][lane] << ", v64 "
              << before->v[64][lane] << ", fp16_ovfl " << mode.overflow16;
        }
      }
    }
    scaled_covered.compared(c.name);
  }
  scaled_covered.expect_all([](const std::string&) { return true; });
}

}  // namespace
}  // namespace halyard::vgpu::isa::model
