// Every matrix instruction of gfx942 and gfx950 against the model, on random and edge-case operands
// and with every modifier that AMD's matrix instruction calculator (CDNA 3) and LLVM allow.
//
// LLVM assembles them, the decoder decodes them, and their handlers are called.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/isa/decode.h"
#include "vgpu/isa/opcode.h"
#include "vgpu/isa/target.h"
#include "vgpu/isa/tests/assembler.h"
#include "vgpu/isa/tests/covered.h"
#include "vgpu/isa/tests/model/matrix_model.h"
#include "vgpu/isa/wave.h"

namespace halyard::vgpu::isa::model {
namespace {

// LLVM 22's names, by processor.
constexpr const char* kOfBoth[] = {
    "v_mfma_f32_32x32x1_2b_f32",     "v_mfma_f32_16x16x1_4b_f32",
    "v_mfma_f32_4x4x1_16b_f32",      "v_mfma_f32_32x32x2_f32",
    "v_mfma_f32_16x16x4_f32",        "v_mfma_f32_32x32x4_2b_f16",
    "v_mfma_f32_16x16x4_4b_f16",     "v_mfma_f32_4x4x4_16b_f16",
    "v_mfma_f32_32x32x8_f16",        "v_mfma_f32_16x16x16_f16",
    "v_mfma_f32_32x32x4_2b_bf16",    "v_mfma_f32_16x16x4_4b_bf16",
    "v_mfma_f32_4x4x4_16b_bf16",     "v_mfma_f32_32x32x8_bf16",
    "v_mfma_f32_16x16x16_bf16",      "v_mfma_i32_32x32x4_2b_i8",
    "v_mfma_i32_16x16x4_4b_i8",      "v_mfma_i32_4x4x4_16b_i8",
    "v_mfma_i32_32x32x16_i8",        "v_mfma_i32_16x16x32_i8",
    "v_mfma_f64_16x16x4_f64",        "v_mfma_f64_4x4x4_4b_f64",
    "v_mfma_f32_16x16x32_bf8_bf8",   "v_mfma_f32_16x16x32_bf8_fp8",
    "v_mfma_f32_16x16x32_fp8_bf8",   "v_mfma_f32_16x16x32_fp8_fp8",
    "v_mfma_f32_32x32x16_bf8_bf8",   "v_mfma_f32_32x32x16_bf8_fp8",
    "v_mfma_f32_32x32x16_fp8_bf8",   "v_mfma_f32_32x32x16_fp8_fp8",
    "v_smfmac_f32_16x16x32_f16",     "v_smfmac_f32_32x32x16_f16",
    "v_smfmac_f32_16x16x32_bf16",    "v_smfmac_f32_32x32x16_bf16",
    "v_smfmac_i32_16x16x64_i8",      "v_smfmac_i32_32x32x32_i8",
    "v_smfmac_f32_16x16x64_bf8_bf8", "v_smfmac_f32_16x16x64_bf8_fp8",
    "v_smfmac_f32_16x16x64_fp8_bf8", "v_smfmac_f32_16x16x64_fp8_fp8",
    "v_smfmac_f32_32x32x32_bf8_bf8", "v_smfmac_f32_32x32x32_bf8_fp8",
    "v_smfmac_f32_32x32x32_fp8_bf8", "v_smfmac_f32_32x32x32_fp8_fp8",
};
constexpr const char* kOfGfx942[] = {"v_mfma_f32_16x16x8_xf32", "v_mfma_f32_32x32x4_xf32"};
constexpr const char* kOfGfx950[] = {
    "v_mfma_f32_16x16x32_f16",
    "v_mfma_f32_32x32x16_f16",
    "v_mfma_f32_16x16x32_bf16",
    "v_mfma_f32_32x32x16_bf16",
    "v_mfma_i32_16x16x64_i8",
    "v_mfma_i32_32x32x32_i8",
    "v_smfmac_f32_16x16x64_f16",
    "v_smfmac_f32_32x32x32_f16",
    "v_smfmac_f32_16x16x64_bf16",
    "v_smfmac_f32_32x32x32_bf16",
    "v_smfmac_i32_16x16x128_i8",
    "v_smfmac_i32_32x32x64_i8",
    "v_smfmac_f32_16x16x128_bf8_bf8",
    "v_smfmac_f32_16x16x128_bf8_fp8",
    "v_smfmac_f32_16x16x128_fp8_bf8",
    "v_smfmac_f32_16x16x128_fp8_fp8",
    "v_smfmac_f32_32x32x64_bf8_bf8",
    "v_smfmac_f32_32x32x64_bf8_fp8",
    "v_smfmac_f32_32x32x64_fp8_bf8",
    "v_smfmac_f32_32x32x64_fp8_fp8",
    "v_mfma_f32_16x16x128_f8f6f4",
    "v_mfma_f32_32x32x64_f8f6f4",
    "v_mfma_scale_f32_16x16x128_f8f6f4",
    "v_mfma_scale_f32_32x32x64_f8f6f4",
};

enum class Kind { kSmallFloats, kF32, kF64, kI8, kSelected };

struct MatrixCase {
  std::string name;
  Kind kind = Kind::kSmallFloats;
  bool sparse = false, scaled = false;
  unsigned m = 0, n = 0, k = 0, blocks = 1;
  Element a{}, b{};

  unsigned bits_a() const {
    return kind == Kind::kF64 ? 64 : kind == Kind::kF32 ? 32 : element_bits(a);
  }
  unsigned bits_b() const {
    return kind == Kind::kF64 ? 64 : kind == Kind::kF32 ? 32 : element_bits(b);
  }
  unsigned products() const { return sparse ? k / 2 : k; }
  // CBSZ and ABID are for several blocks, BLGP for those and for f32, and neither for f64.
  bool broadcasts() const { return blocks > 1 && kind != Kind::kF64; }
  bool permutes() const { return broadcasts() || kind == Kind::kF32; }
};

MatrixCase parse(std::string_view name, bool fnuz) {
  MatrixCase c;
  c.name = name;
  c.sparse = name.starts_with("v_smfmac");
  c.scaled = name.find("_scale_") != name.npos;
  const size_t at = name.find_first_of(
      "0123456789", name.find("32_") != name.npos ? name.find("32_") + 3 : name.find("64_") + 3);
  char rest[32] = "";
  std::sscanf(std::string(name.substr(at)).c_str(), "%ux%ux%u_%31s", &c.m, &c.n, &c.k, rest);
  std::string types = rest;
  if (const size_t b = types.find("b_"); b != types.npos && types[0] >= '0' && types[0] <= '9') {
    c.blocks = static_cast<unsigned>(std::stoul(types));
    types = types.substr(b + 2);
  }
  const auto element = [&](const std::string& t) {
    if (t == "f16") return Element::kF16;
    if (t == "bf16") return Element::kBf16;
    if (t == "xf32") return Element::kXf32;
    if (t == "fp8") return fnuz ? Element::kFp8Fnuz : Element::kFp8;
    if (t == "bf8") return fnuz ? Element::kBf8Fnuz : Element::kBf8;
    return Element::kI8;
  };
  if (types == "f32") {
    c.kind = Kind::kF32;
  } else if (types == "f64") {
    c.kind = Kind::kF64;
  } else if (types == "f8f6f4") {
    c.kind = Kind::kSelected;
  } else if (types == "i8") {
    c.kind = Kind::kI8;
    c.a = c.b = Element::kI8;
  } else {
    const size_t two = types.find('_');
    c.a = element(types.substr(0, two));
    c.b = two == types.npos ? c.a : element(types.substr(two + 1));
  }
  return c;
}

// --- Operands.

enum class Style {
  kAny,
  kNear,
  kSpread,
  kDenormal,
  kLarge,
  kZeros,
  kTies,
  kTiny,
  kHalves,
  kOverflow
};

// What exponents and fractions a matrix's numbers have.
uint64_t number(std::mt19937_64& random, unsigned exponent_bits, unsigned fraction_bits,
                Style style) {
  const uint64_t raw = random();
  const int last = (1 << exponent_bits) - 1, middle = last / 2;
  const auto within = [&](int low, int high) {
    return std::clamp(low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1)), 0,
                      last - 1);
  };
  uint64_t fraction = raw & ((uint64_t{1} << fraction_bits) - 1);
  int exponent = 0;
  switch (style) {
    case Style::kAny:
      exponent = static_cast<int>(random() % static_cast<unsigned>(last + 1));
      break;
    case Style::kNear:
      exponent = within(middle - 2, middle + 2);
      break;
    case Style::kSpread:
      exponent = within(middle - 14, middle + 14);
      break;
    case Style::kDenormal:
      exponent = random() % 4 != 0 ? 0 : 1;
      break;
    case Style::kLarge:
      exponent = within(last - 3, last - 1);
      break;
    case Style::kZeros:
      exponent = within(middle - 2, middle + 2);
      if (random() % 2 != 0) exponent = 0, fraction = 0;
      break;
    case Style::kTies:
      exponent = within(middle - 13, middle + 13);
      fraction =
          random() % 2 != 0 ? 0 : fraction >> (random() % (fraction_bits + 1)) << fraction_bits / 2;
      fraction &= (uint64_t{1} << fraction_bits) - 1;
      break;
    case Style::kOverflow:  // products about 2^128
      exponent = within(middle + 62, middle + 64);
      break;
    case Style::kTiny:  // products about the last place of f32's denormals
      exponent = random() % 4 != 0 ? 0 : random() % 2 != 0 ? middle - 75 : middle - 79;
      fraction = 0;
      break;
    case Style::kHalves:  // and about 2^-24 of 256
      exponent = random() % 4 != 0 ? 0 : random() % 2 != 0 ? middle - 8 : middle - 12;
      fraction = 0;
      break;
  }
  return (raw >> 63) << (exponent_bits + fraction_bits) |
         static_cast<uint64_t>(exponent) << fraction_bits | fraction;
}

uint64_t random_element(std::mt19937_64& random, const MatrixCase& c, Element e, Style style) {
  if (c.kind == Kind::kF64) return number(random, 11, 52, style);
  if (c.kind == Kind::kF32) return number(random, 8, 23, style);
  switch (e) {
    case Element::kF16:
      return number(random, 5, 10, style);
    case Element::kBf16:
      return number(random, 8, 7, style);
    case Element::kXf32:
      return number(random, 8, 23, style);
    case Element::kI8:
      return random() & 0xff;
    case Element::kFp8:
    case Element::kFp8Fnuz:
      return number(random, 4, 3, style);
    case Element::kBf8:
    case Element::kBf8Fnuz:
      return number(random, 5, 2, style);
    default:
      return random() & ((1u << element_bits(e)) - 1);
  }
}

struct Variant {
  unsigned cbsz = 0, abid = 0, blgp = 0;
  std::optional<float> constant_c;  // 0 or 1
  std::optional<float> start;       // every element of C
  bool accumulators = false;        // A, C and D in AGPRs
  unsigned destination = 96;        // D's register; C is in 64, A in 0, B in 16
  unsigned scale_bytes[2] = {0, 0};
  Style style = Style::kAny;
  // Not empty: the first elements along k of every row of A and column of B; the others are 0.
  std::vector<uint64_t> a_row, b_column;
};

class MatrixModel : public ::testing::TestWithParam<const char*> {
 protected:
  static constexpr unsigned kA = 0, kB = 16, kC = 64, kD = 96, kIndices = 48, kScales = 50;

  void SetUp() override {
    std::string error;
    decoder_ = Decoder::create(GetParam(), "", error);
    ASSERT_NE(decoder_, nullptr) << error;
  }
  bool gfx942() const { return std::string_view(GetParam()) == "gfx942"; }

  std::vector<MatrixCase> cases() const {
    std::vector<MatrixCase> all;
    for (const char* name : kOfBoth) all.push_back(parse(name, gfx942()));
    for (const char* name : kOfGfx942)
      if (gfx942()) all.push_back(parse(name, true));
    for (const char* name : kOfGfx950)
      if (!gfx942()) all.push_back(parse(name, false));
    return all;
  }

  // As LLVM's assembler takes it.
  static std::string text_of(const MatrixCase& c, const Variant& v) {
    const auto registers = [](bool acc, unsigned first, unsigned count) {
      const std::string file = acc ? "a" : "v";
      if (count == 1) return file + std::to_string(first);
      return file + "[" + std::to_string(first) + ":" + std::to_string(first + count - 1) + "]";
    };
    const auto list = [](const char* name, unsigned first, unsigned second, unsigned third) {
      return std::string(" ") + name + ":[" + std::to_string(first) + "," + std::to_string(second) +
             "," + std::to_string(third) + "]";
    };
    const unsigned a = c.m * c.products() * c.blocks / 64 * c.bits_a() / 32;
    const unsigned b = c.n * c.k * c.blocks / 64 * c.bits_b() / 32;
    const unsigned d = c.m * c.n * c.blocks / 64 * (c.kind == Kind::kF64 ? 2 : 1);
    std::string text = c.name + " " + registers(v.accumulators, c.sparse ? kC : kD, d) + ", " +
                       registers(v.accumulators, kA, a) + ", " + registers(false, kB, b) + ", ";
    if (c.sparse)
      text += registers(false, kIndices, 1);
    else if (v.constant_c)
      text += *v.constant_c == 1 ? "1.0" : "0";
    else
      text += registers(v.accumulators, kC, d);
    if (c.scaled) {
      const unsigned x = v.scale_bytes[0], y = v.scale_bytes[1];
      text += ", " + registers(false, kScales, 1) + ", " + registers(false, kScales + 1, 1) +
              list("op_sel", x & 1, y & 1, 0) + list("op_sel_hi", x >> 1, y >> 1, 0);
    }
    if (c.kind == Kind::kF64) return text + list("neg", v.blgp & 1, v.blgp >> 1 & 1, v.blgp >> 2);
    if (v.cbsz != 0) text += " cbsz:" + std::to_string(v.cbsz);
    if (v.abid != 0) text += " abid:" + std::to_string(v.abid);
    if (v.blgp != 0) text += " blgp:" + std::to_string(v.blgp);
    return text;
  }

  const DecodedInstruction& decoded(const MatrixCase& c, const Variant& v) {
    const std::string text = text_of(c, v);
    const auto [at, is_new] = decoded_.try_emplace(text);
    if (is_new) {
      std::string error;
      const std::vector<uint8_t> bytes = testing::assemble(text, GetParam(), error);
      EXPECT_EQ(error, "") << text;
      EXPECT_GE(bytes.size(), 8u) << text;
      if (bytes.size() >= 8) decoder_->decode(bytes, at->second);
    }
    return at->second;
  }

  // The calculator's "lane" and "GPR" of A[i][k] or B[k][i], as a lane and the first bit.
  struct Place {
    unsigned lane, bit;
  };
  static Place input_place(const MatrixCase& c, unsigned edge, unsigned bits, unsigned depth,
                           unsigned block, unsigned i, unsigned k) {
    const unsigned groups = 64 / (edge * c.blocks);
    if (c.kind == Kind::kSelected && bits == 8) {
      // Sixteen to each group of lanes, and once more.
      const unsigned run = k / 16, group = run % groups;
      return {group * edge + i, (k % 16 + run / groups * 16) * 8};
    }
    const unsigned in_a_lane = depth / groups;
    return {k / in_a_lane * edge * c.blocks + block * edge + i, k % in_a_lane * bits};
  }
  static Place output_place(const MatrixCase& c, unsigned block, unsigned i, unsigned j) {
    const unsigned height = c.kind == Kind::kF64 ? 1 : 4, bits = c.kind == Kind::kF64 ? 64 : 32;
    const unsigned multirows = 64 / c.n;
    if (c.m * c.n / height >= 64) {
      const unsigned element =
          block * (c.m * c.n / 64) + i / height / multirows * height + i % height;
      return {i / height % multirows * c.n + j, element * bits};
    }
    return {(i / height * c.blocks + block) * c.n + j, i % height * bits};
  }

  static uint64_t bits_at(const std::vector<VectorRegister>& r, unsigned base, const Place& at,
                          unsigned count) {
    uint64_t value = 0;
    for (unsigned n = 0; n < count; ++n) {
      const unsigned bit = at.bit + n;
      value |= uint64_t{r[base + bit / 32].lane[at.lane] >> bit % 32 & 1} << n;
    }
    return value;
  }
  static void set_bits(std::vector<VectorRegister>& r, unsigned base, const Place& at,
                       unsigned count, uint64_t value) {
    for (unsigned n = 0; n < count; ++n) {
      const unsigned bit = at.bit + n;
      uint32_t& dword = r[base + bit / 32].lane[at.lane];
      dword = (dword & ~(1u << bit % 32)) | static_cast<uint32_t>(value >> n & 1) << bit % 32;
    }
  }

  static unsigned permuted(unsigned lane, unsigned blgp) {
    const unsigned quarters[8][4] = {{0, 1, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}, {1, 2, 3, 0},
                                     {0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}};
    return quarters[blgp][lane / 16] * 16 + lane % 16;
  }

  uint64_t expected(const MatrixCase& c, const Variant& v, uint64_t start,
                    const std::vector<uint64_t>& a, const std::vector<uint64_t>& b,
                    const std::vector<uint32_t>& a_scales,
                    const std::vector<uint32_t>& b_scales) const {
    if (c.kind == Kind::kI8) {
      auto sum = static_cast<uint32_t>(start);
      for (size_t k = 0; k < a.size(); ++k)
        sum += static_cast<uint32_t>(static_cast<int8_t>(a[k]) * static_cast<int8_t>(b[k]));
      return sum;
    }
    if (c.kind == Kind::kF64) {
      const auto negated = [&](unsigned source, uint64_t bits) {
        return std::bit_cast<double>(bits ^ uint64_t{v.blgp >> source & 1} << 63);
      };
      double sum = negated(2, start);
      for (size_t k = 0; k < a.size(); ++k) sum = std::fma(negated(0, a[k]), negated(1, b[k]), sum);
      return std::isnan(sum) ? 0x7ff8000000000000 : std::bit_cast<uint64_t>(sum);
    }
    if (c.kind == Kind::kF32) {
      auto sum = std::bit_cast<float>(static_cast<uint32_t>(start));
      for (size_t k = 0; k < a.size(); ++k)
        sum = std::fma(std::bit_cast<float>(static_cast<uint32_t>(a[k])),
                       std::bit_cast<float>(static_cast<uint32_t>(b[k])), sum);
      return std::isnan(sum) ? 0x7fc00000 : std::bit_cast<uint32_t>(sum);
    }
    std::vector<Factor> x, y;
    for (size_t k = 0; k < a.size(); ++k) {
      x.push_back(factor(c.a, static_cast<uint32_t>(a[k])));
      y.push_back(factor(c.b, static_cast<uint32_t>(b[k])));
      if (c.scaled) {
        x.back() = scaled(x.back(), a_scales[k / 32]);
        y.back() = scaled(y.back(), b_scales[k / 32]);
      }
    }
    Summing how = Summing::kExact;
    unsigned at_a_time = 1u << 20;
    if (gfx942()) {
      how = c.bits_a() == 8 ? Summing::kGrouped : Summing::kTruncated;
      at_a_time = c.bits_a() == 8 ? 16 : c.a == Element::kXf32 ? 4 : 8;
    }
    return sum_of_products(how, at_a_time, static_cast<uint32_t>(start), x, y);
  }

  uint64_t element(const MatrixCase& c, Element e, Style style, const std::vector<uint64_t>& given,
                   unsigned k) {
    if (given.empty()) return random_element(random_, c, e, style);
    return k < given.size() ? given[k] : 0;
  }

  void check(MatrixCase c, const Variant& v, unsigned samples) {
    if (c.kind == Kind::kSelected) {
      constexpr Element kSelected[] = {Element::kFp8, Element::kBf8, Element::kFp6, Element::kBf6,
                                       Element::kFp4};
      c.a = kSelected[v.cbsz];
      c.b = kSelected[v.blgp];
    }
    const unsigned out_bits = c.kind == Kind::kF64 ? 64 : 32;
    std::vector<VectorRegister> r(512);
    for (VectorRegister& reg : r) {
      for (uint32_t& lane : reg.lane) lane = static_cast<uint32_t>(random_());
    }
    const unsigned a_file = v.accumulators ? 256 : 0;
    for (unsigned block = 0; block < c.blocks; ++block) {
      for (unsigned i = 0; i < c.m; ++i) {
        for (unsigned k = 0; k < c.products(); ++k)
          set_bits(r, a_file + kA, input_place(c, c.m, c.bits_a(), c.products(), block, i, k),
                   c.bits_a(), element(c, c.a, v.style, v.a_row, k));
      }
      for (unsigned j = 0; j < c.n; ++j) {
        for (unsigned k = 0; k < c.k; ++k)
          set_bits(r, kB, input_place(c, c.n, c.bits_b(), c.k, block, j, k), c.bits_b(),
                   element(c, c.b, v.style, v.b_column, k));
      }
      const Style c_style = random_() % 2 != 0 ? v.style : Style::kNear;
      for (unsigned i = 0; i < c.m; ++i) {
        for (unsigned j = 0; j < c.n && c.kind != Kind::kI8; ++j) {
          uint64_t value =
              out_bits == 64 ? number(random_, 11, 52, c_style) : number(random_, 8, 23, c_style);
          if (v.start) value = std::bit_cast<uint32_t>(*v.start);
          set_bits(r, a_file + kC, output_place(c, block, i, j), out_bits, value);
        }
      }
    }
    if (c.scaled) {
      // Near 2^0, or anything.
      for (unsigned s = 0; s < 2; ++s) {
        for (uint32_t& lane : r[kScales + s].lane) {
          if (v.style != Style::kAny)
            lane = 0x7f7f7f7f + static_cast<uint32_t>(random_()) % 8 * 0x01010101 -
                   (static_cast<uint32_t>(random_()) & 0x07030107);
        }
      }
    }
    const std::vector<VectorRegister> before = r;

    Wave w;
    w.target = &decoder_->target();
    w.vgpr = r.data();
    w.agpr = r.data() + 256;
    w.set_exec(5);                                        // plays no part
    w.set_mode(static_cast<uint32_t>(random_() & 0xff));  // nor do its rounding and denormals
    Instruction i = decoded(c, v);
    if (HasFatalFailure()) return;
    // Over other operands: what LLVM's assembler refuses.
    if (!c.sparse) i.dst.index = static_cast<uint16_t>(v.destination);
    ASSERT_EQ(i.op, find_op(c.name.c_str())) << text_of(c, v) << " is refused";
    ASSERT_EQ(i.execute(w, i), Outcome::kNext);

    const unsigned d_base = a_file + i.dst.index;
    const unsigned all = c.blocks * c.m * c.n;
    for (unsigned s = 0; s < samples; ++s) {
      const auto which = static_cast<unsigned>(random_() % all);
      const unsigned block = which / (c.m * c.n), row = which / c.n % c.m, column = which % c.n;
      const unsigned a_block =
          c.sparse || c.kind == Kind::kSelected ? block : block - block % (1u << v.cbsz) + v.abid;
      std::vector<uint64_t> left, right;
      std::vector<uint32_t> a_scales, b_scales;
      for (unsigned t = 0; t < c.products(); ++t) {
        const Place a_at = input_place(c, c.m, c.bits_a(), c.products(), a_block, row, t);
        left.push_back(bits_at(before, a_file + kA, a_at, c.bits_a()));
        unsigned k = t;
        if (c.sparse) {
          // Two bits for each of a lane's elements, from the set's first on.
          const unsigned in_a_lane = c.products() / (64 / c.m);
          const unsigned set = v.cbsz == 0 ? v.abid : 0;
          const Place index = {a_at.lane, 2 * (set * in_a_lane + t % in_a_lane)};
          k = t / 2 * 4 + static_cast<unsigned>(bits_at(before, kIndices, index, 2));
        }
        Place b_at = input_place(c, c.n, c.bits_b(), c.k, block, column, k);
        if (c.permutes()) b_at.lane = permuted(b_at.lane, v.blgp);
        right.push_back(bits_at(before, kB, b_at, c.bits_b()));
      }
      for (unsigned part = 0; c.scaled && part < c.k / 32; ++part) {
        a_scales.push_back(static_cast<uint32_t>(
            bits_at(before, kScales, {part * c.m + row, v.scale_bytes[0] * 8}, 8)));
        b_scales.push_back(static_cast<uint32_t>(
            bits_at(before, kScales + 1, {part * c.n + column, v.scale_bytes[1] * 8}, 8)));
      }
      const Place d_at = output_place(c, block, row, column);
      uint64_t start = bits_at(before, a_file + kC, d_at, out_bits);
      if (v.constant_c && out_bits == 64) start = std::bit_cast<uint64_t>(double{*v.constant_c});
      if (v.constant_c && out_bits == 32) start = std::bit_cast<uint32_t>(*v.constant_c);
      const uint64_t want = expected(c, v, start, left, right, a_scales, b_scales);
      const uint64_t got = bits_at(r, d_base, d_at, out_bits);
      std::string operands;
      for (size_t t = 0; got != want && t < left.size(); ++t) {
        char text[64];
        std::snprintf(text, sizeof text, " %llx*%llx", static_cast<unsigned long long>(left[t]),
                      static_cast<unsigned long long>(right[t]));
        operands += text;
      }
      ASSERT_EQ(got, want) << c.name << " on " << GetParam() << ", block " << block << " row "
                           << row << " column " << column << " cbsz " << v.cbsz << " abid "
                           << v.abid << " blgp " << v.blgp << std::hex << " c " << start << ":"
                           << operands;
    }
    // Nothing else is written.
    for (unsigned n = 0; n < r.size(); ++n) {
      if (n >= d_base && n < d_base + c.m * c.n * c.blocks / 64 * out_bits / 32) continue;
      ASSERT_EQ(std::memcmp(&r[n], &before[n], sizeof r[n]), 0)
          << c.name << " writes register " << n;
    }
  }

  template <class F>
  void each(F&& f) {
    for (const MatrixCase& c : cases()) {
      f(c);
      if (HasFatalFailure()) return;
    }
  }

  std::unique_ptr<Decoder> decoder_;
  std::map<std::string, DecodedInstruction> decoded_;
  std::mt19937_64 random_{20261127};
};

constexpr Style kStyles[] = {Style::kAny,   Style::kNear,  Style::kSpread, Style::kDenormal,
                             Style::kLarge, Style::kZeros, Style::kTies,   Style::kOverflow};

testing::Covered matrix_model_covered([] {
  testing::Names names;
  names.insert(std::begin(kOfBoth), std::end(kOfBoth));
  names.insert(std::begin(kOfGfx942), std::end(kOfGfx942));
  names.insert(std::begin(kOfGfx950), std::end(kOfGfx950));
  return names;
});

TEST_P(MatrixModel, AnyOperands) {
  testing::Names mine;
  each([&](const MatrixCase& c) {
    for (const Style style : kStyles) {
      Variant v;
      v.style = style;
      check(c, v, 40);
    }
    mine.insert(c.name);
    matrix_model_covered.compared(c.name);
  });
  matrix_model_covered.expect_all([&](const std::string& name) { return mine.contains(name); });
}

TEST_P(MatrixModel, BroadcastsOfA) {
  each([&](const MatrixCase& c) {
    if (!c.broadcasts()) return;
    for (unsigned cbsz = 1; 1u << cbsz <= c.blocks; ++cbsz) {
      Variant v;
      v.style = Style::kNear;
      v.cbsz = cbsz;
      v.abid = static_cast<unsigned>(random_() % (1u << cbsz));
      check(c, v, 30);
    }
  });
}

TEST_P(MatrixModel, PermutationsOfB) {
  each([&](const MatrixCase& c) {
    if (!c.permutes()) return;
    for (unsigned blgp = 1; blgp < 8; ++blgp) {
      Variant v;
      v.style = Style::kNear;
      v.blgp = blgp;
      check(c, v, 30);
    }
  });
}

TEST_P(MatrixModel, NegationsOfF64) {
  each([&](const MatrixCase& c) {
    if (c.kind != Kind::kF64) return;
    for (unsigned blgp = 1; blgp < 8; ++blgp) {
      Variant v;
      v.style = Style::kNear;
      v.blgp = blgp;
      check(c, v, 100);
    }
  });
}

TEST_P(MatrixModel, SetsOfIndices) {
  each([&](const MatrixCase& c) {
    if (!c.sparse) return;
    const unsigned sets = 32 / (2 * c.products() * c.m / 64);
    for (unsigned abid = 0; abid < sets; ++abid) {
      for (const unsigned cbsz : {0u, 1u, 3u}) {
        Variant v;
        v.style = Style::kNear;
        v.cbsz = cbsz;
        v.abid = abid;
        check(c, v, 30);
      }
    }
  });
}

TEST_P(MatrixModel, ConstantsAsC) {
  each([&](const MatrixCase& c) {
    if (c.sparse) return;
    Variant v;
    v.style = Style::kNear;
    v.constant_c = 1.0f;
    check(c, v, 30);
  });
}

// Sums that are ties but for bits that gfx942 rounds away before.
TEST_P(MatrixModel, LastPlaceOfDenormals) {
  each([&](const MatrixCase& c) {
    if (c.sparse || c.kind != Kind::kSmallFloats) return;
    if (c.a != Element::kBf16 && c.a != Element::kXf32) return;
    Variant v;
    v.style = Style::kTiny;
    v.constant_c = 0.0f;
    check(c, v, 500);
  });
}

TEST_P(MatrixModel, TiesOfEitherSign) {
  each([&](const MatrixCase& c) {
    if (c.sparse || c.kind != Kind::kSmallFloats || c.bits_a() < 16) return;
    for (const float start : {256.0f, -256.0f}) {
      Variant v;
      v.style = Style::kHalves;
      v.start = start;
      check(c, v, 500);
    }
  });
}

// 2^100 + 1 + 2^-24 + 2^-100 - 2^100: what is left is a tie but for the smallest.
TEST_P(MatrixModel, CancellationAcrossTheRange) {
  each([&](const MatrixCase& c) {
    if (c.sparse || c.a != Element::kBf16 || c.kind != Kind::kSmallFloats || c.k < 8) return;
    const auto power = [](int exponent) { return static_cast<uint64_t>(127 + exponent) << 7; };
    Variant v;
    v.constant_c = 0.0f;
    v.a_row = {power(50), power(0), power(-12), power(-50), power(50)};
    v.b_column = {power(50), power(0), power(-12), power(-50), power(50) | 0x8000};
    check(c, v, 20);
  });
}

TEST_P(MatrixModel, AccumulatorsAsOperands) {
  each([&](const MatrixCase& c) {
    Variant v;
    v.style = Style::kNear;
    v.accumulators = true;
    check(c, v, 30);
  });
}

// D over A, over B, over C and over part of C: everything is read first.
TEST_P(MatrixModel, DestinationsOverSources) {
  each([&](const MatrixCase& c) {
    if (c.sparse) return;
    for (const unsigned destination : {kA, kB, kC, kC + 2}) {
      Variant v;
      v.style = Style::kNear;
      v.destination = destination;
      check(c, v, 30);
    }
  });
}

TEST_P(MatrixModel, TypesOfF8f6f4) {
  each([&](const MatrixCase& c) {
    if (c.kind != Kind::kSelected) return;
    for (unsigned pair = 0; pair < 25; ++pair) {
      Variant v;
      v.style = kStyles[pair % std::size(kStyles)];
      v.cbsz = pair / 5;
      v.blgp = pair % 5;
      v.scale_bytes[0] = pair % 4;
      v.scale_bytes[1] = pair / 4 % 4;
      check(c, v, 20);
    }
  });
}

// The lists are LLVM's; what the table has beyond them, MI100 and MI200 have (test_matrix.cpp).
TEST_P(MatrixModel, EveryNameIsInTheTable) {
  for (const MatrixCase& c : cases())
    EXPECT_NE(find_opcode(find_op(c.name.c_str())), nullptr) << c.name;
}

TEST_P(MatrixModel, EveryNameOfTheTableIsListed) {
  std::set<Op> listed;
  for (const auto names :
       {std::span<const char* const>(kOfBoth), std::span<const char* const>(kOfGfx942),
        std::span<const char* const>(kOfGfx950)}) {
    for (const char* const name : names) listed.insert(find_op(name));
  }
  for (const Opcode& opcode : matrix_opcodes()) {
    const Row& row = row_of(opcode.op);
    const bool is_older = std::ranges::any_of(
        row.all_encodings(), [](const Encoding& e) { return e.first < Generation::kGfx942; });
    EXPECT_TRUE(is_older || listed.contains(opcode.op)) << row.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Processors, MatrixModel, ::testing::Values("gfx942", "gfx950"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace halyard::vgpu::isa::model
