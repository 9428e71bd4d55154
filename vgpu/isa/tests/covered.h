// Which instructions the tests compare with a model. Each such test says it with a list, and proves
// it whenever it runs: model/test_completeness.cpp counts nothing else.
#pragma once

#include <functional>
#include <set>
#include <string>

namespace halyard::vgpu::isa::testing {

using Names = std::set<std::string>;

// One for each test file, at namespace scope.
class Covered {
 public:
  // `names`: what the file's tests compare, on processors that have it.
  explicit Covered(std::function<Names()> names);
  Covered(const Covered&) = delete;
  Covered& operator=(const Covered&) = delete;

  // For a test, when it has compared an instruction's results with the model's.
  void compared(const std::string& name) { compared_.insert(name); }
  // Fails the running test unless it has compared exactly those of the list that `is_mine` takes:
  // that the processor has, and that belong to this test of the file.
  void expect_all(const std::function<bool(const std::string&)>& is_mine) const;

 private:
  const std::function<Names()> names_;
  Names compared_;
};

// Of all files.
const Names& covered_names();

}  // namespace halyard::vgpu::isa::testing
