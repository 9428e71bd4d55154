#include "cts/harness/selection.h"

#include <gtest/gtest.h>

namespace halyard::cts {
namespace {

bool matches_any(std::string_view globs, std::string_view name) {
  while (true) {
    const size_t colon = globs.find(':');
    if (matches_glob(globs.substr(0, colon), name)) return true;
    if (colon == std::string_view::npos) return false;
    globs.remove_prefix(colon + 1);
  }
}

}  // namespace

bool matches_glob(std::string_view glob, std::string_view name) {
  // The place to continue after a mismatch: after the last star, which takes one more character.
  size_t star = std::string_view::npos;
  size_t taken = 0;
  size_t g = 0;
  size_t n = 0;
  while (n < name.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = g++;
      taken = n;
    } else if (g < glob.size() && (glob[g] == '?' || glob[g] == name[n])) {
      ++g;
      ++n;
    } else if (star != std::string_view::npos) {
      g = star + 1;
      n = ++taken;
    } else {
      return false;
    }
  }
  while (g < glob.size() && glob[g] == '*') ++g;
  return g == glob.size();
}

bool matches_filter(std::string_view filter, std::string_view name) {
  const size_t dash = filter.find('-');
  const std::string_view positive = filter.substr(0, dash);
  if (!positive.empty() && !matches_any(positive, name)) return false;
  return dash == std::string_view::npos || !matches_any(filter.substr(dash + 1), name);
}

std::vector<std::string> select_tests(const std::vector<std::string>& all, std::string_view filter,
                                      Shard shard) {
  std::vector<std::string> selected;
  uint32_t place = 0;
  for (const std::string& name : all) {
    if (!matches_filter(filter, name)) continue;
    if (place++ % shard.count == shard.index - 1) selected.push_back(name);
  }
  return selected;
}

std::vector<std::string> all_tests() {
  std::vector<std::string> names;
  const testing::UnitTest& program = *testing::UnitTest::GetInstance();
  for (int s = 0; s < program.total_test_suite_count(); ++s) {
    const testing::TestSuite& suite = *program.GetTestSuite(s);
    for (int t = 0; t < suite.total_test_count(); ++t) {
      names.push_back(std::string(suite.name()) + "." + suite.GetTestInfo(t)->name());
    }
  }
  return names;
}

}  // namespace halyard::cts
