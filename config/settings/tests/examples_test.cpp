// The reader against the folder of examples (config/examples), and the examples against the schema.
//
// Each mistake of a bad example is announced by a line `# error: LINE:COLUMN: beginning`, in order;
// a good one says what is read with `# reads: PATH = VALUE`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "config/settings/reader.h"

namespace halyard::config {
namespace {

using ::testing::StartsWith;

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(HALYARD_CONFIG_EXAMPLES) + "/" + folder)) {
    files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> announced(const std::string& path, std::string_view mark) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(mark)) lines.push_back(line.substr(mark.size()));
  }
  return lines;
}

TEST(ConfigExamples, BadOnesHaveTheMistakesThatTheyAnnounce) {
  const std::vector<std::string> files = files_in("bad");
  EXPECT_GE(files.size(), 14u);
  for (const std::string& path : files) {
    Diagnostics diagnostics;
    SettingMap settings;
    EXPECT_FALSE(read_config_file(path, {}, diagnostics, settings)) << path;
    const std::vector<std::string> expected = announced(path, "# error: ");
    ASSERT_EQ(diagnostics.errors().size(), expected.size()) << path << "\n" << diagnostics.text();
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_THAT(diagnostics.errors()[i], StartsWith(path + ":" + expected[i]));
    }
  }
}

TEST(ConfigExamples, GoodOnesAreReadAsTheySay) {
  for (const std::string& path : files_in("good")) {
    Diagnostics diagnostics;
    SettingMap settings;
    EXPECT_TRUE(read_config_file(path, {}, diagnostics, settings)) << diagnostics.text();
    for (const std::string& line : announced(path, "# reads: ")) {
      const size_t equals = line.find(" = ");
      const auto found = settings.find(line.substr(0, equals));
      ASSERT_NE(found, settings.end()) << path << ": " << line;
      EXPECT_EQ(found->second.value().text, line.substr(equals + 3));
    }
  }
}

// A row that no example uses would not be tested by the folder.
TEST(ConfigExamples, EveryKeyIsInAGoodOne) {
  Diagnostics diagnostics;
  SettingMap settings;
  for (const std::string& path : files_in("good")) {
    read_config_file(path, {}, diagnostics, settings);
  }
  for (const Key& key : key_table()) {
    const bool used = std::any_of(settings.begin(), settings.end(),
                                  [&](const auto& entry) { return entry.second.key == &key; });
    EXPECT_TRUE(used) << key.path;
  }
}

TEST(ConfigExamples, WhatIsRightInABadOneIsReadAllTheSame) {
  Diagnostics diagnostics;
  SettingMap settings;
  read_config_text("logging: {level: nota}\nvalidation: {level: none}\n", "f.yaml", {}, diagnostics,
                   settings);
  EXPECT_EQ(diagnostics.errors().size(), 1u);
  EXPECT_EQ(settings.count("validation.level"), 1u);
  EXPECT_EQ(settings.count("logging.level"), 0u);
}

}  // namespace
}  // namespace halyard::config
