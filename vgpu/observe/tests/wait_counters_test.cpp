#include "vgpu/observe/wait_counters.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "vgpu/isa/decode.h"
#include "vgpu/isa/tests/assembler.h"

namespace halyard::vgpu::observe::testing {
namespace {

WaitCounts wait_of(unsigned vm, unsigned lgkm, unsigned exp) {
  return {{vm, lgkm, exp}};
}
const unsigned* const kNoWait = WaitCounts::kMost;

class WaitCountersTest : public ::testing::Test {
 protected:
  isa::Instruction instruction_of(const std::string& line) {
    std::string error;
    const auto decoder = isa::Decoder::create("gfx900", "", error);
    std::vector<uint8_t> code = isa::testing::assemble(line, "gfx900", error);
    EXPECT_EQ(error, "");
    code.resize(8);
    isa::DecodedInstruction instruction;
    decoder->decode(code, instruction);
    return instruction;
  }
  void follow(const std::string& line) { counters.follow(wave, instruction_of(line)); }

  WaitCounters counters;
  isa::Wave wave;
};

TEST_F(WaitCountersTest, TheFieldsOfSWaitcnt) {
  const auto expect = [&](const std::string& line, unsigned vm, unsigned lgkm, unsigned exp) {
    const auto counts = WaitCounts::decode(static_cast<uint16_t>(instruction_of(line).offset));
    EXPECT_EQ(counts.of(Counter::kVm), vm) << line;
    EXPECT_EQ(counts.of(Counter::kLgkm), lgkm) << line;
    EXPECT_EQ(counts.of(Counter::kExp), exp) << line;
  };
  expect("s_waitcnt vmcnt(37)", 37, 15, 7);
  expect("s_waitcnt lgkmcnt(9)", 63, 9, 7);
  expect("s_waitcnt expcnt(5)", 63, 15, 5);
  expect("s_waitcnt vmcnt(62) expcnt(6) lgkmcnt(14)", 62, 14, 6);
  expect("s_waitcnt 0", 0, 0, 0);
}

TEST_F(WaitCountersTest, WhatReturnsInOrderIsDoneIfEnoughWasIssuedBehindIt) {
  const Ticket first = counters.issue(Kind::kVector), second = counters.issue(Kind::kVector);
  EXPECT_EQ(counters.enough(first), 1u);
  EXPECT_EQ(counters.enough(second), 0u);
  counters.wait(wait_of(2, kNoWait[1], kNoWait[2]));
  EXPECT_TRUE(counters.outstanding(first));
  counters.wait(wait_of(1, kNoWait[1], kNoWait[2]));
  EXPECT_FALSE(counters.outstanding(first));
  EXPECT_TRUE(counters.outstanding(second));
  EXPECT_TRUE(counters.any_outstanding());
  counters.wait(WaitCounts::nothing_left());
  EXPECT_FALSE(counters.outstanding(second));
  EXPECT_FALSE(counters.any_outstanding());
}

TEST_F(WaitCountersTest, TheHighestCountWaitsForNothing) {
  const Ticket first = counters.issue(Kind::kVector);
  for (unsigned n = 0; n < 100; ++n) counters.issue(Kind::kVector);
  counters.wait(wait_of(kNoWait[0], 0, 0));
  EXPECT_TRUE(counters.outstanding(first));
  EXPECT_EQ(counters.enough(first), 62u);
  counters.wait(wait_of(62, kNoWait[1], kNoWait[2]));
  EXPECT_FALSE(counters.outstanding(first));
}

TEST_F(WaitCountersTest, KindsAreInNoOrder) {
  const Ticket lds = counters.issue(Kind::kLds);
  const Ticket scalar = counters.issue(Kind::kScalar);
  counters.issue(Kind::kLds);
  counters.wait(wait_of(kNoWait[0], 1, kNoWait[2]));
  EXPECT_FALSE(counters.outstanding(lds));
  EXPECT_TRUE(counters.outstanding(scalar));
  EXPECT_EQ(counters.enough(scalar), 0u);
  counters.wait_for(scalar);
  EXPECT_FALSE(counters.any_outstanding());
}

TEST_F(WaitCountersTest, StoresAreCountedUntilAWaitHasThemDone) {
  EXPECT_EQ(counters.outstanding_stores(), 0u);
  follow("global_store_dword v[0:1], v2, off");
  follow("global_load_dword v2, v[0:1], off");
  follow("buffer_atomic_add v2, off, s[4:7], 0");
  follow("flat_store_dword v[0:1], v2");
  follow("ds_write_b32 v0, v1");
  EXPECT_EQ(counters.outstanding_stores(), 3u);
  follow("s_waitcnt lgkmcnt(0)");
  EXPECT_EQ(counters.outstanding_stores(), 3u);
  follow("s_waitcnt vmcnt(1)");  // the first two of those in order
  EXPECT_EQ(counters.outstanding_stores(), 2u);
  follow("s_barrier");
  EXPECT_EQ(counters.outstanding_stores(), 2u);
  follow("s_waitcnt vmcnt(0)");
  EXPECT_EQ(counters.outstanding_stores(), 0u);
  for (unsigned n = 0; n < 100; ++n) follow("global_store_dword v[0:1], v2, off");
  EXPECT_EQ(counters.outstanding_stores(), 63u);
  follow("s_endpgm");
  EXPECT_EQ(counters.outstanding_stores(), 0u);
}

TEST_F(WaitCountersTest, AnInvalidationOfTheL1IsNotCounted) {
  const Ticket load = counters.issue(Kind::kVector);
  follow("buffer_wbinvl1_vol");
  EXPECT_EQ(counters.enough(load), 0u);
}

}  // namespace
}  // namespace halyard::vgpu::observe::testing
