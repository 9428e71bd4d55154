#include "plugins/sdk/printf_buffer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace halyard {
namespace {

constexpr PrintfBuffer::Timeouts kForever = {std::chrono::hours(1), std::chrono::hours(1)};

class PrintfBufferTest : public ::testing::Test {
 protected:
  // As a kernel takes room (__printf_alloc); the words' place, 0 if there is none left.
  size_t take(size_t words) {
    const size_t offset = words_[0] / 4;
    if ((offset + words + 2) * 4 > words_[1]) return 0;
    words_[0] += static_cast<uint32_t>(words * 4);
    return offset + 2;
  }
  void write(std::initializer_list<uint32_t> record) {
    size_t at = take(record.size());
    ASSERT_NE(at, 0u);
    for (const uint32_t word : record) words_[at++] = word;
  }
  std::string drain(bool all_done = false) {
    std::string text;
    buffer_.drain([&](std::string_view more) { text += more; }, all_done);
    return text;
  }

  std::vector<uint32_t> words_ = std::vector<uint32_t>(16);
  PrintfBuffer buffer_{
      words_.data(), words_.size() * 4, {{1, {4, 4}, "%d %d\n"}, {2, {}, "x\n"}}, kForever};
};

TEST_F(PrintfBufferTest, RecordsArePrintedOnceAndTheirRoomComesBack) {
  EXPECT_EQ(drain(), "");
  for (uint32_t i = 0; i < 20; ++i) {
    write({1, i, 7});
    write({2});
    EXPECT_EQ(drain(), std::to_string(i) + " 7\nx\n");
    EXPECT_EQ(words_[0], 0u);
  }
}

TEST_F(PrintfBufferTest, ARecordThatIsNotWholeIsWaitedFor) {
  write({2});
  const size_t at = take(3);
  EXPECT_EQ(drain(), "x\n");
  words_[at] = 1;
  words_[at + 2] = 4;
  EXPECT_EQ(drain(), "");
  write({2});  // waits behind it
  EXPECT_EQ(drain(), "");
  words_[at + 1] = 3;
  EXPECT_EQ(drain(), "3 4\nx\n");
  EXPECT_EQ(words_[0], 0u);
}

TEST_F(PrintfBufferTest, WhenAllIsDoneEveryRecordIsWhole) {
  // A value that is the filling word.
  const size_t at = take(3);
  const uint32_t filling = words_[at + 1];
  words_[at] = 1;
  words_[at + 2] = 4;
  EXPECT_EQ(drain(), "");
  EXPECT_EQ(drain(true), std::to_string(static_cast<int32_t>(filling)) + " 4\n");
}

TEST_F(PrintfBufferTest, ShortStringsLeaveWordsAtTheEnd) {
  // "%s %d": of the record's four words the last stays as it was.
  PrintfBuffer buffer(words_.data(), words_.size() * 4, {{3, {8, 4}, "%s %d\n"}}, kForever);
  const size_t at = take(4);
  words_[at] = 3;
  std::memcpy(&words_[at + 1], "text", 4);
  words_[at + 2] = 7;
  std::string text;
  buffer.drain([&](std::string_view more) { text += more; }, true);
  EXPECT_EQ(text, "text 7\n");
}

TEST_F(PrintfBufferTest, AnUnknownRecordEndsWhatIsThere) {
  ::testing::internal::CaptureStderr();
  write({9});
  write({2});
  EXPECT_EQ(drain(), "");
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), ::testing::HasSubstr("(id 9)"));
  write({2});
  EXPECT_EQ(drain(), "x\n");
}

TEST_F(PrintfBufferTest, AnOffsetBeyondTheBufferIsNotFollowed) {
  words_[0] = 4000;
  EXPECT_EQ(drain(true), "");
}

}  // namespace
}  // namespace halyard
