#include "hal/status.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "hal/error.h"

// The tests below ask for more memory than there is, on purpose.
// The sanitizer's library looks these up, so they are not hidden.
#define EXPORTED extern "C" __attribute__((visibility("default")))
EXPORTED const char* __asan_default_options() {
  return "allocator_may_return_null=1";
}
EXPORTED const char* __tsan_default_options() {
  return "allocator_may_return_null=1";
}
#undef EXPORTED

namespace halyard {
namespace {

TEST(Status, IsOnePointerAndOkByDefault) {
  static_assert(sizeof(Status) == sizeof(void*));
  const Status status;
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.code(), StatusCode::kOk);
  EXPECT_TRUE(status.message().empty());
  EXPECT_EQ(status.to_string(), "OK");
}

TEST(Status, KeepsCodeAndMessage) {
  std::string message = "The file (7) is missing.";
  const Status status(StatusCode::kNotFound, message);
  message.assign(message.size(), 'x');  // the status has a copy
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_EQ(status.message().view(), "The file (7) is missing.");
  EXPECT_EQ(status.to_string(), "NOT_FOUND: The file (7) is missing.");
}

TEST(Status, CopiesShareAndMovesEmpty) {
  Status first(StatusCode::kAborted, "why");
  const Status copy = first;
  EXPECT_EQ(copy.message().data(), first.message().data());
  const Status moved = std::move(first);
  EXPECT_TRUE(first.ok());  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(moved.message().view(), "why");
  first = copy;
  Status& self = first;
  first = self;
  EXPECT_EQ(first.message().view(), "why");
}

TEST(Status, AFailureWithoutACodeIsStillAFailure) {
  const Status status(StatusCode::kOk, "not so");
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.code(), StatusCode::kInternal);
}

TEST(Status, ContextGoesInFront) {
  EXPECT_TRUE(Status().with_context("loading").ok());
  const Status inner(StatusCode::kDataLoss, "It is damaged.");
  const Status outer = inner.with_context("a.hsaco").with_context("run");
  EXPECT_EQ(outer.code(), StatusCode::kDataLoss);
  EXPECT_EQ(outer.message().view(), "run: a.hsaco: It is damaged.");
  EXPECT_EQ(inner.message().view(), "It is damaged.");
  EXPECT_EQ(inner.with_context("").message().view(), "It is damaged.");
}

TEST(Status, WithoutMemoryItFailsWithItsCodeAndNoMessage) {
  // A message that no allocation can hold; it is never read.
  const std::string_view huge("", SIZE_MAX / 4);
  const Status status(StatusCode::kUnavailable, huge);
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_TRUE(status.message().empty());
  const Status other(StatusCode::kDataLoss, huge);
  EXPECT_EQ(other.code(), StatusCode::kDataLoss);
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  // Dropped more often than it was made, it still works.
  for (int i = 0; i < 3; ++i) {
    const Status again(StatusCode::kUnavailable, huge);
    EXPECT_EQ(again.code(), StatusCode::kUnavailable);
  }
}

TEST(Status, IsSharedBetweenThreads) {
  const Status shared(StatusCode::kInternal, "shared");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&shared] {
      for (int j = 0; j < 10000; ++j) {
        Status copy = shared;
        const Status moved = std::move(copy);
        ASSERT_EQ(moved.message().view(), "shared");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(shared.message().view(), "shared");
}

TEST(Status, NamesEveryCode) {
  for (int32_t i = 0; i <= 16; ++i) {
    const std::string name = to_string(static_cast<StatusCode>(i));
    EXPECT_EQ(name == "UNKNOWN", i == 2) << i;
  }
  EXPECT_STREQ(to_string(static_cast<StatusCode>(99)), "UNKNOWN");
}

TEST(Error, Formats) {
  const Status status =
      error(StatusCode::kInvalidArgument, "{} of {} is {}", StringView("a"), Dim3{4, 2, 1}, 0x10);
  EXPECT_EQ(status.message().view(), "a of 4×2×1 is 16");
}

Result<std::unique_ptr<int>> half(int value) {
  if (value % 2 != 0) return error(StatusCode::kInvalidArgument, "{} is odd.", value);
  return std::make_unique<int>(value / 2);
}

Result<int> quarter(int value) {
  HALYARD_ASSIGN_OR_RETURN(const std::unique_ptr<int> once, half(value));
  HALYARD_ASSIGN_OR_RETURN(const std::unique_ptr<int> twice, half(*once));
  return *twice;
}

TEST(Result, CarriesAValueOrAFailure) {
  EXPECT_EQ(quarter(12).value(), 3);
  EXPECT_EQ(quarter(6).status().message().view(), "3 is odd.");
  EXPECT_EQ(quarter(5).status().message().view(), "5 is odd.");
}

TEST(Result, MovesItsValue) {
  auto result = half(8);
  ASSERT_TRUE(result.ok());
  auto other = std::move(result);
  EXPECT_EQ(*other.value(), 4);
  other = half(3);
  EXPECT_FALSE(other.ok());
  other = half(2);
  EXPECT_EQ(**other, 1);
}

}  // namespace
}  // namespace halyard
