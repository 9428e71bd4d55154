// Digests of what copies and kernels leave in the host's memory.
#include "vgpu/explore/host_data.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "vgpu/observe/tests/watched_machine.h"

namespace halyard::vgpu::explore::testing {
namespace {

using isa::testing::address_of;
using isa::testing::Machine;
using observe::testing::one_group;
using observe::testing::one_name;
using observe::testing::watched_by;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class HostDataTest : public ::testing::Test {
 protected:
  // Of the host are the pages that host() has returned.
  HostRange find(uint64_t address) const {
    for (const HostRange& range : ranges_) {
      if (range.contains(address)) return range;
    }
    return {};
  }
  uint32_t* host() {
    auto* const memory = machine_.allocate<uint32_t>(kWords);
    const auto begin = reinterpret_cast<uint64_t>(memory);
    ranges_.push_back({begin, begin + kWords * 4});
    return memory;
  }
  // Each lane stores `value` + its number.
  std::vector<std::string> store(const uint32_t* to, unsigned value, const char* offset = "") {
    machine_.expect_ok(
        "s_load_dwordx2 s[8:9], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\n"
        "v_add_u32 v2, " +
            std::to_string(value) +
            ", v0\ns_waitcnt lgkmcnt(0)\nglobal_store_dword v1, v2, s[8:9] " + offset,
        {address_of(to)}, one_group(1, 0));
    return std::exchange(told_, {});
  }
  std::vector<std::string> copied(const uint32_t* to, uint64_t bytes) {
    data_.copied(reinterpret_cast<uint64_t>(to), bytes);
    return std::exchange(told_, {});
  }

  static constexpr size_t kWords = 1024;
  std::vector<HostRange> ranges_;
  std::vector<std::string> told_;
  HostData data_{one_name("k"), [this](uint64_t address) { return find(address); },
                 [this](std::string_view line) { told_.emplace_back(line); }};
  Machine machine_{watched_by(data_)};
};

TEST_F(HostDataTest, KernelsAreToldByTheBytesThatTheyLeave) {
  const auto first = store(host(), 1);
  EXPECT_THAT(first, ElementsAre(StartsWith("stores of kernel k to the host's memory\t")));
  EXPECT_EQ(store(host(), 1), first) << "elsewhere";
  EXPECT_NE(store(host(), 2), first) << "other bytes";
  EXPECT_NE(store(host(), 1, "offset:4"), first) << "another place of its allocation";
}

TEST_F(HostDataTest, OtherMemoryIsNoneOfIt) {
  EXPECT_THAT(store(machine_.allocate<uint32_t>(kWords), 1), IsEmpty());
  EXPECT_THAT(copied(machine_.allocate<uint32_t>(kWords), 8), IsEmpty());
}

TEST_F(HostDataTest, LoadsAreNoneOfIt) {
  machine_.expect_ok(
      "s_load_dwordx2 s[8:9], s[0:1], 0x0\nv_mov_b32 v1, 0\n"
      "s_waitcnt lgkmcnt(0)\nglobal_load_dword v2, v1, s[8:9]",
      {address_of(host())}, one_group(1, 0));
  EXPECT_THAT(told_, IsEmpty());
}

TEST_F(HostDataTest, CopiesAreToldByTheirBytes) {
  uint32_t* const memory = host();
  memory[0] = 1;
  const auto first = copied(memory, 8);
  EXPECT_THAT(first, ElementsAre(StartsWith("copies of 8 bytes to the host's memory\t")));
  memory[2] = 9;
  EXPECT_EQ(copied(memory, 8), first) << "behind its end";
  memory[1] = 9;
  EXPECT_NE(copied(memory, 8), first);
}

}  // namespace
}  // namespace halyard::vgpu::explore::testing
