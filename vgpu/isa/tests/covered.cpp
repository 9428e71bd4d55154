#include "vgpu/isa/tests/covered.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace halyard::vgpu::isa::testing {
namespace {

std::vector<std::function<Names()>>& lists() {
  static std::vector<std::function<Names()>> all;
  return all;
}

}  // namespace

Covered::Covered(std::function<Names()> names) : names_(std::move(names)) {
  lists().push_back(names_);
}

void Covered::expect_all(const std::function<bool(const std::string&)>& is_mine) const {
  const Names names = names_();
  for (const std::string& name : names) {
    if (!is_mine(name)) continue;
    EXPECT_TRUE(compared_.contains(name)) << name << " is listed, not compared";
  }
  for (const std::string& name : compared_)
    EXPECT_TRUE(names.contains(name)) << name << " is compared, not listed";
}

const Names& covered_names() {
  static const Names all = [] {
    Names names;
    for (const auto& list : lists()) names.merge(list());
    return names;
  }();
  return all;
}

}  // namespace halyard::vgpu::isa::testing
