// Divergent loops and function calls.
#include "cts/harness/device_test.h"
#include "cts/harness/environment.h"

namespace halyard::cts {
namespace {

class ControlFlow : public DeviceTest {};

// The kernel's arithmetic is rounded step by step in f32, and so is this: iteration counts are
// equal.
uint32_t mandelbrot(float cr, float ci, uint32_t limit) {
  float zr = 0;
  float zi = 0;
  uint32_t iterations = 0;
  for (; iterations < limit; ++iterations) {
    const float rr = zr * zr;
    const float ii = zi * zi;
    if (rr + ii > 4.0f) break;
    zi = (zr + zr) * zi + ci;
    zr = rr - ii + cr;
  }
  return iterations;
}

TEST_F(ControlFlow, MandelbrotDiverges) {
  constexpr uint32_t kWidth = 150;  // not a multiple of the group
  constexpr uint32_t kHeight = 90;
  constexpr uint32_t kLimit = 100;
  const float left = -2.0f + random_reals<float>(1, 0, 0.1)[0];
  const float top = 1.1f + random_reals<float>(1, 0, 0.1)[0];
  const float step = 2.4f / kHeight;
  const Ref<Buffer> out = poisoned(kWidth * kHeight * sizeof(uint32_t));
  ASSERT_OK(run(function("mandelbrot", "mandelbrot"), {160, 96, 1}, {16, 16, 1},
                {out, Argument::of(kWidth), Argument::of(kHeight), Argument::of(left),
                 Argument::of(top), Argument::of(step), Argument::of(kLimit)}));
  std::vector<uint32_t> expected;
  for (uint32_t y = 0; y < kHeight; ++y) {
    for (uint32_t x = 0; x < kWidth; ++x) {
      expected.push_back(mandelbrot(left + step * static_cast<float>(x),
                                    top - step * static_cast<float>(y), kLimit));
    }
  }
  EXPECT_TRUE(same(download<uint32_t>(out), expected));
}

uint32_t mix(uint32_t value, uint32_t rounds) {
  for (uint32_t i = 0; i < rounds; ++i) {
    value ^= value >> 15;
    value *= 0x2c1b3c6du;
    value ^= value >> 12;
    value += i;
  }
  return value;
}

TEST_F(ControlFlow, DirectCalls) {
  constexpr uint32_t kCount = 777;
  const auto in = random_integers<uint32_t>(kCount);
  const Ref<Buffer> out = poisoned(kCount * sizeof(uint32_t));
  ASSERT_OK(run(function("call", "call_direct"), whole_groups(kCount, 64), {64, 1, 1},
                {upload(in), out, Argument::of(kCount)}));
  std::vector<uint32_t> expected(kCount);
  for (uint32_t i = 0; i < kCount; ++i) {
    const uint32_t value = mix(in[i], 3);
    uint32_t sum = 0;
    for (uint32_t k = 0; k < 8; ++k) sum = sum * 17 + ((value >> (4 * ((k + i) & 7))) & 15);
    expected[i] = mix(sum, 5);
  }
  EXPECT_TRUE(same(download<uint32_t>(out), expected));
}

TEST_F(ControlFlow, CallsThroughPointersThatDiverge) {
  constexpr uint32_t kCount = 500;
  const auto in = random_integers<uint32_t>(kCount);
  const Ref<Buffer> out = poisoned(kCount * sizeof(uint32_t));
  ASSERT_OK(run(function("call", "call_indirect"), whole_groups(kCount, 128), {128, 1, 1},
                {upload(in), out, Argument::of(kCount)}));
  std::vector<uint32_t> expected(kCount);
  for (uint32_t i = 0; i < kCount; ++i) {
    const uint32_t a = in[i];
    const uint32_t results[4] = {a + i, a ^ (i << 7), a * (i | 1), mix(a + i, 2)};
    expected[i] = results[a & 3];
  }
  EXPECT_TRUE(same(download<uint32_t>(out), expected));
}

uint32_t ackermann(uint32_t m, uint32_t n) {
  if (m == 0) return n + 1;
  return ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}

// The metadata's private segment size is only a lower bound here: the stack is the driver's guess.
TEST_F(ControlFlow, RecursionWithDivergentDepth) {
  constexpr uint32_t kCount = 200;
  const auto m = random_integers<uint32_t>(kCount, 0, 2);
  const auto n = random_integers<uint32_t>(kCount, 0, 4);
  std::vector<uint32_t> in(kCount), expected(kCount);
  for (uint32_t i = 0; i < kCount; ++i) {
    in[i] = m[i] << 4 | n[i];
    expected[i] = ackermann(m[i], n[i]);
  }
  const Ref<Buffer> out = poisoned(kCount * sizeof(uint32_t));
  ASSERT_OK(run(function("call", "call_recursive"), whole_groups(kCount, 64), {64, 1, 1},
                {upload(in), out, Argument::of(kCount)}));
  EXPECT_TRUE(same(download<uint32_t>(out), expected));
}

// Deeper than the stack that a driver gives by itself.
class LargeStack : public DeviceTest {
 protected:
  Result<Ref<Device>> open_device() override {
    const Option options[] = {{"stack_bytes", "65536"}};
    return Environment::get().open_device(options);
  }
};

// Config key: processors.<processor>.stack_size
TEST_F(LargeStack, DeepRecursion) {
  constexpr uint32_t kCount = 70;
  std::vector<uint32_t> in(kCount), expected(kCount);
  for (uint32_t i = 0; i < kCount; ++i) {
    in[i] = 3 << 4 | (i % 7);
    expected[i] = ackermann(3, i % 7);
  }
  const Ref<Buffer> out = poisoned(kCount * sizeof(uint32_t));
  ASSERT_OK(run(function("call", "call_recursive"), whole_groups(kCount, 64), {64, 1, 1},
                {upload(in), out, Argument::of(kCount)}));
  EXPECT_TRUE(same(download<uint32_t>(out), expected));
}

TEST_F(LargeStack, SizesThatNoWorkItemCanHave) {
  for (const char* const bytes : {"0", "-1", "many", "131057", "99999999999999999999"}) {
    const Option options[] = {{"stack_bytes", bytes}};
    EXPECT_FAILS(Environment::get().open_device(options), StatusCode::kInvalidArgument,
                 "from 1 to 131056");
  }
}

}  // namespace
}  // namespace halyard::cts
