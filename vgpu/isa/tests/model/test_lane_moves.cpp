// Instructions that move values between lanes, scalars and register files, against the ISA's text:
// v_readlane, v_writelane and v_readfirstlane ignore EXEC, v_swap and the moves of accumulators
// heed it (Vega ISA 12.8, 12.10; MI100 and MI200 ISA, VOP3P-MAI).

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <set>
#include <span>
#include <string>

#include "vgpu/isa/coverage.h"
#include "vgpu/isa/decode.h"
#include "vgpu/isa/target.h"
#include "vgpu/isa/tests/assembler.h"
#include "vgpu/isa/tests/covered.h"
#include "vgpu/isa/tests/model/case.h"
#include "vgpu/isa/wave.h"

namespace halyard::vgpu::isa::model {
namespace {

// v[] and a[] of the wave, its scalars, and the instruction's three numbers.
struct Machine {
  Registers r, acc;
  unsigned d, a, b;
};
struct Move {
  const char* text;  // with D, A and B for the numbers of registers
  void (*model)(Machine& m);
  bool accumulators;
  bool moving_accumulators;   // from one to another: gfx90a and later
  bool swaps_groups = false;  // gfx950
};

uint64_t exec(const Machine& m) {
  return m.r.pair(kExecRegister);
}
template <class F>
void for_lanes(const Machine& m, F f) {
  const uint64_t mask = exec(m);
  for (unsigned lane = 0; lane < kLaneCount; ++lane) {
    if ((mask >> lane & 1) != 0) f(lane);
  }
}

// gfx950: D's odd groups of lanes change places with A's even ones, of which an inactive one gives
// nothing, a zero, or its value.
enum class Fetch : uint8_t { kNothing, kZero, kInactive };
template <unsigned kGroup, Fetch kFetch>
void swap_groups(Machine& m) {
  const Registers before = m.r;
  for_lanes(m, [&](unsigned lane) {
    const bool odd = (lane & kGroup) != 0;
    const unsigned partner = lane ^ kGroup;
    const bool active = (exec(m) >> partner & 1) != 0;
    if (!active && kFetch == Fetch::kNothing) return;
    const uint32_t value = before.v[odd ? m.a : m.d][partner];
    m.r.v[odd ? m.d : m.a][lane] = active || kFetch == Fetch::kInactive ? value : 0;
  });
}

const Move kMoves[] = {
    {"v_readlane_b32 sD, vA, sB", [](Machine& m) { m.r.s[m.d] = m.r.v[m.a][m.r.s[m.b] % 64]; },
     false, false},
    {"v_readlane_b32 sD, vA, 37", [](Machine& m) { m.r.s[m.d] = m.r.v[m.a][37]; }, false, false},
    {"v_readfirstlane_b32 sD, vA",
     [](Machine& m) {
       const uint64_t mask = exec(m);
       m.r.s[m.d] = m.r.v[m.a][mask == 0 ? 0 : std::countr_zero(mask)];
     },
     false, false},
    {"v_writelane_b32 vD, sA, 5", [](Machine& m) { m.r.v[m.d][5] = m.r.s[m.a]; }, false, false},
    {"v_writelane_b32 vD, -7, sB",
     [](Machine& m) { m.r.v[m.d][m.r.s[m.b] % 64] = static_cast<uint32_t>(-7); }, false, false},
    {"v_swap_b32 vD, vA",
     [](Machine& m) {
       for_lanes(m, [&](unsigned lane) { std::swap(m.r.v[m.d][lane], m.r.v[m.a][lane]); });
     },
     false, false},
    {"v_accvgpr_read_b32 vD, aA",
     [](Machine& m) {
       for_lanes(m, [&](unsigned lane) { m.r.v[m.d][lane] = m.acc.v[m.a][lane]; });
     },
     true, false},
    {"v_accvgpr_write_b32 aD, vA",
     [](Machine& m) {
       for_lanes(m, [&](unsigned lane) { m.acc.v[m.d][lane] = m.r.v[m.a][lane]; });
     },
     true, false},
    {"v_accvgpr_write_b32 aD, 1.0",
     [](Machine& m) { for_lanes(m, [&](unsigned lane) { m.acc.v[m.d][lane] = 0x3f800000; }); },
     true, false},
    {"v_accvgpr_mov_b32 aD, aA",
     [](Machine& m) {
       for_lanes(m, [&](unsigned lane) { m.acc.v[m.d][lane] = m.acc.v[m.a][lane]; });
     },
     true, true},
    {"v_permlane16_swap_b32 vD, vA", swap_groups<16, Fetch::kNothing>, false, false, true},
    {"v_permlane32_swap_b32 vD, vA", swap_groups<32, Fetch::kNothing>, false, false, true},
    {"v_permlane16_swap_b32_e64 vD, vA bound_ctrl:1", swap_groups<16, Fetch::kZero>, false, false,
     true},
    {"v_permlane32_swap_b32_e64 vD, vA fi:1", swap_groups<32, Fetch::kInactive>, false, false,
     true},
    {"v_permlane16_swap_b32_e64 vD, vA bound_ctrl:1 fi:1", swap_groups<16, Fetch::kInactive>, false,
     false, true},
    {"v_nop", [](Machine&) {}, false, false},
    {"v_clrexcp", [](Machine&) {}, false, false},
};

std::string name_of(const Move& move) {
  const std::string text = move.text;
  return text.substr(0, text.find(' '));
}

testing::Covered lane_moves_covered([] {
  testing::Names names;
  for (const Move& move : kMoves) names.insert(name_of(move));
  return names;
});

class LaneMoves : public ::testing::TestWithParam<const char*> {};

TEST_P(LaneMoves, AgreeWithTheModel) {
  const std::string processor = GetParam();
  std::string error;
  const auto decoder = Decoder::create(processor, "", error);
  ASSERT_NE(decoder, nullptr) << error;
  Random random(11);
  const auto vgprs = std::make_unique<VectorRegister[]>(kVgprs);
  const auto agprs = std::make_unique<VectorRegister[]>(kVgprs);
  const auto m = std::make_unique<Machine>();
  const auto randomize = [&](Registers& r) {
    for (auto& row : r.v) {
      for (uint32_t& x : row) x = static_cast<uint32_t>(random());
    }
    for (uint32_t& x : r.s) x = static_cast<uint32_t>(random());
  };
  for (const Move& move : kMoves) {
    const Target& target = decoder->target();
    if (move.accumulators && !target.accumulators) continue;
    if (move.moving_accumulators && !target.accum_offset) continue;
    if (move.swaps_groups && target.matrix_arithmetic != MatrixArithmetic::kCdna4) continue;
    for (unsigned n = 0; n < 40; ++n) {
      randomize(m->r);
      randomize(m->acc);
      if (n % 4 == 0) m->r.set_pair(kExecRegister, n == 0 ? 0 : ~uint64_t{0});
      m->d = static_cast<unsigned>(random() % kVgprs);
      m->a = static_cast<unsigned>(random() % kVgprs);
      m->b = static_cast<unsigned>(random() % kVgprs);
      std::string text;
      for (const char* c = move.text; *c != 0; ++c) {
        text += *c == 'D'   ? std::to_string(m->d)
                : *c == 'A' ? std::to_string(m->a)
                : *c == 'B' ? std::to_string(m->b)
                            : std::string(1, *c);
      }
      const std::vector<uint8_t> code = testing::assemble(text, processor, error);
      ASSERT_EQ(error, "") << text;
      Wave wave;
      wave.vgpr = vgprs.get();
      wave.agpr = agprs.get();
      wave.vgpr_count = wave.agpr_count = kVgprs;
      std::memcpy(vgprs.get(), m->r.v, sizeof m->r.v);
      std::memcpy(agprs.get(), m->acc.v, sizeof m->acc.v);
      std::memcpy(wave.sgpr, m->r.s, sizeof m->r.s);
      DecodedInstruction in;
      decoder->decode(std::span(code), in);
      ASSERT_EQ(in.execute(wave, in), Outcome::kNext) << text;
      move.model(*m);
      EXPECT_EQ(std::memcmp(vgprs.get(), m->r.v, sizeof m->r.v), 0) << text;
      EXPECT_EQ(std::memcmp(agprs.get(), m->acc.v, sizeof m->acc.v), 0) << text;
      EXPECT_EQ(std::memcmp(wave.sgpr, m->r.s, sizeof m->r.s), 0) << text;
    }
    lane_moves_covered.compared(name_of(move));
  }
  const std::set<std::string> implemented = find_coverage(processor).implemented;
  lane_moves_covered.expect_all(
      [&](const std::string& name) { return implemented.contains(name); });
}

INSTANTIATE_TEST_SUITE_P(Processors, LaneMoves,
                         ::testing::Values("gfx900", "gfx906", "gfx908", "gfx90a", "gfx942",
                                           "gfx950"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace halyard::vgpu::isa::model
