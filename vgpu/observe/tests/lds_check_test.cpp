#include "vgpu/observe/lds_check.h"

#include <gmock/gmock.h>

#include <vector>

#include "vgpu/observe/tests/watched_machine.h"

namespace halyard::vgpu::observe::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class LdsCheckTest : public ::testing::Test {
 protected:
  std::vector<std::string> findings;
  LdsCheck check{one_name("tile"), [this](std::string_view text) { findings.emplace_back(text); }};
  Machine machine{watched_by(check)};

  // v0 is the work-item; v1 four times that; s10 the wave's number.
  void run(const std::string& text, uint32_t waves = 2, uint32_t lds = 1024) {
    machine.expect_ok(
        "v_lshlrev_b32 v1, 2, v0\nv_readfirstlane_b32 s10, v0\ns_lshr_b32 s10, s10, 6\n" + text, {},
        one_group(waves, lds));
  }
};

TEST_F(LdsCheckTest, WavesWithABarrierBetweenDoNotRace) {
  run("ds_write_b32 v1, v0\ns_waitcnt lgkmcnt(0)\ns_barrier\n"
      "v_xor_b32 v2, 0x100, v1\nds_read_b32 v3, v2\ns_waitcnt lgkmcnt(0)\ns_barrier\n"
      "ds_write_b32 v2, v0");
  EXPECT_THAT(findings, IsEmpty());
}

TEST_F(LdsCheckTest, AReadOfWhatAnotherWaveHasWrittenIsARace) {
  run("ds_write_b32 v1, v0\nv_xor_b32 v2, 0x100, v1\ns_waitcnt lgkmcnt(0)\n"
      "s_cmp_eq_u32 s10, 0\ns_cbranch_scc1 end\nds_read_b32 v3, v2\nend:");
  EXPECT_THAT(findings,
              ElementsAre(AllOf(
                  HasSubstr("check: race on LDS in kernel tile on gfx900"),
                  HasSubstr("work-group (0, 0, 0), wave 1, lane 0 reads 4 bytes at LDS offset 0,"),
                  HasSubstr("which wave 0 has used at +0x000c (ds_write_b32 v1, v0"),
                  HasSubstr("no barrier between"), HasSubstr("ds_read_b32 v3, v2"))));
}

TEST_F(LdsCheckTest, AWriteOverWhatAnotherWaveHasReadIsARace) {
  run("ds_write_b32 v1, v0\ns_waitcnt lgkmcnt(0)\ns_barrier\n"
      "s_cmp_eq_u32 s10, 0\ns_cbranch_scc0 second\nds_read_b32 v3, v1\ns_branch end\n"
      "second:\nv_subrev_u32 v1, 0x100, v1\nds_write_b32 v1, v0\nend:");
  EXPECT_THAT(findings, ElementsAre(AllOf(HasSubstr("race on LDS"), HasSubstr("writes 4 bytes"),
                                          HasSubstr("which wave 0 has used"))));
}

TEST_F(LdsCheckTest, TwoWavesThatWriteTheSamePlaceRace) {
  run("v_mov_b32 v2, 0\nds_write_b8 v2, v0");
  EXPECT_THAT(findings,
              ElementsAre(AllOf(HasSubstr("race on LDS"), HasSubstr("writes 1 byte at"))));
}

// Every wave writes the same values to the same places, and reads back what it has written.
constexpr const char* kEqualValues =
    "v_and_b32 v0, 63, v0\nv_lshlrev_b32 v1, 2, v0\nds_write_b32 v1, v0\n"
    "s_waitcnt lgkmcnt(0)\nds_read_b32 v3, v1";

TEST_F(LdsCheckTest, WavesThatWriteEqualValuesDoNotRace) {
  run(kEqualValues, 4);
  EXPECT_THAT(findings, IsEmpty());
}

TEST_F(LdsCheckTest, EqualValuesAreANoteForWhoAsks) {
  LdsCheck notes{one_name("tile"), [this](std::string_view text) { findings.emplace_back(text); },
                 true};
  Machine watched{watched_by(notes)};
  watched.expect_ok(kEqualValues, {}, one_group(4, 1024));
  EXPECT_THAT(findings,
              ElementsAre(AllOf(
                  HasSubstr("check: note: equal values on LDS without a barrier in kernel tile"),
                  HasSubstr("wave 1, lane 0 writes 4 bytes at LDS offset 0, which wave 0 has used"),
                  HasSubstr("(ds_write_b32 v1, v0"))));
}

TEST_F(LdsCheckTest, OneByteThatDiffersIsARace) {
  run("v_lshrrev_b32 v2, 6, v0\nv_and_b32 v0, 63, v0\nv_lshlrev_b32 v1, 2, v0\n"
      "v_lshlrev_b32 v2, 24, v2\nv_or_b32 v0, v0, v2\nds_write_b32 v1, v0");
  EXPECT_THAT(findings, ElementsAre(AllOf(HasSubstr("check: race on LDS"),
                                          HasSubstr("wave 1, lane 0 writes 4 bytes"))));
}

TEST_F(LdsCheckTest, AReadBeyondAnyLdsIsANote) {
  const std::string text =
      "v_mov_b32 v2, 0xf00000\nds_read_b32 v3, v2\nds_write_b32 v2, v0\n"
      "v_mov_b32 v2, 0xffff\nds_read_u8 v3, v2\nv_mov_b32 v2, -4\nds_read_b32 v3, v2";
  run(text, 1);
  const auto mistakes = ElementsAre(
      AllOf(HasSubstr("access outside LDS"), HasSubstr("writes 4 bytes at LDS offset 15728640,")),
      AllOf(HasSubstr("access outside LDS"), HasSubstr("reads 1 byte at LDS offset 65535,")),
      AllOf(HasSubstr("access outside LDS"), HasSubstr("reads 4 bytes at LDS offset 4294967292")));
  EXPECT_THAT(findings, mistakes);
  findings.clear();
  LdsCheck notes{one_name("tile"), [this](std::string_view text) { findings.emplace_back(text); },
                 true};
  Machine watched{watched_by(notes)};
  watched.expect_ok(text, {}, one_group(1, 1024));
  ASSERT_EQ(findings.size(), 4U);
  EXPECT_THAT(findings[0], AllOf(HasSubstr("check: note: read beyond any LDS in kernel tile"),
                                 HasSubstr("which returns 0")));
}

// gfx950 has 160 KiB: an offset of 64 KiB is in the compute unit's LDS, and not in the dispatch's.
TEST_F(LdsCheckTest, AnyLdsIsAsLargeAsTheProcessorHasIt) {
  Machine watched{watched_by(check, "gfx950")};
  watched.expect_ok(
      "v_mov_b32 v2, 0x10000\nds_read_b32 v3, v2\nv_mov_b32 v2, 0x28000\nds_read_b32 v3, v2", {},
      one_group(1, 1024));
  EXPECT_THAT(findings, ElementsAre(AllOf(HasSubstr("access outside LDS"),
                                          HasSubstr("reads 4 bytes at LDS offset 65536,"))));
}

TEST_F(LdsCheckTest, AtomicsDoNotRaceWithEachOtherButWithPlainAccesses) {
  const std::string start =
      "v_mov_b32 v2, 0\nv_mov_b32 v4, 0\ns_cmp_eq_u32 s10, 0\ns_cbranch_scc0 ready\n"
      "ds_write_b32 v2, v4\nready:\ns_waitcnt lgkmcnt(0)\ns_barrier\n";
  run(start + "ds_add_u32 v2, v0\ns_waitcnt lgkmcnt(0)\ns_barrier\nds_read_b32 v3, v2");
  EXPECT_THAT(findings, IsEmpty());
  run(start + "ds_add_u32 v2, v0\ns_waitcnt lgkmcnt(0)\nds_read_b32 v3, v2");
  EXPECT_THAT(findings, ElementsAre(AllOf(HasSubstr("race on LDS"), HasSubstr("updates")),
                                    AllOf(HasSubstr("race on LDS"), HasSubstr("reads"))));
}

TEST_F(LdsCheckTest, LanesOfOneWaveDoNotRace) {
  run("v_mov_b32 v2, 0\nds_write_b32 v2, v0\nds_read_b32 v3, v2", 1);
  EXPECT_THAT(findings, IsEmpty());
}

TEST_F(LdsCheckTest, AnOperandInLdsIsARead) {
  const std::string text =
      "s_mov_b32 m0, 0x20010\nv_mov_b32 v3, src_lds_direct\ns_mov_b32 m0, 0x20400\n"
      "v_mov_b32 v3, src_lds_direct";
  run("ds_write_b32 v1, v0\n" + text, 1);
  EXPECT_THAT(findings, ElementsAre(AllOf(HasSubstr("access outside LDS"), HasSubstr("offset 1024"),
                                          HasSubstr("v_mov_b32_e32 v3, src_lds_direct"))));
  findings.clear();
  run(text, 1);
  EXPECT_THAT(findings, ElementsAre(AllOf(HasSubstr("read of uninitialised LDS"),
                                          HasSubstr("reads 4 bytes at LDS offset 16")),
                                    HasSubstr("access outside LDS")));
}

TEST_F(LdsCheckTest, AReadOfWhatNobodyHasWrittenIsReportedOnce) {
  run("ds_read_b32 v3, v1 offset:512\nds_read_b32 v3, v1 offset:512", 1);
  EXPECT_THAT(findings, ElementsAre(AllOf(HasSubstr("read of uninitialised LDS"),
                                          HasSubstr("lane 0 reads 4 bytes at LDS offset 512"),
                                          HasSubstr("pc +0x000c")),
                                    HasSubstr("pc +0x0014")));
}

TEST_F(LdsCheckTest, AReadOfWhatIsWrittenInPartNamesTheRest) {
  run("v_lshlrev_b32 v1, 4, v0\nds_write_b64 v1, v[2:3]\nds_write_b32 v1, v2 offset:12\n"
      "ds_read_b128 v[4:7], v1",
      1);
  EXPECT_THAT(
      findings,
      ElementsAre(AllOf(HasSubstr("lane 0 reads 16 bytes at LDS offset 0, 4 of which, from 8 on, "
                                  "no wave has written since the work-group started"))));
}

TEST_F(LdsCheckTest, LdsIsUninitialisedAgainInTheNextWorkGroup) {
  isa::Dispatch dispatch = Machine::grid(128, 64);
  dispatch.group_segment_size = 256;
  machine.expect_ok(
      "v_lshlrev_b32 v1, 2, v0\ns_cmp_eq_u32 s2, 0\ns_cbranch_scc0 second\nds_write_b32 v1, v0\n"
      "second:\nds_read_b32 v3, v1",
      {}, dispatch);
  EXPECT_THAT(findings,
              ElementsAre(AllOf(HasSubstr("uninitialised"), HasSubstr("work-group (1, 0, 0)"))));
}

TEST_F(LdsCheckTest, AnAccessPastWhatTheDispatchAsksForIsReported) {
  run("ds_write_b32 v1, v0", 1, 252);
  EXPECT_THAT(findings,
              ElementsAre(AllOf(HasSubstr("access outside LDS"),
                                HasSubstr("lane 63 writes 4 bytes at LDS offset 252, outside the "
                                          "252 bytes of LDS that the dispatch asks for"))));
}

TEST_F(LdsCheckTest, ANegativeBaseIsInsideIfItsOffsetMakesItSo) {
  run("v_subrev_u32 v2, 0x400, v1\nds_write_b32 v2, v0 offset:1024\nds_read_b32 v3, v2 offset:1024",
      1);
  EXPECT_THAT(findings, IsEmpty());
}

TEST_F(LdsCheckTest, ANegativeBaseWithoutEnoughOffsetIsReported) {
  run("v_subrev_u32 v2, 0x404, v1\nds_write_b32 v2, v0 offset:1024\n"
      "v_mov_b32 v4, -4\nds_write2_b32 v4, v0, v0 offset0:0 offset1:1",
      1);
  EXPECT_THAT(findings,
              ElementsAre(AllOf(HasSubstr("access outside LDS"),
                                HasSubstr("lane 0 writes 4 bytes at LDS offset 4294967292, outside "
                                          "the 1024 bytes")),
                          AllOf(HasSubstr("access outside LDS"), HasSubstr("LDS offset 4294967292"),
                                HasSubstr("ds_write2_b32"))));
}

}  // namespace
}  // namespace halyard::vgpu::observe::testing
