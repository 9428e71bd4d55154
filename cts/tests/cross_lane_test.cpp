// Lanes of a wave that see each other's registers.
#include <numeric>

#include "cts/harness/device_test.h"

namespace halyard::cts {
namespace {

constexpr uint32_t kLanes = 64;

// Sums wrap around, on both sides.
int32_t wrapping_sum(const int32_t* first, const int32_t* last) {
  return static_cast<int32_t>(std::accumulate(first, last, uint32_t{0}));
}

class CrossLane : public DeviceTest {};

TEST_F(CrossLane, ReductionByDpp) {
  for (const uint32_t count : {0u, 1u, 63u, 64u, 1000u, 123457u}) {
    SCOPED_TRACE(count);
    auto in = random_integers<int32_t>(count + 1);  // buffers are not empty
    const Ref<Buffer> out = upload(std::vector<int32_t>{-5});
    ASSERT_OK(run(function("reduce", "reduce"), {2048, 1, 1}, {256, 1, 1},
                  {upload(in), out, Argument::of(count)}));
    const uint32_t sum = static_cast<uint32_t>(wrapping_sum(in.data(), in.data() + count)) - 5;
    EXPECT_EQ(download<int32_t>(out)[0], static_cast<int32_t>(sum));
  }
}

TEST_F(CrossLane, ReductionByShuffleAndSwizzle) {
  for (const uint32_t group : {64u, 128u, 256u, 1024u}) {
    SCOPED_TRACE(group);
    const uint32_t groups = 7;
    const uint32_t count = group * groups - 17;
    const auto in = random_integers<int32_t>(count);
    const Ref<Buffer> out = poisoned(groups * sizeof(int32_t));
    ASSERT_OK(run(function("reduce", "reduce_group"), {group * groups, 1, 1}, {group, 1, 1},
                  {upload(in), out, Argument::of(count)}));
    std::vector<int32_t> expected(groups);
    for (uint32_t g = 0; g < groups; ++g) {
      const uint32_t end = std::min(count, (g + 1) * group);
      expected[g] = wrapping_sum(in.data() + g * group, in.data() + end);
    }
    EXPECT_TRUE(same(download<int32_t>(out), expected));
  }
}

TEST_F(CrossLane, EachPrimitiveLaneByLane) {
  std::vector<int32_t> in = random_integers<int32_t>(2 * kLanes, -1000000, 1000000);
  for (uint32_t i = 0; i < kLanes; ++i) in[kLanes + i] &= 63;  // the lanes to read from
  constexpr uint32_t kRows = 10;
  const Ref<Buffer> out = poisoned(kRows * kLanes * sizeof(int32_t));
  ASSERT_OK(
      run(function("reduce", "cross_lane"), {kLanes, 1, 1}, {kLanes, 1, 1}, {upload(in), out}));

  const int32_t sum = wrapping_sum(in.data(), in.data() + kLanes);
  const auto all = download<int32_t>(out);
  const auto row = [&](uint32_t index) {
    return std::vector<int32_t>(all.begin() + index * kLanes, all.begin() + (index + 1) * kLanes);
  };
  const auto lanes = [](const auto& value_of) {
    std::vector<int32_t> values(kLanes);
    for (uint32_t i = 0; i < kLanes; ++i) values[i] = value_of(i);
    return values;
  };
  const auto odd_below = [&](uint32_t end) {
    int32_t count = 0;
    for (uint32_t i = 0; i < end; ++i) count += in[i] & 1;
    return count;
  };
  EXPECT_TRUE(same(row(0), lanes([&](uint32_t) { return sum; }))) << "DPP row_shr, row_bcast";
  EXPECT_TRUE(same(row(1), lanes([&](uint32_t) { return sum; }))) << "DPP quads, ds_swizzle";
  EXPECT_TRUE(same(row(2), lanes([&](uint32_t) { return sum; }))) << "ds_permute";
  EXPECT_TRUE(same(row(3), lanes([&](uint32_t i) { return in[(i + 1) % kLanes]; })))
      << "ds_bpermute";
  EXPECT_TRUE(same(row(4), lanes([&](uint32_t i) { return odd_below(i); }))) << "ballot, mbcnt";
  EXPECT_TRUE(
      same(row(5), lanes([&](uint32_t i) { return wrapping_sum(in.data(), in.data() + i + 1); })))
      << "scan by shuffles";
  EXPECT_TRUE(same(row(6), lanes([&](uint32_t i) { return i == 0 ? -1 : in[i - 1]; })))
      << "DPP wave_shr";
  EXPECT_TRUE(same(row(7), lanes([&](uint32_t i) { return in[(i & ~15u) | ((i - 3) & 15u)]; })))
      << "DPP row_ror";
  EXPECT_TRUE(same(row(8), lanes([&](uint32_t i) { return in[in[kLanes + i]]; }))) << "shuffle";
  EXPECT_TRUE(same(row(9), lanes([&](uint32_t) { return odd_below(kLanes); })))
      << "count of a ballot";
}

}  // namespace
}  // namespace halyard::cts
