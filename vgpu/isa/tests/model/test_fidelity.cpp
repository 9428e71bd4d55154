// What is said of an instruction's fidelity, against the second model: it has bounds where the
// documents give no exact result.

#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

// The first column of "Open readings" in docs/virtual-gpu.md.
std::vector<std::string> rows_of_page() {
  std::ifstream page(HALYARD_OPEN_READINGS);
  std::vector<std::string> rows;
  std::string line;
  while (std::getline(page, line) && line != "## Open readings") {
  }
  while (std::getline(page, line) && !line.starts_with("## ")) {
    if (!line.starts_with("| ") || line.starts_with("| what |")) continue;
    const size_t end = line.find(" |");
    rows.push_back(line.substr(2, end - 2));
  }
  return rows;
}

// The last of gfx9 that has it.
std::optional<Generation> last_generation(Op op) {
  std::optional<Generation> last;
  for (const Encoding& encoding : row_of(op).all_encodings()) {
    for (unsigned g = 0; g <= static_cast<unsigned>(Generation::kGfx950); ++g) {
      const auto one = static_cast<Generation>(g);
      if (encoding.is_of(one) && (!last || one > *last)) last = one;
    }
  }
  return last;
}

TEST(Fidelity, OpenReadingsAreThoseOfThePage) {
  std::vector<std::string> named;
  for (const OpenReading& reading : open_readings()) named.emplace_back(reading.what);
  const std::vector<std::string> page = rows_of_page();
  EXPECT_GT(page.size(), 20u);
  EXPECT_EQ(named, page);
}

TEST(Fidelity, WhatAReadingLeavesOpenIsNotSaidToBeExact) {
  for (const OpenReading& reading : open_readings()) {
    for (const Op op : reading.ops) {
      const auto generation = last_generation(op);
      if (!generation) continue;
      const FidelityFact fact = fidelity_of(op, *generation);
      EXPECT_TRUE(fact.fidelity != Fidelity::kExact || *fact.why != 0)
          << row_of(op).name << ": " << reading.what;
    }
  }
}

TEST(Fidelity, WhatIsSaidToBeOpenHasAReading) {
  std::vector<bool> has_reading(kOps);
  for (const OpenReading& reading : open_readings()) {
    for (const Op op : reading.ops) has_reading[static_cast<unsigned>(op)] = true;
  }
  for (unsigned n = 1; n < kOps; ++n) {
    const auto generation = last_generation(static_cast<Op>(n));
    if (!generation) continue;
    const FidelityFact fact = fidelity_of(static_cast<Op>(n), *generation);
    const bool is_open = std::string_view(fact.why).find("open") != std::string_view::npos;
    EXPECT_TRUE(!is_open || has_reading[n]) << row_of(static_cast<Op>(n)).name << ": " << fact.why;
  }
}

}  // namespace
}  // namespace halyard::vgpu::isa::model
