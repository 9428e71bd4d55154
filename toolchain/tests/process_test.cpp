#include "toolchain/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

namespace halyard::toolchain {
namespace {

using ::testing::HasSubstr;

constexpr ProcessOptions kCaptured = {.output = Output::kCapture};

TEST(Process, ArgumentsArriveAsTheyAreAndOutputComesBack) {
  const auto end = run_process({"printf", "%s|", "a b", "$HOME", "\"'"}, kCaptured);
  ASSERT_TRUE(end.ok()) << end.status().to_string();
  EXPECT_TRUE(end->ok());
  EXPECT_EQ(end->output, "a b|$HOME|\"'|");
  EXPECT_EQ(end->errors, "");
}

TEST(Process, BothStreamsMayBeLargerThanAPipe) {
  const auto end = run_process(
      {"sh", "-c", "head -c 300000 /dev/zero >&2; head -c 200000 /dev/zero; exit 3"}, kCaptured);
  ASSERT_TRUE(end.ok()) << end.status().to_string();
  EXPECT_EQ(end->exit_code, 3);
  EXPECT_FALSE(end->ok());
  EXPECT_EQ(end->errors.size(), 300000u);
  EXPECT_EQ(end->output.size(), 200000u);
}

TEST(Process, ASignalIsTold) {
  const auto end = run_process({"sh", "-c", "kill -9 $$"}, kCaptured);
  ASSERT_TRUE(end.ok()) << end.status().to_string();
  EXPECT_EQ(end->signal, SIGKILL);
  EXPECT_FALSE(end->ok());
}

TEST(Process, OutputCanGoToStandardError) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const auto end =
      run_process({"sh", "-c", "echo out; echo err >&2"}, {.output = Output::kToErrors});
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "out\nerr\n");
  EXPECT_TRUE(end.ok() && end->ok());
}

TEST(Process, OutputAloneCanComeBack) {
  ::testing::internal::CaptureStderr();
  const auto end =
      run_process({"sh", "-c", "echo out; echo err >&2"}, {.output = Output::kCaptureOutput});
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "err\n");
  ASSERT_TRUE(end.ok() && end->ok());
  EXPECT_EQ(end->output, "out\n");
  EXPECT_EQ(end->errors, "");
}

TEST(Process, EnvironmentIsOnTopOfThisProcesss) {
  ASSERT_EQ(setenv("HALYARD_PROCESS_TEST", "before", 1), 0);
  ASSERT_EQ(setenv("HALYARD_PROCESS_TEST_2", "kept", 1), 0);
  const auto end =
      run_process({"sh", "-c", "echo $HALYARD_PROCESS_TEST $HALYARD_PROCESS_TEST_2"},
                  {.output = Output::kCapture, .environment = {"HALYARD_PROCESS_TEST=after"}});
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(end->output, "after kept\n");
}

TEST(Process, AProgramThatCannotBeStartedIsNamed) {
  const auto end = run_process({"/nonexistent/compiler"}, kCaptured);
  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.status().code(), StatusCode::kNotFound);
  EXPECT_THAT(end.status().to_string(), HasSubstr("(/nonexistent/compiler)"));
}

}  // namespace
}  // namespace halyard::toolchain
