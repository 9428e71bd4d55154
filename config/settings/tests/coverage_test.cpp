// Each key of the table is named by a test that fails if the key changes nothing. Such a test has a
// line of its own in front of it: "// Config key: plugins.paths", several lines for several keys.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "config/settings/key_table.h"

namespace halyard::config {
namespace {

namespace fs = std::filesystem;
using ::testing::StartsWith;

constexpr std::string_view kMark = "// Config key: ";

// By the keys that lines of the file name: the place, and the line behind the comment.
struct Mark {
  std::string place;
  std::string next;
};
void read_marks(const fs::path& path, std::multimap<std::string, Mark>* marks) {
  std::ifstream file(path);
  std::vector<std::multimap<std::string, Mark>::iterator> open;
  size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.starts_with(kMark)) {
      open.push_back(marks->emplace(line.substr(kMark.size()),
                                    Mark{path.string() + ":" + std::to_string(number), {}}));
    } else if (!line.starts_with("//")) {
      for (const auto& mark : open) mark->second.next = line;
      open.clear();
    }
  }
}

std::multimap<std::string, Mark> marks_of_all_tests() {
  std::multimap<std::string, Mark> marks;
  for (const char* const folder : {"config", "cts", "drivers", "registry", "tools"}) {
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(HALYARD_CONFIG_SOURCE) / folder)) {
      const fs::path& path = entry.path();
      if (path.string().ends_with("_test.cpp")) read_marks(path, &marks);
    }
  }
  return marks;
}

TEST(ConfigCoverage, EachKeyIsNamedByATest) {
  const std::multimap<std::string, Mark> marks = marks_of_all_tests();
  for (const Key& key : key_table()) {
    EXPECT_GT(marks.count(std::string(key.path)), 0u)
        << "No test says \"" << kMark << key.path << "\"";
  }
}

TEST(ConfigCoverage, EachMarkNamesAKeyAndIsInFrontOfATest) {
  for (const auto& [path, mark] : marks_of_all_tests()) {
    const bool is_key = std::ranges::any_of(
        key_table(), [&](const Key& key) { return std::string(key.path) == path; });
    EXPECT_TRUE(is_key) << mark.place << ": " << path;
    EXPECT_THAT(mark.next, StartsWith("TEST")) << mark.place;
  }
}

}  // namespace
}  // namespace halyard::config
