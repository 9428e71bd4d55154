// What a runtime reserves, and what a process may map.
#include "plugins/sdk/address_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstring>

namespace halyard {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kGiB = uint64_t{1} << 30;

// A thunk with three nodes, of which the last two have GPUs.
struct FakeTopology {
  int open_result = 0;
  int opened = 0;
  int acquired = 0;
} fake_topology;

const ThunkTopology kTopology = {
    .open =
        [] {
          ++fake_topology.opened;
          return fake_topology.open_result;
        },
    .close = [] { return --fake_topology.opened, 0; },
    .acquire =
        [](void* properties) {
          ++fake_topology.acquired;
          const uint32_t nodes = 3;
          std::memcpy(properties, &nodes, sizeof nodes);
          return 0;
        },
    .release = [] { return --fake_topology.acquired, 0; },
    .node =
        [](uint32_t node, void* properties) {
          const uint32_t words[] = {node == 0 ? 8u : 0u, node == 0 ? 0u : 256u};
          std::memcpy(properties, words, sizeof words);
          return 0;
        },
};

class AddressSpaceTest : public ::testing::Test {
 protected:
  AddressSpaceTest() { fake_topology = {}; }
};

TEST_F(AddressSpaceTest, GpusAreCountedBeforeTheRuntimeStarts) {
  EXPECT_EQ(count_gpus(kTopology), 2u);
  EXPECT_EQ(fake_topology.opened, 0) << "it is closed again";
  EXPECT_EQ(fake_topology.acquired, 0);
}

TEST_F(AddressSpaceTest, ARuntimeThatRunsHasItsMemory) {
  fake_topology.open_result = 22;  // HSAKMT_STATUS_KERNEL_ALREADY_OPENED
  EXPECT_FALSE(count_gpus(kTopology).has_value());
  EXPECT_EQ(fake_topology.opened, 0);
}

TEST_F(AddressSpaceTest, WithoutADoorNothingIsKnown) {
  fake_topology.open_result = 20;  // HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED
  EXPECT_FALSE(count_gpus(kTopology).has_value());
  EXPECT_FALSE(count_gpus({}).has_value());
}

TEST_F(AddressSpaceTest, MustHoldWhatEachGpuReserves) {
  const AddressSpace space = {.limit = 10 * kGiB, .used = kGiB};
  const uint64_t rest = 9 * kGiB - 2 * kReservedPerGpu;
  EXPECT_TRUE(check_address_space("The runtime", 2, rest, space).ok());
  const Status status = check_address_space("The runtime", 2, rest + kMiB, space);
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message().view(),
            "The runtime needs more address space than the process may map, and would end it: 8.3 "
            "GiB for 2 GPUs and 0.7 GiB for itself, where 9.0 GiB of 10.0 GiB are left "
            "(RLIMIT_AS). Raise the limit to 10.1 GiB or more, or lift it (ulimit -v unlimited).");
  EXPECT_THAT(check_address_space("It", 1, 0, {.limit = kGiB, .used = 2 * kGiB}).to_string(),
              HasSubstr("0.0 GiB of 1.0 GiB are left"));
}

TEST_F(AddressSpaceTest, IsAskedOfTheProcess) {
  const AddressSpace space = own_address_space();
  EXPECT_GT(space.used, kMiB);
  rlimit limit = {};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &limit), 0);
  const uint64_t expected = limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
  EXPECT_EQ(space.limit, expected);
}

}  // namespace
}  // namespace halyard
