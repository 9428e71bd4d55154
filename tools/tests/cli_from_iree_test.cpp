// docs/from-iree.md: each of its commands is run, and prints what the page says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "tools/tests/cli.h"

namespace halyard::testing {
namespace {

namespace fs = std::filesystem;

struct Example {
  size_t line = 0;
  std::string commands;
  std::string output;  // … is any text; empty: anything
};

// The page's blocks "sh", each with the block "text" behind it.
std::vector<Example> read_examples() {
  std::istringstream page(read_bytes(HALYARD_FROM_IREE_PAGE));
  std::vector<Example> examples;
  std::string* block = nullptr;
  size_t number = 0;
  for (std::string line; std::getline(page, line);) {
    ++number;
    if (line == "```sh") {
      block = &examples.emplace_back(Example{number, "", ""}).commands;
    } else if (line == "```text" && !examples.empty()) {
      block = &examples.back().output;
    } else if (line.starts_with("```")) {
      block = nullptr;
    } else if (block != nullptr) {
      *block += line + "\n";
    }
  }
  return examples;
}

// Whether `text` is `pattern`, in which … stands for any text.
bool fits(const std::string& text, const std::string& pattern) {
  const std::string any = "…";
  size_t at = 0;
  size_t begin = 0;
  for (bool first = true;; first = false) {
    const size_t end = pattern.find(any, begin);
    const bool is_last = end == std::string::npos;
    const std::string part = pattern.substr(begin, is_last ? end : end - begin);
    if (first && !text.starts_with(part)) return false;
    if (is_last) return text.size() >= at + part.size() && text.ends_with(part);
    const size_t found = text.find(part, at);
    if (found == std::string::npos) return false;
    at = found + part.size();
    begin = end + any.size();
  }
}

TEST(Fits, AnyTextStandsBetweenTheParts) {
  EXPECT_TRUE(fits("abc", "abc"));
  EXPECT_TRUE(fits("a\nb\nc\n", "a\n…c\n"));
  EXPECT_FALSE(fits("abc", "ab"));
  EXPECT_FALSE(fits("abc", "b…"));
  EXPECT_FALSE(fits("abc", "a…b"));
  EXPECT_FALSE(fits("ab", "ab…b"));
}

class FromIree : public CliTest {
 protected:
  // A clone of the project, into which commands may write.
  void SetUp() override {
    if (!fs::exists("/usr/bin/clang-22")) GTEST_SKIP() << "Skipped: clang-22 is not installed.";
    for (const auto& entry : fs::directory_iterator(HALYARD_SOURCE)) {
      if (entry.path().filename() == ".git") continue;
      fs::create_symlink(entry.path(), folder_ / entry.path().filename().string());
    }
  }
};

TEST_F(FromIree, EachCommandOfThePageDoesWhatItSays) {
  const std::string programs = fs::path(HALYARD_PROGRAM).parent_path();
  const std::vector<Example> examples = read_examples();
  ASSERT_GE(examples.size(), 12U);
  for (const Example& example : examples) {
    SCOPED_TRACE("line " + std::to_string(example.line) + ":\n" + example.commands);
    const Outcome outcome =
        spawn({"-c", "set -euo pipefail; cd \"$1\"; PATH=$2:$PATH\n" + example.commands, "bash",
               folder_.path(), programs},
              {.program = "/bin/bash", .environment = {{"XDG_CACHE_HOME", folder_ / "cache"}}});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    if (example.output.empty()) continue;
    EXPECT_TRUE(fits(outcome.out, example.output)) << outcome.out << "is not\n" << example.output;
  }
}

}  // namespace
}  // namespace halyard::testing
