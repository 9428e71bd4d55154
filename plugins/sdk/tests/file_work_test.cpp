#include "plugins/sdk/file_work.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

namespace halyard {
namespace {

constexpr uint64_t kMore = (5 << 20) / 2;  // two pieces and a half

class FileWorkTest : public ::testing::Test {
 protected:
  FileWorkTest() : file_(mkstemp(name_)) {
    for (size_t i = 0; i < content_.size(); ++i)
      content_[i] = static_cast<std::byte>(i * 7 + i / 251);
  }
  ~FileWorkTest() override {
    close(file_);
    unlink(name_);
  }
  FileRange range(uint64_t offset) const { return {.descriptor = file_, .offset = offset}; }
  static BufferRange bytes(uint64_t length) {
    BufferRange range;
    range.length = length;
    return range;
  }

  char name_[32] = "/tmp/halyard-file-work-XXXXXX";
  const int file_;
  std::vector<std::byte> content_ = std::vector<std::byte>(kMore);
};

TEST_F(FileWorkTest, GoesThroughStagingMemoryPieceByPiece) {
  const FileWork write(FileWork::Direction::kToFile, range(100), bytes(kMore));
  EXPECT_EQ(write.facts().kind, ProfileKind::kWrite);
  std::vector<std::byte> staging(write.staging_size());
  EXPECT_LT(staging.size(), kMore);
  int copies = 0;
  const Status written =
      write.move_staged(staging.data(), staging.size(), [&](uint64_t done, uint64_t size, bool in) {
        EXPECT_FALSE(in);
        ++copies;
        std::memcpy(staging.data(), content_.data() + done, size);
        return Status();
      });
  ASSERT_TRUE(written.ok()) << written.to_string();
  EXPECT_EQ(copies, 3);

  const FileWork read(FileWork::Direction::kFromFile, range(100), bytes(kMore));
  EXPECT_EQ(read.facts().kind, ProfileKind::kRead);
  std::vector<std::byte> back(kMore);
  // Staging memory that is smaller than was wanted will do.
  const Status was_read =
      read.move_staged(staging.data(), 1000, [&](uint64_t done, uint64_t size, bool in) {
        EXPECT_TRUE(in);
        EXPECT_LE(size, 1000u);
        std::memcpy(back.data() + done, staging.data(), size);
        return Status();
      });
  ASSERT_TRUE(was_read.ok()) << was_read.to_string();
  EXPECT_EQ(back, content_);
}

TEST_F(FileWorkTest, ACopyThatFailsEndsIt) {
  const FileWork write(FileWork::Direction::kToFile, range(0), bytes(kMore));
  std::vector<std::byte> staging(write.staging_size());
  int copies = 0;
  const Status status =
      write.move_staged(staging.data(), staging.size(), [&](uint64_t, uint64_t, bool) {
        return ++copies == 2 ? Status(StatusCode::kAborted, "lost") : Status();
      });
  EXPECT_EQ(status.code(), StatusCode::kAborted);
  EXPECT_EQ(copies, 2);
  EXPECT_EQ(lseek(file_, 0, SEEK_END), 1 << 20) << "the first piece was written";
}

TEST_F(FileWorkTest, MappedMemoryIsSynchronisedOnTheSideThatTheHostWritesOrReads) {
  std::string order;
  const FileWork write(FileWork::Direction::kToFile, range(0), bytes(16));
  ASSERT_TRUE(
      write
          .move_mapped(content_.data(),
                       [&] { order += lseek(file_, 0, SEEK_END) == 0 ? "before " : "late "; })
          .ok());
  std::byte back[16] = {};
  const FileWork read(FileWork::Direction::kFromFile, range(0), bytes(16));
  ASSERT_TRUE(
      read.move_mapped(back, [&] { order += back[1] == content_[1] ? "after" : "early"; }).ok());
  EXPECT_EQ(order, "before after");
  EXPECT_EQ(std::memcmp(back, content_.data(), 16), 0);
}

}  // namespace
}  // namespace halyard
