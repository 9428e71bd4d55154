#include "vgpu/explore/moved_access.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "vgpu/isa/tests/racing_kernel.h"
#include "vgpu/observe/tests/watched_machine.h"

namespace halyard::vgpu::explore::testing {
namespace {

using isa::testing::address_of;
using isa::testing::kRace;
using isa::testing::Machine;
using observe::testing::one_group;
using observe::testing::one_name;
using observe::testing::watched_by;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A machine with the schedule, whose kernels' moved access is told.
class Watched {
 public:
  explicit Watched(const std::string& schedule) : machine_(options_of(schedule)) {}

  Machine& machine() { return machine_; }
  const std::vector<std::string>& told() const { return told_; }

 private:
  isa::EngineOptions options_of(const std::string& schedule) {
    isa::EngineOptions options = watched_by(moved_);
    options.schedule = isa::testing::schedule_of(schedule);
    return options;
  }

  std::vector<std::string> told_;
  MovedAccess moved_{one_name("race"), [this](std::string_view text) { told_.emplace_back(text); }};
  Machine machine_;
};

struct Result {
  uint32_t sum = 0;
  std::vector<std::string> told;
};

Result run_race(const std::string& schedule, isa::Dispatch dispatch = one_group(2, 0)) {
  Watched watched(schedule);
  auto* const sum = watched.machine().allocate<uint32_t>(1);
  watched.machine().expect_ok(kRace, {address_of(sum)}, dispatch);
  return {*sum, watched.told()};
}

// With every:1, wave 1 has loaded behind ten instructions: five of each wave.
TEST(MovedAccess, TheLoadThatComesBeforeTheOthersStore) {
  EXPECT_EQ(run_race("every:1,until:9").sum, 2u);
  const Result result = run_race("every:1,until:10");
  EXPECT_EQ(result.sum, 1u);
  EXPECT_THAT(result.told,
              ElementsAre(AllOf(
                  HasSubstr("kernel race, in this order:\n"
                            "  work-group (0, 0, 0), wave 1 at +0x0014: global_load_dword"),
                  HasSubstr("\n  work-group (0, 0, 0), wave 0 at +0x0024: global_store_dword"),
                  HasSubstr("The first one reads and the second one writes the byte at 0x"))));
}

TEST(MovedAccess, WavesOfTwoWorkGroups) {
  const Result result = run_race("every:1,until:10", Machine::grid(128, 64));
  EXPECT_EQ(result.sum, 1u);
  EXPECT_THAT(result.told,
              ElementsAre(AllOf(HasSubstr("  work-group (1, 0, 0), wave 0 at +0x0014"),
                                HasSubstr("  work-group (0, 0, 0), wave 0 at +0x0024"))));
}

TEST(MovedAccess, NothingIsToldOfReadsAloneOrWithoutAnEnd) {
  EXPECT_THAT(run_race("every:1").told, IsEmpty());
  EXPECT_THAT(run_race("every:1,until:0").told, IsEmpty());
  EXPECT_THAT(run_race("every:1,until:7").told, IsEmpty()) << "v_mov_b32 uses no memory";
  EXPECT_THAT(run_race("every:1,until:1000").told, IsEmpty()) << "no instruction is behind it";
}

TEST(MovedAccess, Lds) {
  // Wave 1 writes; wave 0 reads what it has written itself, unless wave 1 came between.
  Watched watched("every:1,until:8");
  watched.machine().expect_ok(R"(
    v_readfirstlane_b32 s3, v0
    s_mov_b64 exec, 1
    v_mov_b32 v1, 0
    ds_write_b32 v1, v0
    ds_read_b32 v2, v1
    s_waitcnt lgkmcnt(0))",
                              {}, one_group(2, 512));
  EXPECT_THAT(watched.told(),
              ElementsAre(AllOf(HasSubstr("wave 1 at +0x000c: ds_write_b32"),
                                HasSubstr("wave 0 at +0x0014: ds_read_b32"),
                                HasSubstr("writes and the second one reads LDS offset 0."))));
}

TEST(MovedAccess, BehindABarrierTheOrderIsTheSame) {
  Watched watched("every:1,until:8");
  watched.machine().expect_ok(R"(
    v_readfirstlane_b32 s3, v0
    s_mov_b64 exec, 1
    v_mov_b32 v1, 0
    ds_write_b32 v1, v0
    s_waitcnt lgkmcnt(0)
    s_barrier
    ds_read_b32 v2, v1)",
                              {}, one_group(2, 512));
  EXPECT_THAT(watched.told(), IsEmpty());
}

}  // namespace
}  // namespace halyard::vgpu::explore::testing
