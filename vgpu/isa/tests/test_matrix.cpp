// Every matrix instruction of gfx908 and gfx90a, by their names, against a model that goes element
// by element, on random and edge-case operands and with every legal modifier.

#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "vgpu/isa/coverage.h"
#include "vgpu/isa/matrix_layout.h"
#include "vgpu/isa/opcode.h"
#include "vgpu/isa/tests/covered.h"
#include "vgpu/isa/tests/exact_sum.h"
#include "vgpu/isa/tests/machine.h"
#include "vgpu/isa/valu/half.h"

namespace halyard::vgpu::isa::testing {
namespace {

enum class Kind { kF32, kF16, kBf16, kBf16x4, kI8, kF64 };

struct MatrixCase {
  const char* name;
  Kind kind;
  unsigned m, n, k, blocks;
  bool gfx90a_only;
};

constexpr MatrixCase kCases[] = {
    {"v_mfma_f32_32x32x1f32", Kind::kF32, 32, 32, 1, 2, false},
    {"v_mfma_f32_16x16x1f32", Kind::kF32, 16, 16, 1, 4, false},
    {"v_mfma_f32_4x4x1f32", Kind::kF32, 4, 4, 1, 16, false},
    {"v_mfma_f32_32x32x2f32", Kind::kF32, 32, 32, 2, 1, false},
    {"v_mfma_f32_16x16x4f32", Kind::kF32, 16, 16, 4, 1, false},
    {"v_mfma_f32_32x32x4f16", Kind::kF16, 32, 32, 4, 2, false},
    {"v_mfma_f32_16x16x4f16", Kind::kF16, 16, 16, 4, 4, false},
    {"v_mfma_f32_4x4x4f16", Kind::kF16, 4, 4, 4, 16, false},
    {"v_mfma_f32_32x32x8f16", Kind::kF16, 32, 32, 8, 1, false},
    {"v_mfma_f32_16x16x16f16", Kind::kF16, 16, 16, 16, 1, false},
    {"v_mfma_i32_32x32x4i8", Kind::kI8, 32, 32, 4, 2, false},
    {"v_mfma_i32_16x16x4i8", Kind::kI8, 16, 16, 4, 4, false},
    {"v_mfma_i32_4x4x4i8", Kind::kI8, 4, 4, 4, 16, false},
    {"v_mfma_i32_32x32x8i8", Kind::kI8, 32, 32, 8, 1, false},
    {"v_mfma_i32_16x16x16i8", Kind::kI8, 16, 16, 16, 1, false},
    {"v_mfma_f32_32x32x2bf16", Kind::kBf16, 32, 32, 2, 2, false},
    {"v_mfma_f32_16x16x2bf16", Kind::kBf16, 16, 16, 2, 4, false},
    {"v_mfma_f32_4x4x2bf16", Kind::kBf16, 4, 4, 2, 16, false},
    {"v_mfma_f32_32x32x4bf16", Kind::kBf16, 32, 32, 4, 1, false},
    {"v_mfma_f32_16x16x8bf16", Kind::kBf16, 16, 16, 8, 1, false},
    {"v_mfma_f32_32x32x4bf16_1k", Kind::kBf16x4, 32, 32, 4, 2, true},
    {"v_mfma_f32_16x16x4bf16_1k", Kind::kBf16x4, 16, 16, 4, 4, true},
    {"v_mfma_f32_4x4x4bf16_1k", Kind::kBf16x4, 4, 4, 4, 16, true},
    {"v_mfma_f32_32x32x8bf16_1k", Kind::kBf16x4, 32, 32, 8, 1, true},
    {"v_mfma_f32_16x16x16bf16_1k", Kind::kBf16x4, 16, 16, 16, 1, true},
    {"v_mfma_f64_16x16x4f64", Kind::kF64, 16, 16, 4, 1, true},
    {"v_mfma_f64_4x4x4f64", Kind::kF64, 4, 4, 4, 4, true},
};

using Rows = std::vector<uint32_t>;  // dword d of lane l at [64 * d + l]

unsigned element_bits(Kind kind) {
  switch (kind) {
    case Kind::kI8:
      return 8;
    case Kind::kF16:
    case Kind::kBf16:
    case Kind::kBf16x4:
      return 16;
    case Kind::kF32:
      return 32;
    case Kind::kF64:
      return 64;
  }
  return 0;
}
unsigned input_dwords(const MatrixCase& c) {
  return c.m * c.k * c.blocks / 64 * element_bits(c.kind) / 32;
}
unsigned output_dwords(const MatrixCase& c) {
  return c.m * c.n * c.blocks / 64 * (c.kind == Kind::kF64 ? 2 : 1);
}

// The bits of element `e` of a lane.
uint64_t element(const Rows& rows, unsigned lane, unsigned e, unsigned bits) {
  if (bits == 64) {
    return rows[64 * (2 * e) + lane] | uint64_t{rows[64 * (2 * e + 1) + lane]} << 32;
  }
  const unsigned at = e * bits;
  const uint32_t dword = rows[64 * (at / 32) + lane];
  return dword >> at % 32 & (bits == 32 ? ~0u : (1u << bits) - 1);
}

double value_of(Kind kind, uint64_t bits) {
  switch (kind) {
    case Kind::kI8:
      return static_cast<int8_t>(bits);
    case Kind::kF16:
      return valu::to_f32(valu::F16{static_cast<uint16_t>(bits)});
    case Kind::kBf16:
    case Kind::kBf16x4:
      return std::bit_cast<float>(static_cast<uint32_t>(bits << 16));
    case Kind::kF32:
      return std::bit_cast<float>(static_cast<uint32_t>(bits));
    case Kind::kF64:
      return std::bit_cast<double>(bits);
  }
  return 0;
}

// --- The arithmetic, as matrix_arithmetic.h's head describes it.

float flushed(float x) {
  return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x;
}
float exact_step(float c, const float* a, const float* b, unsigned count) {
  double plain = c;
  for (unsigned s = 0; s < count; ++s) plain += double{a[s]} * b[s];
  bool finite = std::isfinite(c);
  for (unsigned s = 0; s < count; ++s)
    finite = finite && std::isfinite(a[s]) && std::isfinite(b[s]);
  if (!finite) return static_cast<float>(plain);
  ExactSum sum;
  sum.add(c, 1);
  for (unsigned s = 0; s < count; ++s) sum.add(a[s], b[s]);
  return sum.rounded();
}
float flushing_step(float c, const float* a, const float* b, unsigned count) {
  float p[4] = {};
  for (unsigned s = 0; s < count; ++s) p[s] = flushed(a[s] * b[s]);
  float sum = flushed(p[0] + p[1]);
  if (count == 4) sum = flushed(sum + flushed(p[2] + p[3]));
  return flushed(c + sum);
}

// One element of D, as bits.
uint64_t model(const MatrixCase& c, bool gfx90a, uint64_t start, const std::vector<uint64_t>& a,
               const std::vector<uint64_t>& b) {
  if (c.kind == Kind::kI8) {
    int64_t sum = static_cast<int32_t>(start);
    for (unsigned k = 0; k < c.k; ++k)
      sum += static_cast<int64_t>(value_of(c.kind, a[k]) * value_of(c.kind, b[k]));
    return static_cast<uint32_t>(sum);
  }
  if (c.kind == Kind::kF64) {
    double sum = std::bit_cast<double>(start);
    for (unsigned k = 0; k < c.k; ++k)
      sum = std::fma(std::bit_cast<double>(a[k]), std::bit_cast<double>(b[k]), sum);
    return std::isnan(sum) ? 0x7ff8000000000000 : std::bit_cast<uint64_t>(sum);
  }
  float sum = std::bit_cast<float>(static_cast<uint32_t>(start));
  std::vector<float> x(c.k), y(c.k);
  for (unsigned k = 0; k < c.k; ++k) {
    x[k] = static_cast<float>(value_of(c.kind, a[k]));
    y[k] = static_cast<float>(value_of(c.kind, b[k]));
  }
  if (c.kind == Kind::kF32) {
    for (unsigned k = 0; k < c.k; ++k) sum = std::fma(x[k], y[k], sum);
  } else {
    const unsigned step = c.kind == Kind::kBf16 ? 2 : 4;
    if (gfx90a) {
      const float smallest = c.kind == Kind::kF16 ? 0x1p-14f : 0x1p-126f;
      for (unsigned k = 0; k < c.k; ++k) {
        if (std::fabs(x[k]) < smallest) x[k] = 0;
        if (std::fabs(y[k]) < smallest) y[k] = 0;
      }
      if (std::fabs(sum) < 0x1p-126f) sum = 0;
    }
    for (unsigned k = 0; k < c.k; k += step) {
      sum = gfx90a ? flushing_step(sum, &x[k], &y[k], step) : exact_step(sum, &x[k], &y[k], step);
    }
  }
  return std::isnan(sum) ? 0x7fc00000u : std::bit_cast<uint32_t>(sum);
}

// --- The layout, element by element (AMD's calculator).

struct Place {
  unsigned lane, element;
};
Place input_place(unsigned edge, unsigned k_total, unsigned blocks, unsigned block, unsigned i,
                  unsigned k) {
  const unsigned lanes_for_all_blocks = edge * blocks;
  const unsigned in_a_lane = k_total / (64 / lanes_for_all_blocks);
  return {(k / in_a_lane) * lanes_for_all_blocks + block * edge + i, k % in_a_lane};
}
Place output_place(const MatrixCase& c, unsigned block, unsigned i, unsigned j) {
  const unsigned height = c.kind == Kind::kF64 ? 1 : 4;
  const unsigned multirows = 64 / c.n;
  const unsigned multirows_of_a_block = c.m / height;
  if (c.m * c.n / height >= 64) {
    const unsigned element =
        block * (c.m * c.n / 64) + i / height / multirows * height + i % height;
    return {i / height % multirows * c.n + j, element};
  }
  // Several blocks share the lanes: all blocks' first multirow, then all blocks' second one …
  EXPECT_LE(multirows_of_a_block * c.blocks, multirows);
  return {(i / height * c.blocks + block) * c.n + j, i % height};
}

// --- Operands.

uint32_t random_float16(std::mt19937_64& random, bool bf16) {
  const auto pick = random() % 16;
  const uint32_t sign = random() % 2 ? 0x8000 : 0;
  const unsigned mantissa = bf16 ? 7 : 10;
  const uint32_t exponents = bf16 ? 0xff : 0x1f;
  const uint32_t fraction = static_cast<uint32_t>(random()) & ((1u << mantissa) - 1);
  const uint32_t middle = exponents / 2;
  if (pick == 0) return sign;
  if (pick == 1) return sign | fraction;  // denormal
  if (pick == 2) return sign | (exponents - 1) << mantissa | fraction;
  if (pick < 6)
    return sign | static_cast<uint32_t>(1 + random() % (exponents - 1)) << mantissa | fraction;
  return sign | static_cast<uint32_t>(middle - 3 + random() % 7) << mantissa | fraction;
}

uint32_t random_float32(std::mt19937_64& random) {
  const auto pick = random() % 16;
  const uint32_t bits = static_cast<uint32_t>(random());
  if (pick == 0) return bits & 0x80000000;
  if (pick == 1) return bits & 0x807fffff;
  if (pick < 5) return (bits & 0x7f800000) == 0x7f800000 ? bits & 0xbfffffff : bits;
  return (bits & 0x807fffff) | static_cast<uint32_t>(120 + random() % 15) << 23;
}

// `special`: also infinities and NaNs.
void fill(Rows& rows, Kind kind, bool special, std::mt19937_64& random) {
  for (size_t n = 0; n < rows.size(); ++n) {
    uint32_t& dword = rows[n];
    const bool rare = special && random() % 64 == 0;
    switch (kind) {
      case Kind::kI8:
        dword = static_cast<uint32_t>(random());
        break;
      case Kind::kF16:
        dword = random_float16(random, false) | random_float16(random, false) << 16;
        if (rare) dword = random() % 2 ? 0x7c003c00 : 0x3c00fe01;
        break;
      case Kind::kBf16:
      case Kind::kBf16x4:
        dword = random_float16(random, true) | random_float16(random, true) << 16;
        if (rare) dword = random() % 2 ? 0xff803f80 : 0x3f807fc1;
        break;
      case Kind::kF32:
        dword = random_float32(random);
        if (rare) dword = random() % 2 ? 0x7f800000 : 0xffc00001;
        break;
      case Kind::kF64:
        dword = static_cast<uint32_t>(random());
        // The dword with the exponent: near 1, or anything.
        if (n / 64 % 2 == 1 && random() % 4)
          dword = (dword & 0x800fffff) | static_cast<uint32_t>(1020 + random() % 7) << 20;
        if (n / 64 % 2 == 1 && rare) dword = 0x7ff00000;
        break;
    }
  }
}

Kind output_kind(Kind kind) {
  if (kind == Kind::kI8 || kind == Kind::kF64) return kind;
  return Kind::kF32;
}

struct Variant {
  unsigned cbsz = 0, abid = 0, blgp = 0;
  const char* constant = nullptr;  // of C, as the assembler writes it
  uint64_t constant_bits = 0;
  bool vgprs = false;     // gfx90a: C and D in VGPRs
  bool in_place = false;  // D over C
  bool exec_off = false;  // which must not matter
};

class Matrices : public ::testing::TestWithParam<const char*> {
 protected:
  bool gfx90a() const { return std::string(GetParam()) == "gfx90a"; }

  static std::string registers(const char* file, unsigned first, unsigned count) {
    if (count == 1) return file + std::to_string(first);
    return std::string(file) + "[" + std::to_string(first) + ":" +
           std::to_string(first + count - 1) + "]";
  }

  // A in v8, B in v16, C in v/a 32, D in v/a 64 or over C.
  std::string text(const MatrixCase& c, const Variant& v) const {
    const unsigned in = input_dwords(c), out = output_dwords(c);
    const char* const file = v.vgprs ? "v" : "a";
    std::string t = R"(
      s_load_dwordx8 s[8:15], s[0:1], 0x0
      v_and_b32 v0, 0x3ff, v0
      v_lshlrev_b32 v0, 2, v0
      s_waitcnt lgkmcnt(0)
    )";
    const auto load = [&](const char* kind, unsigned first, unsigned count, const char* base) {
      t += "v_mov_b32 v1, v0\n";
      for (unsigned d = 0; d < count; ++d) {
        t += "global_load_dword v2, v1, " + std::string(base) + "\ns_waitcnt vmcnt(0)\n";
        t += *kind == 'v' ? "v_mov_b32 v" : "v_accvgpr_write_b32 a";
        t += std::to_string(first + d) + ", v2\nv_add_u32 v1, 0x100, v1\n";
      }
    };
    load("v", 8, in, "s[8:9]");
    load("v", 16, in, "s[10:11]");
    load(file, 32, out, "s[12:13]");
    const unsigned destination = v.in_place ? 32 : 64;
    if (v.exec_off) t += "s_mov_b64 exec, 5\n";
    t += std::string(c.name) + " " + registers(file, destination, out) + ", " +
         registers("v", 8, in) + ", " + registers("v", 16, in) + ", " +
         (v.constant ? v.constant : registers(file, 32, out));
    if (v.cbsz) t += " cbsz:" + std::to_string(v.cbsz);
    if (v.abid) t += " abid:" + std::to_string(v.abid);
    if (v.blgp) t += " blgp:" + std::to_string(v.blgp);
    t += "\ns_mov_b64 exec, -1\nv_mov_b32 v1, v0\n";
    for (unsigned d = 0; d < out; ++d) {
      t += v.vgprs ? "v_mov_b32 v2, v" : "v_accvgpr_read_b32 v2, a";
      t += std::to_string(destination + d) +
           "\nglobal_store_dword v1, v2, s[14:15]\nv_add_u32 v1, 0x100, v1\n";
    }
    return t;
  }

  void check(Machine& m, const MatrixCase& c, const Variant& v, std::mt19937_64& random,
             bool special) {
    const unsigned bits = element_bits(c.kind);
    Rows a(64 * input_dwords(c)), b(a.size()), start(64 * output_dwords(c));
    fill(a, c.kind, special, random);
    fill(b, c.kind, special, random);
    fill(start, output_kind(c.kind), special, random);
    auto* const memory = m.allocate<uint32_t>(2 * a.size() + 2 * start.size());
    std::copy(a.begin(), a.end(), memory);
    std::copy(b.begin(), b.end(), memory + a.size());
    std::copy(start.begin(), start.end(), memory + 2 * a.size());
    uint32_t* const out = memory + 2 * a.size() + start.size();
    KernelOptions options;
    options.vgprs = gfx90a() ? 256 : 128;
    options.rsrc3 = 128 / 4 - 1;
    const std::string code = text(c, v);
    m.expect_ok(code,
                {address_of(memory), address_of(memory + a.size()),
                 address_of(memory + 2 * a.size()), address_of(out)},
                {}, options);
    const Rows result(out, out + start.size());
    const unsigned out_bits = c.kind == Kind::kF64 ? 64 : 32;
    for (unsigned block = 0; block < c.blocks; ++block) {
      const unsigned a_block = block - block % (1u << v.cbsz) + v.abid;
      for (unsigned i = 0; i < c.m; ++i) {
        for (unsigned j = 0; j < c.n; ++j) {
          std::vector<uint64_t> left(c.k), right(c.k);
          for (unsigned k = 0; k < c.k; ++k) {
            const Place at = input_place(c.m, c.k, c.blocks, a_block, i, k);
            left[k] = element(a, at.lane, at.element, bits);
            const Place bt = input_place(c.n, c.k, c.blocks, block, j, k);
            right[k] = element(b, permute(bt.lane, v.blgp), bt.element, bits);
          }
          const Place d = output_place(c, block, i, j);
          const uint64_t first =
              v.constant ? v.constant_bits : element(start, d.lane, d.element, out_bits);
          const uint64_t expected = model(c, gfx90a(), first, left, right);
          const uint64_t got = element(result, d.lane, d.element, out_bits);
          ASSERT_EQ(got, expected)
              << c.name << " block " << block << " row " << i << " column " << j << std::hex
              << " c 0x" << first << " a0 0x" << left[0] << " b0 0x" << right[0] << "\n"
              << code;
        }
      }
    }
  }

  // BLGP by the words of the calculator.
  static unsigned permute(unsigned lane, unsigned blgp) {
    const unsigned quarter = lane / 16, in_quarter = lane % 16;
    const unsigned quarters[8][4] = {{0, 1, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}, {1, 2, 3, 0},
                                     {0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}};
    return quarters[blgp][quarter] * 16 + in_quarter;
  }

  template <class F>
  void each(F&& f) {
    for (const MatrixCase& c : kCases) {
      if (c.gfx90a_only && !gfx90a()) continue;
      f(c);
      if (HasFatalFailure()) return;
    }
  }

  Machine machine() const {
    EngineOptions options;
    options.processor = GetParam();
    return Machine(options);
  }
  std::mt19937_64 random{20260101};
};

Covered matrices_covered([] {
  Names names;
  for (const MatrixCase& c : kCases) names.insert(c.name);
  return names;
});

TEST_P(Matrices, FiniteOperands) {
  Machine m = machine();
  each([&](const MatrixCase& c) {
    for (int round = 0; round < 4; ++round) check(m, c, {}, random, false);
    matrices_covered.compared(c.name);
  });
  const std::set<std::string> implemented = find_coverage(GetParam()).implemented;
  matrices_covered.expect_all([&](const std::string& name) { return implemented.contains(name); });
}

TEST_P(Matrices, InfinitiesAndNans) {
  Machine m = machine();
  each([&](const MatrixCase& c) {
    for (int round = 0; round < 2; ++round) check(m, c, {}, random, true);
  });
}

TEST_P(Matrices, BroadcastsOfA) {
  Machine m = machine();
  each([&](const MatrixCase& c) {
    if (c.kind == Kind::kF64) return;
    for (unsigned cbsz = 1; 1u << cbsz <= c.blocks; ++cbsz) {
      Variant v;
      v.cbsz = cbsz;
      v.abid = static_cast<unsigned>(random() % (1u << cbsz));
      check(m, c, v, random, false);
      v.abid = (1u << cbsz) - 1;
      check(m, c, v, random, false);
    }
  });
}

TEST_P(Matrices, PermutationsOfB) {
  Machine m = machine();
  each([&](const MatrixCase& c) {
    if (c.kind == Kind::kF64) return;
    for (unsigned blgp = 1; blgp < 8; ++blgp) {
      Variant v;
      v.blgp = blgp;
      check(m, c, v, random, false);
    }
  });
}

TEST_P(Matrices, ConstantsAsC) {
  if (!gfx90a()) GTEST_SKIP() << "gfx908 cannot (LLVM's FeatureMFMAInlineLiteralBug)";
  Machine m = machine();
  each([&](const MatrixCase& c) {
    Variant v;
    v.constant = "0";
    check(m, c, v, random, false);
    v.constant = "1.0";
    v.constant_bits = c.kind == Kind::kF64 ? 0x3ff0000000000000 : 0x3f800000;
    check(m, c, v, random, false);
    v.constant = "-5";
    v.constant_bits = c.kind == Kind::kF64 ? ~uint64_t{4} : 0xfffffffb;
    check(m, c, v, random, false);
  });
}

TEST_P(Matrices, DOverC) {
  Machine m = machine();
  each([&](const MatrixCase& c) {
    Variant v;
    v.in_place = true;
    check(m, c, v, random, false);
  });
}

TEST_P(Matrices, ExecPlaysNoPart) {
  Machine m = machine();
  each([&](const MatrixCase& c) {
    Variant v;
    v.exec_off = true;
    check(m, c, v, random, false);
  });
}

TEST_P(Matrices, CAndDInVgprs) {
  if (!gfx90a()) GTEST_SKIP() << "gfx908 has them in AGPRs only";
  Machine m = machine();
  each([&](const MatrixCase& c) {
    Variant v;
    v.vgprs = true;
    check(m, c, v, random, false);
  });
}

// MI300's names have an underscore before the type; model/test_matrix_model.cpp tests those.
bool is_of_mi300(const std::string& name) {
  const size_t shape = name.rfind('x');
  const size_t depth_end = name.find_first_not_of("0123456789", shape + 1);
  return name.starts_with("v_smfmac") || name[depth_end] == '_' || name.find("xf32") != name.npos;
}

TEST_P(Matrices, EveryOneOfTheTableIsTested) {
  for (const Opcode& opcode : matrix_opcodes()) {
    if (is_of_mi300(row_of(opcode.op).name)) continue;
    const bool tested = std::any_of(std::begin(kCases), std::end(kCases), [&](const MatrixCase& c) {
      return c.name == std::string(row_of(opcode.op).name);
    });
    EXPECT_TRUE(tested) << row_of(opcode.op).name;
  }
}

TEST_P(Matrices, ModifiersThatNobodyDefinesAreRefused) {
  Machine m = machine();
  KernelOptions options;
  options.vgprs = gfx90a() ? 256 : 128;
  options.rsrc3 = 128 / 4 - 1;
  for (const char* text : {"v_mfma_f32_32x32x2f32 a[0:15], v0, v1, a[0:15] cbsz:1",
                           "v_mfma_f32_32x32x1f32 a[0:31], v0, v1, a[0:31] cbsz:2",
                           "v_mfma_f32_32x32x1f32 a[0:31], v0, v1, a[0:31] abid:1"}) {
    const DispatchResult result = m.run(m.kernel(text, options), {0, 0});
    EXPECT_EQ(result.fault.kind, Fault::Kind::kIllegalInstruction) << text;
  }
}

// By LLVM's assembler, but for what it refuses.
void expect_refused(const char* processor, std::initializer_list<const char*> texts) {
  EngineOptions engine;
  engine.processor = processor;
  Machine m(engine);
  KernelOptions options;
  options.vgprs = 64;
  options.rsrc3 = 64 / 4 - 1;
  for (const char* text : texts) {
    const DispatchResult result = m.run(m.kernel(text, options), {0, 0});
    EXPECT_EQ(result.fault.kind, Fault::Kind::kIllegalInstruction) << text;
  }
}

TEST(MatrixModifiers, WhatTheyCannotMeanIsRefused) {
  expect_refused("gfx90a", {"v_mfma_f64_4x4x4f64 v[0:1], v[4:5], v[8:9], v[0:1] cbsz:1"});
  for (const char* processor : {"gfx942", "gfx950"}) {
    expect_refused(processor,
                   {"v_mfma_f32_32x32x2_f32 v[0:15], v0, v1, v[0:15] cbsz:1",
                    "v_mfma_f64_4x4x4_4b_f64 v[0:1], v[4:5], v[8:9], v[0:1] cbsz:1",
                    "v_mfma_f32_32x32x8_f16 v[0:15], v[16:17], v[18:19], v[0:15] blgp:1",
                    "v_mfma_f32_16x16x16_bf16 v[0:3], v[16:17], v[18:19], v[0:3] blgp:3",
                    "v_mfma_f32_32x32x16_fp8_fp8 v[0:15], v[0:1], v[2:3], v[0:15] blgp:1",
                    "v_mfma_i32_16x16x32_i8 v[0:3], v[0:1], v[2:3], v[0:3] blgp:2",
                    "v_mfma_i32_16x16x32_i8 v[0:3], v[0:1], v[2:3], v[0:3] cbsz:1",
                    "v_smfmac_f32_16x16x32_f16 v[0:3], v[4:5], v[8:11], v12 abid:4",
                    "v_smfmac_f32_16x16x32_f16 v[0:3], v[4:5], v[8:11], v12 cbsz:4",
                    "v_smfmac_i32_16x16x64_i8 v[0:3], v[4:5], v[8:11], v12 abid:2"});
  }
  expect_refused(
      "gfx950",
      {"v_smfmac_i32_16x16x128_i8 v[0:3], v[4:7], v[8:15], v16 abid:1",
       // Types 5 to 7, and scales that are no VGPRs, or not the kernel's.
       ".long 0xd3ad0500, 0x04021108", ".long 0xd3ad0000, 0xa4021108",
       ".long 0xd3ac0000, 0x00020a80, 0xd3ad0800, 0x04021108",
       "v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[8:15], v[16:23], v[0:3], v64, v4",
       "v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[8:15], v[16:23], v[0:3], v4, v255",
       // Scales for nobody.
       "v_mfma_ld_scale_b32 v0, v1\ns_nop 0",
       ".long 0xd3ac0000, 0x00020b04, 0xd3ad0000, 0x04021108", ".long 0xd3ad0800, 0x04021108"});
}

// Four registers of fp4 may be the last ones.
TEST(MatrixModifiers, NarrowTypesNeedFewerRegisters) {
  EngineOptions engine;
  engine.processor = "gfx950";
  Machine m(engine);
  KernelOptions options;
  options.vgprs = 64;
  options.rsrc3 = 64 / 4 - 1;
  m.expect_ok("v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[60:63], v[8:15], v[0:3] cbsz:4", {0, 0}, {},
              options);
  m.expect_ok(
      "v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[58:63], v[58:63], v[0:3], v63, v63 "
      "cbsz:2 blgp:3",
      {0, 0}, {}, options);
}

INSTANTIATE_TEST_SUITE_P(Processors, Matrices, ::testing::Values("gfx908", "gfx90a"),
                         [](const auto& info) { return std::string(info.param); });

// What amd-lab-notes' examples say of where D is, in its own words: "lanes 0-15 cover the first row
// of each of the four D matrices", and so on.
TEST(MatrixLayout, AgreesWithThePublishedExamples) {
  constexpr OutputLayout kSmall({4, 4, 4, 4}, 8);
  static_assert(kSmall.lane(1, 0) == 4 && kSmall.lane(0, 1) == 16 && kSmall.lane(3, 3) == 60);
  constexpr OutputLayout kWide({16, 16, 4, 1}, 8);
  static_assert(kWide.lane(0, 1) == 16 && kWide.element(0, 1) == 0 && kWide.element(0, 4) == 1);
  constexpr OutputLayout kLarge({32, 32, 1, 2}, 4);
  static_assert(kLarge.element(0, 3) == 3 && kLarge.lane(0, 4) == 32 && kLarge.element(0, 4) == 0);
  static_assert(kLarge.element(0, 8) == 4 && kLarge.element(1, 0) == 16);
  constexpr InputLayout kInput(16, 16, 1);
  static_assert(kInput.per_lane == 4 && kInput.lane(0, 3, 4) == 19 && kInput.element(7) == 3);
}

}  // namespace
}  // namespace halyard::vgpu::isa::testing
