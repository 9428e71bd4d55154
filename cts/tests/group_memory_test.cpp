// Kernels whose work-items share LDS: tiles, atomics, memory sized by the dispatch.
#include <cmath>

#include "cts/harness/device_test.h"

namespace halyard::cts {
namespace {

class GroupMemory : public DeviceTest {
 protected:
  void multiply(uint32_t n) {
    const auto a = random_reals<float>(size_t{n} * n, -1, 1);
    const auto b = random_reals<float>(size_t{n} * n, -1, 1);
    const Ref<Buffer> c = poisoned(size_t{n} * n * sizeof(float));
    ASSERT_OK(run(function("matmul", "matmul"), {n, n, 1}, {16, 16, 1},
                  {upload(a), upload(b), c, Argument::of(n)}));
    // The kernel's order of operations, each rounded once: exact.
    std::vector<float> expected(size_t{n} * n, 0.0f);
    for (uint32_t row = 0; row < n; ++row) {
      for (uint32_t k = 0; k < n; ++k) {
        for (uint32_t column = 0; column < n; ++column) {
          float& sum = expected[size_t{row} * n + column];
          sum = std::fma(a[size_t{row} * n + k], b[size_t{k} * n + column], sum);
        }
      }
    }
    EXPECT_TRUE(same(download<float>(c), expected));
  }
};

TEST_F(GroupMemory, MatrixMultiplyOfOneTile) {
  multiply(16);
}
TEST_F(GroupMemory, MatrixMultiply256) {
  multiply(256);
}

TEST_F(GroupMemory, Histogram) {
  constexpr uint32_t kCount = 300007;
  // Skewed, so that many lanes hit the same bin at once.
  auto in = random_integers<uint8_t>(kCount);
  for (size_t i = 0; i < in.size(); i += 2) in[i] &= 3;
  auto expected = random_integers<uint32_t>(256, 0, 1000);
  const Ref<Buffer> bins = upload(expected);  // the kernel adds to what is there
  ASSERT_OK(run(function("histogram", "histogram"), {8192, 1, 1}, {256, 1, 1},
                {upload(in), Argument::of(kCount), bins}));
  for (const uint8_t value : in) ++expected[value];
  EXPECT_TRUE(same(download<uint32_t>(bins), expected));
}

TEST_F(GroupMemory, LdsArgumentsAreSizedByTheDispatch) {
  // From one work-item, by an odd number (which misaligns what follows), to the largest group.
  for (const uint32_t group : {1u, 3u, 64u, 100u, 256u}) {
    SCOPED_TRACE(group);
    const uint32_t groups = 5;
    const auto in = random_integers<uint32_t>(size_t{group} * groups);
    const Ref<Buffer> out = poisoned(in.size() * sizeof(uint32_t));
    ASSERT_OK(
        run(function("dynamic_lds_cl", "dynamic_lds"), {group * groups, 1, 1}, {group, 1, 1},
            {upload(in), out, Argument::dynamic_lds(group * 4), Argument::dynamic_lds(group * 8)}));
    std::vector<uint32_t> expected(in.size());
    for (uint32_t g = 0; g < groups; ++g) {
      const auto reversed = [&](uint32_t i) { return in[g * group + group - 1 - i]; };
      for (uint32_t i = 0; i < group; ++i) {
        expected[g * group + i] = reversed(i) + reversed((i + 1) % group) + g;
      }
    }
    EXPECT_TRUE(same(download<uint32_t>(out), expected));
  }
}

TEST_F(GroupMemory, LdsBehindTheStaticPart) {
  for (const uint32_t group : {64u, 192u, 1024u}) {
    SCOPED_TRACE(group);
    const uint32_t groups = 3;
    const auto in = random_integers<uint32_t>(size_t{group} * groups);
    const Ref<Buffer> out = poisoned(in.size() * sizeof(uint32_t));
    ASSERT_OK(run(function("dynamic_lds_hip", "dynamic_shared"), {group * groups, 1, 1},
                  {group, 1, 1}, {upload(in), out}, group * 4));
    std::vector<uint32_t> expected(in.size());
    for (uint32_t g = 0; g < groups; ++g) {
      uint32_t total = 0;
      for (uint32_t i = 0; i < group; ++i) total += in[g * group + i] & 0xff;
      for (uint32_t i = 0; i < group; ++i) {
        expected[g * group + i] = in[g * group + group - 1 - i] + total;
      }
    }
    EXPECT_TRUE(same(download<uint32_t>(out), expected));
  }
}

TEST_F(GroupMemory, AllOfTheDevicesLds) {
  const uint32_t bytes = device().info().lds_bytes;
  ASSERT_GE(bytes, 4096u);
  const auto in = random_integers<uint32_t>(64);
  const Ref<Buffer> out = poisoned(64 * sizeof(uint32_t));
  const Function* kernel = function("dynamic_lds_hip", "dynamic_shared");
  const uint32_t fixed = kernel->info().group_segment_size;
  ASSERT_OK(run(kernel, {64, 1, 1}, {64, 1, 1}, {upload(in), out}, bytes - fixed));
  uint32_t total = 0;
  for (const uint32_t value : in) total += value & 0xff;
  std::vector<uint32_t> expected(64);
  for (uint32_t i = 0; i < 64; ++i) expected[i] = in[63 - i] + total;
  EXPECT_TRUE(same(download<uint32_t>(out), expected));
}

// A generic pointer that is LDS in some lanes and global memory in others.
TEST_F(GroupMemory, FlatPointersReachBothMemories) {
  for (const uint32_t which : {0u, ~0u, 0x5a3c0ff1u}) {
    SCOPED_TRACE(which);
    auto expected = random_integers<uint32_t>(128);
    const Ref<Buffer> data = upload(expected);
    ASSERT_OK(run(function("busy", "flat"), {64, 1, 1}, {64, 1, 1}, {data, Argument::of(which)}));
    for (uint32_t i = 0; i < 64; ++i) {
      const bool global = ((which >> (i & 31)) & 1) != 0;
      if (global) ++expected[i];
      expected[64 + i] = global ? expected[i] : 7 * i + 1;
    }
    EXPECT_TRUE(same(download<uint32_t>(data), expected));
  }
}

}  // namespace
}  // namespace halyard::cts
