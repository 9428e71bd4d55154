// Every build of the lane handlers gives what the baseline gives, to the bit.

#include <gtest/gtest.h>

#include <cstring>

#include "vgpu/isa/simd.h"
#include "vgpu/isa/target.h"
#include "vgpu/isa/valu/tests/random_machine.h"

namespace halyard::vgpu::isa::test {
namespace {

struct State {
  std::vector<VectorRegister> vgprs, agprs;
  std::vector<uint32_t> sgprs;
  bool scc;

  explicit State(const Wave& w)
      : vgprs(w.vgpr, w.vgpr + Machine::kRegisters),
        agprs(w.agpr, w.agpr + Machine::kRegisters),
        sgprs(std::begin(w.sgpr), std::end(w.sgpr)),
        scc(w.scc) {}
  void restore(Wave& w) const {
    std::memcpy(w.vgpr, vgprs.data(), vgprs.size() * sizeof(VectorRegister));
    std::memcpy(w.agpr, agprs.data(), agprs.size() * sizeof(VectorRegister));
    std::memcpy(w.sgpr, sgprs.data(), sizeof w.sgpr);
    w.scc = scc;
  }
  bool same(const Wave& w) const {
    return std::memcmp(w.vgpr, vgprs.data(), vgprs.size() * sizeof(VectorRegister)) == 0 &&
           std::memcmp(w.agpr, agprs.data(), agprs.size() * sizeof(VectorRegister)) == 0 &&
           std::memcmp(w.sgpr, sgprs.data(), sizeof w.sgpr) == 0 && w.scc == scc;
  }
};

// Runs `in` by two handlers from the same state.
void expect_same(Machine& m, Handler one, Handler other, const Instruction& fields,
                 const char* build) {
  const Instruction in = decoded(fields);
  ASSERT_EQ(one == nullptr, other == nullptr) << in.extra->mnemonic;
  if (one == nullptr) return;
  const State before(m.wave);
  ASSERT_EQ(one(m.wave, in), Outcome::kNext) << in.extra->mnemonic;
  const State after(m.wave);
  before.restore(m.wave);
  ASSERT_EQ(other(m.wave, in), Outcome::kNext) << in.extra->mnemonic;
  EXPECT_TRUE(after.same(m.wave)) << in.extra->mnemonic << " differs in the build for " << build;
}

class SimdBuilds : public testing::Test {
 protected:
  void SetUp() override {
    if (simd_builds().size() < 2)
      GTEST_SKIP() << "there is one build only for this CPU, or HALYARD_VGPU_SIMD is native";
  }
  RandomMachine m{2024};
  const SimdBuild& baseline = *simd_builds().front();
};

TEST_F(SimdBuilds, HaveTheSameInstructionsInTheSameOrder) {
  for (const SimdBuild* const build : simd_builds().subspan(1)) {
    for (const auto family : {&SimdBuild::vector, &SimdBuild::matrix, &SimdBuild::flat,
                              &SimdBuild::buffer, &SimdBuild::lds}) {
      ASSERT_EQ((baseline.*family).size(), (build->*family).size()) << build->name;
      for (size_t i = 0; i < (baseline.*family).size(); ++i) {
        const Opcode& o = (baseline.*family)[i];
        EXPECT_EQ(o.op, (build->*family)[i].op) << row_of(o.op).name;
        EXPECT_NE(o.general, (build->*family)[i].general) << row_of(o.op).name << " is shared";
      }
    }
  }
}

TEST_F(SimdBuilds, AgreeOnTheVectorAlu) {
  for (const SimdBuild* const build : simd_builds().subspan(1)) {
    for (size_t i = 0; i < baseline.vector.size(); ++i) {
      const Opcode &o = baseline.vector[i], &other = build->vector[i];
      for (int round = 0; round < 12; ++round) {
        m.randomize();
        Instruction in = m.instruction(o);
        expect_same(m, o.plain, other.plain, in, build->name);
        m.randomize();
        if (!moves_lanes(row_of(o.op).name)) m.modify(in);
        expect_same(m, o.general, other.general, in, build->name);
        if (HasFailure()) return;
      }
    }
  }
}

// In place, and with results that overlap sources by a part.
TEST_F(SimdBuilds, AgreeWhereRegistersOverlap) {
  for (const SimdBuild* const build : simd_builds().subspan(1)) {
    for (size_t i = 0; i < baseline.vector.size(); ++i) {
      const Opcode &o = baseline.vector[i], &other = build->vector[i];
      if (o.dst == Type::kMask || moves_lanes(row_of(o.op).name)) continue;
      for (unsigned round = 0; round < 9; ++round) {
        m.randomize();
        Instruction in = m.instruction(o);
        for (unsigned s = 0; s < 3; ++s) in.src[s] = vreg(20 + (s + round) % 3);
        in.dst = vreg(20 + round / 3);
        expect_same(m, o.plain, other.plain, in, build->name);
        expect_same(m, o.plain != nullptr ? o.plain : o.general, other.general, in, build->name);
        if (HasFailure()) return;
      }
    }
  }
}

TEST_F(SimdBuilds, AgreeOnMatrices) {
  for (const char* processor : {"gfx908", "gfx90a"}) {
    Target target;
    std::string error;
    ASSERT_TRUE(find_target(processor, "", target, error)) << error;
    m.wave.target = &target;
    for (const SimdBuild* const build : simd_builds().subspan(1)) {
      for (size_t i = 0; i < baseline.matrix.size(); ++i) {
        for (unsigned round = 0; round < 4; ++round) {
          m.randomize();
          Instruction in = Machine::make(row_of(baseline.matrix[i].op).name, Format::kVop3p);
          in.src[0] = vreg(0);
          in.src[1] = vreg(8);
          in.src[2] = round % 2 != 0 ? vreg(16) : constant(m.random());
          in.dst = vreg(20);
          expect_same(m, baseline.matrix[i].general, build->matrix[i].general, in, build->name);
          if (HasFailure()) return;
        }
      }
    }
  }
}

}  // namespace
}  // namespace halyard::vgpu::isa::test
