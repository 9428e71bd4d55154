// Element-wise kernels against the same arithmetic on the host.
#include <cmath>

#include "cts/harness/device_test.h"
#include "cts/harness/environment.h"
#include "hal/target_id.h"

namespace halyard::cts {
namespace {

// One vector add for each language and code object version.
class VectorAdd : public DeviceTest, public testing::WithParamInterface<std::string> {
 protected:
  void add(const std::vector<float>& a, const std::vector<float>& b) {
    const uint32_t n = static_cast<uint32_t>(a.size());
    const Ref<Buffer> out = poisoned(n * sizeof(float));
    ASSERT_OK(run(function(GetParam(), "vadd"), whole_groups(n, 256), {256, 1, 1},
                  {upload(a), upload(b), out, Argument::of(n)}));
    std::vector<float> expected(n);
    for (uint32_t i = 0; i < n; ++i) expected[i] = a[i] + b[i];
    EXPECT_TRUE(same(download<float>(out), expected));
  }
};

TEST_P(VectorAdd, AddsNumbers) {
  constexpr size_t kCount = 10007;  // neither whole waves nor whole groups
  add(random_reals<float>(kCount, -1e3, 1e3), random_reals<float>(kCount, -1e3, 1e3));
}

// f32 denormals are kept on every target that the kernels are built for, and NaN stays NaN.
TEST_P(VectorAdd, AddsAnyBits) {
  constexpr size_t kCount = 65536;
  add(random_bits<float>(kCount), random_bits<float>(kCount));
}

INSTANTIATE_TEST_SUITE_P(All, VectorAdd,
                         testing::Values("vadd_c_v4", "vadd_c_v5", "vadd_c_v6", "vadd_cl_v4",
                                         "vadd_cl_v5", "vadd_hip_v4", "vadd_hip_v5"),
                         [](const auto& info) { return info.param; });

class Arithmetic : public DeviceTest {};

// Rounded once on both sides: exact.
TEST_F(Arithmetic, Saxpy) {
  constexpr uint32_t kCount = 50001;
  const float alpha = 1.7f;
  const auto x = random_reals<float>(kCount, -100, 100);
  const auto y = random_reals<float>(kCount, -100, 100);
  const Ref<Buffer> result = upload(y);
  ASSERT_OK(run(function("saxpy", "saxpy"), {4096, 1, 1}, {256, 1, 1},
                {Argument::of(kCount), Argument::of(alpha), upload(x), result}));
  std::vector<float> expected(kCount);
  for (uint32_t i = 0; i < kCount; ++i) expected[i] = std::fma(alpha, x[i], y[i]);
  EXPECT_TRUE(same(download<float>(result), expected));
}

constexpr uint32_t kDoubleResults = 8;

TEST_F(Arithmetic, Float64) {
  constexpr uint32_t kCount = 4099;
  // Within the range of int, as one result converts to it.
  auto a = random_reals<double>(kCount, -1e9, 1e9);
  auto b = random_reals<double>(kCount, -1e9, 1e9);
  for (uint32_t i = 0; i < kCount; i += 3) a[i] = std::ldexp(a[i], -40);
  for (uint32_t i = 0; i < kCount; i += 5) b[i] = std::ldexp(b[i], -900);  // quotients overflow
  const Ref<Buffer> out = poisoned(uint64_t{kCount} * kDoubleResults * sizeof(double));
  ASSERT_OK(run(function("float64", "float64"), whole_groups(kCount, 128), {128, 1, 1},
                {upload(a), upload(b), out, Argument::of(kCount)}));

  const auto actual = download<double>(out);
  std::vector<double> exact_actual, exact_expected, root_actual, root_expected;
  for (uint32_t i = 0; i < kCount; ++i) {
    const double x = a[i];
    const double y = b[i];
    const double expected[kDoubleResults] = {
        x + y,
        x * y,
        std::fma(x, y, -x),
        x / y,
        std::sqrt(std::fabs(x)),
        std::fmin(x, y) - std::fmax(x, -y),
        static_cast<double>(static_cast<float>(x)) + std::floor(y),
        static_cast<double>(static_cast<int32_t>(x)) + std::ldexp(y, 3) + (x < y ? 1.0 : -1.0),
    };
    for (uint32_t k = 0; k < kDoubleResults; ++k) {
      (k == 4 ? root_actual : exact_actual).push_back(actual[i * kDoubleResults + k]);
      (k == 4 ? root_expected : exact_expected).push_back(expected[k]);
    }
  }
  EXPECT_TRUE(same(exact_actual, exact_expected));
  // The compiler builds the root from v_rsq_f64, an approximation, and Newton steps: one ULP.
  EXPECT_TRUE(approximates(root_actual, root_expected, 1));
}

struct HalfPair {
  Half x, y;
};

constexpr uint32_t kHalfResults = 6;

TEST_F(Arithmetic, Float16) {
  constexpr uint32_t kCount = 3001;
  // Magnitudes from 2^-3 to 2^4: what the host computes in f64 is then exact before its rounding.
  const auto numbers = [this] {
    std::vector<HalfPair> pairs(kCount);
    const auto sizes = random_reals<double>(2 * kCount, -3, 4);
    const auto signs = random_integers<int>(2 * kCount, 0, 1);
    const auto number = [&](size_t i) {
      return Half(std::exp2(sizes[i]) * (signs[i] != 0 ? 1.0 : -1.0));
    };
    for (uint32_t i = 0; i < kCount; ++i) pairs[i] = {number(2 * i), number(2 * i + 1)};
    return pairs;
  };
  const auto a = numbers();
  const auto b = numbers();
  const Ref<Buffer> out = poisoned(uint64_t{kCount} * kHalfResults * sizeof(HalfPair));
  ASSERT_OK(run(function("float16", "float16"), whole_groups(kCount, 64), {64, 1, 1},
                {upload(a), upload(b), out, Argument::of(kCount)}));

  const auto actual = download<HalfPair>(out);
  std::vector<Half> exact_actual, exact_expected, quotient_actual, quotient_expected;
  for (uint32_t i = 0; i < kCount; ++i) {
    const double ax(a[i].x), ay(a[i].y), bx(b[i].x), by(b[i].y);
    const auto spread = [](double p, double q) {
      return Half(std::max(p, q)).operator double() - std::min(p, q);
    };
    const HalfPair expected[kHalfResults] = {
        {Half(ax + bx), Half(ay + by)},
        {Half(ax * bx), Half(ay * by)},
        {Half(ax * bx - ax), Half(ay * by - ay)},
        {Half(spread(ax, bx)), Half(spread(ay, by))},
        {Half(ax * by), Half(std::trunc(ay) + bx)},
        {Half(ax / bx),
         Half(static_cast<double>(
             std::fma(static_cast<float>(ax), static_cast<float>(ay), static_cast<float>(bx))))},
    };
    for (uint32_t k = 0; k < kHalfResults; ++k) {
      const HalfPair got = actual[i * kHalfResults + k];
      (k == 5 ? quotient_actual : exact_actual).push_back(got.x);
      (k == 5 ? quotient_expected : exact_expected).push_back(expected[k].x);
      exact_actual.push_back(got.y);
      exact_expected.push_back(expected[k].y);
    }
  }
  EXPECT_TRUE(same(exact_actual, exact_expected));
  // The quotient comes from v_rcp_f32, an approximation, and is then rounded to f16: one ULP.
  EXPECT_TRUE(approximates(quotient_actual, quotient_expected, 1));
}

// Whether a load into half of a register leaves the other half: not where registers have ECC. That
// is so with sramecc on, and on gfx90a always (docs/virtual-gpu.md).
TEST_F(Arithmetic, HalfLoads) {
  constexpr uint32_t kItems = 64, kWords = 12, kOld = 0xdeadbeef, kLoaded = 0xfedc1284;
  const Ref<Buffer> out = poisoned(uint64_t{kItems} * kWords * sizeof(uint32_t));
  ASSERT_OK(run(function("half_loads", "half_loads"), {kItems, 1, 1}, {kItems, 1, 1},
                {upload(std::vector{kLoaded}), out, Argument::of(kOld)}));
  const TargetId target = take(parse_target_id(device().info().target));
  const bool clears = target.sramecc == Feature::kOn || target.processor == "gfx90a";
  std::vector<uint32_t> expected;
  for (uint32_t item = 0; item < kItems; ++item) {
    for (uint32_t space = 0; space < 2; ++space) {
      for (const uint32_t value : {0x84u, 0xff84u, 0x1284u}) {
        expected.push_back((clears ? 0 : kOld & 0xffff0000) | value);
        expected.push_back((clears ? 0 : kOld & 0xffff) | value << 16);
      }
    }
  }
  EXPECT_TRUE(same(download<uint32_t>(out), expected));
}

}  // namespace
}  // namespace halyard::cts
