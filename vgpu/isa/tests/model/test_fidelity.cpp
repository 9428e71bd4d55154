// What is said of an instruction's fidelity, against the second model: it has bounds where the
// documents give no exact result.

#include <gtest/gtest.h>

#include "vgpu/isa/fidelity.h"
#include "vgpu/isa/rows/row.h"
#include "vgpu/isa/tests/model/row.h"

namespace halyard::vgpu::isa::model {
namespace {

TEST(Fidelity, WhatTheModelBoundsIsNotExact) {
  unsigned bounded = 0;
  for (const model::Row& row : vector_rows()) {
    const Op op = find_op(row.name.c_str());
    ASSERT_NE(op, Op::none) << row.name;
    const FidelityFact fact = fidelity_of(op, Generation::kGfx90a);
    if (row.ulps == 0) {
      EXPECT_NE(fact.fidelity, Fidelity::kBounded) << row.name;
      continue;
    }
    EXPECT_NE(fact.fidelity, Fidelity::kExact) << row.name;
    // Hardware's bound is the engine's at least.
    if (fact.fidelity != Fidelity::kBounded) continue;
    EXPECT_GE(fact.ulps, row.ulps) << row.name;
    ++bounded;
  }
  EXPECT_GT(bounded, 10u);
}

TEST(Fidelity, WhatIsBoundedOrUnverifiedSaysWhy) {
  for (unsigned n = 1; n < kOps; ++n) {
    for (unsigned g = 0; g < kGenerations; ++g) {
      const FidelityFact fact = fidelity_of(static_cast<Op>(n), static_cast<Generation>(g));
      const char* const name = row_of(static_cast<Op>(n)).name;
      EXPECT_EQ(fact.fidelity == Fidelity::kBounded, fact.ulps != 0) << name;
      EXPECT_TRUE(fact.fidelity != Fidelity::kUnverified || *fact.why != 0) << name;
      // Reports put it into JSON as it is.
      EXPECT_EQ(std::string(fact.why).find_first_of("\"\\\n"), std::string::npos) << name;
    }
  }
}

}  // namespace
}  // namespace halyard::vgpu::isa::model
