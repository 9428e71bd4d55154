#include "vgpu/races/race_check.h"

#include <sys/mman.h>

#include "vgpu/races/tests/watched_dispatch.h"

namespace halyard::vgpu::races::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class RaceCheckTest : public RacesTest {};

// Every wave adds 1 to the same 64 dwords.
constexpr const char* kIncrement =
    "v_and_b32 v1, 0xfc, v1\nglobal_load_dword v3, v1, s[6:7]\ns_waitcnt vmcnt(0)\n"
    "v_add_u32 v3, 1, v3\nglobal_store_dword v1, v3, s[6:7]";

TEST_F(RaceCheckTest, WavesThatReadModifyAndWriteRace) {
  run(kIncrement);
  EXPECT_THAT(
      findings,
      UnorderedElementsAre(
          AllOf(HasSubstr("check: race in global memory in kernel sum on gfx900"),
                HasSubstr("work-group (0, 0, 0), wave 1, lane 0 reads 4 bytes at 0x"),
                HasSubstr("which wave 0 of the same work-group has written, with no barrier"),
                HasSubstr("inside an allocation"), HasSubstr("pc +0x0024: global_load_dword v3"),
                HasSubstr("the other's pc +0x0034: global_store_dword")),
          AllOf(HasSubstr("wave 1, lane 0 writes 4 bytes at 0x"), HasSubstr("has written"))));
}

TEST_F(RaceCheckTest, EachPairIsReportedOnce) {
  run(kIncrement, 4, 4);
  run(kIncrement, 4, 4);
  EXPECT_THAT(findings, SizeIs(4));  // the code is assembled twice
}

TEST_F(RaceCheckTest, ABarrierBetweenThemOrdersWaves) {
  run("global_store_dword v1, v0, s[6:7]\ns_waitcnt vmcnt(0)\ns_barrier\n"
      "v_xor_b32 v3, 0x100, v1\nglobal_load_dword v4, v3, s[6:7]\ns_waitcnt vmcnt(0)\ns_barrier\n"
      "global_store_dword v3, v0, s[6:7]");
  EXPECT_THAT(findings, IsEmpty());
}

TEST_F(RaceCheckTest, AWriteOverWhatAnotherWaveReadsIsARace) {
  run("s_cmp_eq_u32 s10, 0\ns_cbranch_scc0 second\nglobal_load_dword v3, v1, s[6:7] offset:256\n"
      "s_branch end\nsecond:\nglobal_store_dword v1, v0, s[6:7]\nend:");
  EXPECT_THAT(findings, ElementsAre(AllOf(
                            HasSubstr("wave 1, lane 0 writes 4 bytes"),
                            HasSubstr("wave 0 of the same work-group has read, with no barrier"))));
}

TEST_F(RaceCheckTest, NoBarrierOrdersWorkGroups) {
  run("s_barrier\nv_mov_b32 v3, s2\nglobal_store_dword v2, v3, s[6:7]\ns_barrier", 3, 1);
  EXPECT_THAT(findings,
              ElementsAre(AllOf(HasSubstr("work-group (1, 0, 0), wave 0, lane 0 writes 4 bytes"),
                                HasSubstr("which work-group (0, 0, 0), wave 0 has written"))));
}

TEST_F(RaceCheckTest, AScalarLoadReads) {
  run("s_cmp_eq_u32 s10, 0\ns_cbranch_scc0 second\nglobal_store_dword v1, v0, s[6:7]\n"
      "s_branch end\nsecond:\ns_load_dwordx4 s[12:15], s[6:7], 0x10\nend:");
  EXPECT_THAT(findings, ElementsAre(AllOf(HasSubstr("wave 1 reads 16 bytes at 0x"),
                                          HasSubstr("s_load_dwordx4"))));
}

TEST_F(RaceCheckTest, SoDoBuffers) {
  run("s_mov_b32 s8, -1\ns_mov_b32 s9, 0x27000\ns_mov_b64 s[12:13], s[6:7]\n"
      "s_mov_b64 s[14:15], s[8:9]\nv_and_b32 v1, 0xfc, v1\n"
      "buffer_store_dword v0, v1, s[12:15], 0 offen");
  EXPECT_THAT(findings,
              ElementsAre(AllOf(HasSubstr("wave 1, lane 0 writes"), HasSubstr("buffer_store"))));
}

// What one work-group has had, the next one gets.
TEST_F(RaceCheckTest, PrivateMemoryIsNobodyElses) {
  const std::string descriptor =
      "s_mov_b32 s12, s6\ns_or_b32 s13, s7, 0x80000000\ns_mov_b32 s14, -1\n"
      "s_mov_b32 s15, 0xe00000\nv_mov_b32 v3, s2\n";
  run(descriptor + "buffer_store_dword v3, v2, s[12:15], 0 offen", 3, 1);
  EXPECT_THAT(findings, IsEmpty());
  run(descriptor +
          "s_mov_b32 s13, s7\ns_mov_b32 s15, 0x27000\n"
          "buffer_store_dword v3, v2, s[12:15], 0 offen",
      3, 1);
  EXPECT_THAT(findings, SizeIs(1));
}

TEST_F(RaceCheckTest, BytesSideBySideDoNotRace) {
  run("v_lshrrev_b32 v3, 6, v0\nv_and_b32 v4, 63, v0\nv_lshlrev_b32 v4, 1, v4\n"
      "v_add_u32 v4, v4, v3\nglobal_store_byte v4, v0, s[6:7]");
  EXPECT_THAT(findings, IsEmpty());
  run("v_lshrrev_b32 v3, 6, v0\nv_and_b32 v4, 63, v0\nv_lshlrev_b32 v4, 1, v4\n"
      "v_add_u32 v4, v4, v3\nv_add_u32 v5, 1, v0\nglobal_store_short v4, v5, s[6:7]");
  EXPECT_THAT(findings, Contains(HasSubstr("writes 2 bytes")));
}

TEST_F(RaceCheckTest, LanesOfOneInstructionDoNotRace) {
  run("global_store_dword v2, v0, s[6:7]", 1, 1);
  run("s_cmp_eq_u32 s10, 0\ns_cbranch_scc0 end\nglobal_store_dword v2, v0, s[6:7]\nend:");
  EXPECT_THAT(findings, IsEmpty());
}

TEST_F(RaceCheckTest, DispatchesDoNotRace) {
  run("global_store_dword v1, v0, s[6:7]", 1, 1);
  run("global_load_dword v3, v1, s[6:7]", 1, 1);
  EXPECT_THAT(findings, IsEmpty());
}

TEST_F(RaceCheckTest, EqualValuesAreNoFinding) {
  run("v_mov_b32 v3, 7\nglobal_store_dword v2, v3, s[6:7]\ns_waitcnt vmcnt(0)\n"
      "global_load_dword v4, v2, s[6:7]",
      2, 4);
  EXPECT_THAT(findings, IsEmpty());
}

class NotesTest : public RacesTest {
 protected:
  NotesTest() : RacesTest(true) {}
};

TEST_F(NotesTest, EqualValuesAreANoteForWhoAsks) {
  run("v_mov_b32 v3, 7\nglobal_store_dword v2, v3, s[6:7]");
  EXPECT_THAT(findings,
              ElementsAre(AllOf(HasSubstr("check: note: equal values in global memory"),
                                HasSubstr("wave 1, lane 0 writes"), HasSubstr("has written"))));
}

TEST_F(NotesTest, AtomicAndPlainAccessesAreANote) {
  run("s_cmp_eq_u32 s10, 0\ns_cbranch_scc0 second\nglobal_store_dword v2, v0, s[6:7]\n"
      "s_branch end\nsecond:\nglobal_atomic_add v2, v0, s[6:7]\nend:");
  EXPECT_THAT(findings, ElementsAre(AllOf(HasSubstr("check: note: atomic and plain accesses"),
                                          HasSubstr("wave 1, lane 0 updates 4 bytes"))));
}

// Only some of the line's dwords change, so only some have a race.
TEST_F(RaceCheckTest, DwordsOfOneLineAreToldApart) {
  data[3] = 1;
  run("s_cmp_eq_u32 s10, 0\ns_cbranch_scc0 second\nv_mov_b32 v3, 0\n"
      "global_store_dword v1, v3, s[6:7]\ns_branch end\n"
      "second:\nv_subrev_u32 v1, 0x100, v1\nglobal_load_dword v3, v1, s[6:7]\nend:");
  EXPECT_THAT(findings, ElementsAre(HasSubstr("wave 1, lane 3 reads 4 bytes")));
}

class BoundedTest : public RacesTest {
 protected:
  BoundedTest() : RacesTest(false, 16384) {}
};

TEST_F(BoundedTest, MemoryThatDoesNotFitIsSaidOnce) {
  const std::string text =
      "v_lshlrev_b32 v3, 7, v0\nglobal_store_dword v3, v0, s[6:7]\n"
      "global_store_dword v2, v0, s[6:7] offset:256";
  run(text);
  EXPECT_THAT(warnings,
              ElementsAre(AllOf(HasSubstr("The check of races has not seen all of kernel sum on"),
                                HasSubstr("uses more memory than the check can follow"))));
}

TEST_F(RaceCheckTest, AFaultLeavesNothingLocked) {
  void* const page =
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  machine.memory().map(page, 4096);
  const uint64_t kernel = machine.kernel(
      "s_load_dwordx2 s[6:7], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\ns_waitcnt lgkmcnt(0)\n"
      "global_store_dword v1, v0, s[6:7]");
  ASSERT_EQ(mprotect(page, 4096, PROT_NONE), 0);
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(machine.run(kernel, {address_of(page)}, Machine::grid(256, 128)).fault.kind,
              isa::Fault::Kind::kMemory);
  }
  EXPECT_EQ(machine.run(kernel, {0x1000}, Machine::grid(256, 128)).fault.kind,
            isa::Fault::Kind::kMemory);
  machine.memory().unmap(page);
  munmap(page, 4096);
  run(kIncrement);
  EXPECT_THAT(findings, SizeIs(2));
}

class ThreadsTest : public RacesTest {
 protected:
  ThreadsTest() : RacesTest(false, uint64_t{1} << 26, "gfx900", 4) {}
};

// A work-group's own dwords, then those of the next one.
constexpr const char* kOwnAndNext =
    "s_lshl_b32 s11, s2, 8\nv_add_u32 v1, s11, v1\ns_movk_i32 s12, 40\nagain:\n"
    "global_load_dword v3, v1, s[6:7]\ns_waitcnt vmcnt(0)\nv_add_u32 v3, 1, v3\n"
    "global_store_dword v1, v3, s[6:7]\ns_sub_u32 s12, s12, 1\ns_cmp_lg_u32 s12, 0\n"
    "s_cbranch_scc1 again\n";

TEST_F(ThreadsTest, WorkGroupsOnSeveralThreadsAreWatched) {
  run(kOwnAndNext, 200, 1);
  EXPECT_THAT(findings, IsEmpty());
  run(std::string(kOwnAndNext) + "global_load_dword v3, v1, s[6:7] offset:256", 200, 1);
  EXPECT_THAT(findings, Contains(HasSubstr("race in global memory")));
}

}  // namespace
}  // namespace halyard::vgpu::races::testing
