#include "tools/values/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hal/file.h"
#include "tools/tests/support.h"

namespace halyard::values {
namespace {

using testing::bytes_of;
using ::testing::HasSubstr;
using testing::message_of;
using testing::read_bytes;
using testing::TemporaryFolder;
using testing::write_bytes;

const std::vector<std::byte> kNew = bytes_of<char>({'n', 'e', 'w'});

TEST(OutputFile, ReplacesTheOldFileOnlyAtCommit) {
  const TemporaryFolder folder;
  write_bytes(folder / "a", "old");
  auto file = OutputFile::open(folder / "a");
  ASSERT_TRUE(file.ok()) << message_of(file.status());
  ASSERT_TRUE(file->write(kNew).ok());
  EXPECT_EQ(read_bytes(folder / "a"), "old");
  ASSERT_TRUE(file->commit().ok());
  EXPECT_EQ(read_bytes(folder / "a"), "new");
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(OutputFile, LeavesNothingWithoutCommit) {
  const TemporaryFolder folder;
  {
    auto file = OutputFile::open(folder / "a");
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->write(kNew).ok());
    EXPECT_FALSE(std::filesystem::exists(folder / "a"));
  }
  EXPECT_EQ(folder.entries(), 0U);
}

TEST(OutputFile, KeepsModeAndLink) {
  const TemporaryFolder folder;
  write_bytes(folder / "real", "old");
  ASSERT_EQ(chmod((folder / "real").c_str(), 0640), 0);
  std::filesystem::create_symlink("real", folder / "link");
  auto file = OutputFile::open(folder / "link");
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->write(kNew).ok());
  ASSERT_TRUE(file->commit().ok());
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(read_bytes(folder / "real"), "new");
  struct stat facts = {};
  ASSERT_EQ(stat((folder / "real").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777, 0640U);
}

TEST(OutputFile, WritesIntoDevicesInPlace) {
  auto file = OutputFile::open("/dev/null");
  ASSERT_TRUE(file.ok()) << message_of(file.status());
  EXPECT_TRUE(file->write(kNew).ok());
  EXPECT_TRUE(file->commit().ok());
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(OutputFile, TroubleNamesTheFile) {
  const TemporaryFolder folder;
  const auto in_nowhere = OutputFile::open(folder / "none/a");
  EXPECT_EQ(in_nowhere.status().code(), StatusCode::kNotFound);
  EXPECT_THAT(message_of(in_nowhere.status()), HasSubstr(folder / "none/a"));
  EXPECT_THAT(message_of(OutputFile::open(folder.path()).status()), HasSubstr("Is a directory"));
  EXPECT_FALSE(OutputFile::open("").ok());
  auto full = OutputFile::open("/dev/full");
  ASSERT_TRUE(full.ok());
  EXPECT_EQ(full->write(kNew).code(), StatusCode::kResourceExhausted);
}

TEST(ReadFile, ReadsFilesAndPipes) {
  const TemporaryFolder folder;
  const std::string text(100000, 'x');
  write_bytes(folder / "a", text);
  EXPECT_EQ(read_file(folder / "a")->size(), text.size());
  write_bytes(folder / "empty", "");
  EXPECT_TRUE(read_file(folder / "empty")->empty());

  int ends[2] = {};
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(write(ends[1], text.data(), 30000), 30000);
  close(ends[1]);
  EXPECT_EQ(read_file("/proc/self/fd/" + std::to_string(ends[0]))->size(), 30000U);
  close(ends[0]);
}

}  // namespace
}  // namespace halyard::values
