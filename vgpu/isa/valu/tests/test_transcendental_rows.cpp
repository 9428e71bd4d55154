// The transcendental functions on rows of different numbers, in the default mode: each lane has the
// value that f64 or long double gives, rounded once. Of f16 every number there is; of f32 one in
// 4,093, or in HALYARD_F32_STRIDE (1, scripts/nightly functions: every one).

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <ostream>
#include <string>
#include <string_view>

#include "vgpu/isa/valu/half.h"
#include "vgpu/isa/valu/tests/machine.h"

namespace halyard::vgpu::isa::test {
namespace {

// An angle in turns. Quarters are exact, where pi is not.
long double sine(double turns) {
  if (turns == 0) return turns;
  const double rest = turns - std::nearbyint(turns);
  const double quarter = std::fabs(rest) > 0.25 ? std::copysign(0.5, rest) - rest : rest;
  return std::sin(quarter * 6.283185307179586476925286766559L);
}
long double cosine(double turns) {
  const double rest = std::fabs(turns - std::nearbyint(turns));
  return std::sin((0.25 - rest) * 6.283185307179586476925286766559L);
}

struct Function {
  const char* name;
  double (*value)(double);
};
void PrintTo(const Function& f, std::ostream* out) {
  *out << f.name;
}
constexpr Function kFunctions[] = {
    {"v_rcp_", [](double x) { return 1 / x; }},
    {"v_rsq_", [](double x) { return 1 / std::sqrt(x); }},
    {"v_sqrt_", [](double x) { return std::sqrt(x); }},
    {"v_exp_", [](double x) { return std::exp2(x); }},
    {"v_log_", [](double x) { return std::log2(x); }},
    {"v_sin_",
     [](double x) {
       if (std::isinf(x)) return std::numeric_limits<double>::quiet_NaN();
       return static_cast<double>(std::fabs(x) > 256 ? std::copysign(0.0L, x) : sine(x));
     }},
    {"v_cos_",
     [](double x) {
       if (std::isinf(x)) return std::numeric_limits<double>::quiet_NaN();
       return static_cast<double>(std::fabs(x) > 256 ? 1.0L : cosine(x));
     }},
};

// Denormals are flushed, but by sines and cosines.
uint32_t expected_f32(const Function& f, uint32_t x) {
  const std::string_view name = f.name;
  const bool keeps = name == "v_sin_" || name == "v_cos_";
  const auto flushed = [keeps](uint32_t y) {
    return !keeps && (y & 0x7f800000) == 0 ? y & 0x80000000 : y;
  };
  if ((x & 0x7fffffff) > 0x7f800000) return x | 0x00400000;
  const auto result = static_cast<float>(f.value(f32(flushed(x))));
  return std::isnan(result) ? 0x7fc00000 : flushed(bits(result));
}
uint32_t expected_f16(const Function& f, uint32_t x) {
  if ((x & 0x7fff) > 0x7c00) return x | 0x0200;
  const double result = f.value(valu::to_f64(valu::F16{static_cast<uint16_t>(x)}));
  return std::isnan(result) ? 0x7e00u : valu::round_f16(result, valu::kNearestEven).bits;
}

uint64_t stride_of_f32() {
  const char* const text = std::getenv("HALYARD_F32_STRIDE");
  const long long stride = text == nullptr ? 0 : std::atoll(text);
  return stride > 0 ? static_cast<uint64_t>(stride) : 4093;
}

class RowsOf : public testing::TestWithParam<Function> {
 protected:
  // All lanes of v0 through the instruction, to v8.
  void run(const std::string& mnemonic) {
    Instruction in = Machine::make(mnemonic.c_str());
    in.src[0] = vreg(0);
    in.dst = vreg(8);
    machine.run(in);
  }
  Machine machine;
};

TEST_P(RowsOf, F32) {
  const std::string mnemonic = std::string(GetParam().name) + "f32";
  const uint64_t stride = stride_of_f32();
  for (uint64_t first = 0; first < 1ull << 32; first += kLanes * stride) {
    for (unsigned lane = 0; lane < kLanes; ++lane)
      machine.v(0, lane) = static_cast<uint32_t>(first + lane * stride);
    run(mnemonic);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      ASSERT_EQ(machine.v(8, lane), expected_f32(GetParam(), machine.v(0, lane)))
          << mnemonic << " of 0x" << std::hex << machine.v(0, lane);
    }
  }
}

TEST_P(RowsOf, F16) {
  const std::string mnemonic = std::string(GetParam().name) + "f16";
  for (uint32_t first = 0; first < 1 << 16; first += kLanes) {
    // What is in the upper halves does not matter.
    for (unsigned lane = 0; lane < kLanes; ++lane)
      machine.v(0, lane) = (first + lane) | (first * 40503 + lane * 7919) << 16;
    run(mnemonic);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      ASSERT_EQ(machine.v(8, lane), expected_f16(GetParam(), machine.v(0, lane) & 0xffff))
          << mnemonic << " of 0x" << std::hex << (machine.v(0, lane) & 0xffff);
    }
  }
}

// Numbers whose values are so near to the middle of two f32 that the vectors' polynomials round
// them to the wrong one, in one build or in all: what they are checked for. (No logarithm is.)
TEST_P(RowsOf, F32NearTheMiddle) {
  constexpr uint32_t kNear[] = {0xc28b1012, 0x41ad6b69, 0x41ebbfb8, 0x3fbc756c,   // exp
                                0x3a586872, 0x398afe5b, 0xb857df40, 0xbca73e15,   // sin
                                0x388d23e5, 0x3ba2ff08, 0xb962d9e5, 0x3bac675b,   // cos
                                0x3f7ffffe, 0x427ffffe, 0x3d7ffffe, 0x377ffffe};  // rsq
  for (unsigned lane = 0; lane < kLanes; ++lane)
    machine.v(0, lane) = kNear[lane % std::size(kNear)];
  const std::string mnemonic = std::string(GetParam().name) + "f32";
  run(mnemonic);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    EXPECT_EQ(machine.v(8, lane), expected_f32(GetParam(), machine.v(0, lane)))
        << mnemonic << " of 0x" << std::hex << machine.v(0, lane);
  }
}

INSTANTIATE_TEST_SUITE_P(Functions, RowsOf, testing::ValuesIn(kFunctions), [](const auto& info) {
  const std::string name = info.param.name;
  return name.substr(2, name.size() - 3);
});

}  // namespace
}  // namespace halyard::vgpu::isa::test
