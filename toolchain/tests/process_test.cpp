#include "toolchain/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <string>

namespace halyard::toolchain {
namespace {

using ::testing::HasSubstr;

const ProcessOptions kCaptured = {.output = Output::kCapture};

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

// In a child of the test's, because a guard is for a process's one thread.
int exit_code_of(const std::function<int()>& body) {
  const pid_t pid = fork();
  if (pid == 0) _exit(body());
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(Process, AToolEndsWithASignalToThisProcessAndTheRestIsNotRun) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    EXPECT_EQ(exit_code_of([&] {
                const SignalGuard guard;
                const std::string kill_me = "kill -" + std::to_string(signal) + " $PPID; sleep 600";
                const auto end = run_process({"sh", "-c", kill_me});
                const auto next = run_process({"sh", "-c", "exit 0"});
                const bool good = end.status().code() == StatusCode::kCancelled &&
                                  next.status().code() == StatusCode::kCancelled &&
                                  interruption() == signal;
                return good ? 0 : 1;
              }),
              0)
        << signal;
  }
}

TEST(Process, AProgramDecidesWhatASignalDoes) {
  EXPECT_EQ(exit_code_of([] {
              const auto end = run_process(
                  {"sh", "-c", "trap 'exit 5' TERM; kill -TERM $PPID; while :; do sleep 0.1; done"},
                  {.role = Role::kProgram});
              return end.ok() && end->exit_code == 5 && interruption() == 0 ? 0 : 1;
            }),
            0);
}

TEST(Process, SignalsThatWereIgnoredStaySo) {
  EXPECT_EQ(exit_code_of([] {
              signal(SIGHUP, SIG_IGN);  // as nohup does
              const auto end = run_process({"sh", "-c", "kill -HUP $PPID; kill -HUP $$; exit 4"});
              return end.ok() && end->exit_code == 4 && interruption() == 0 ? 0 : 1;
            }),
            0);
}

TEST(Process, AProgramThatCannotBeStartedIsNamedInEitherRole) {
  const auto end = run_process({"/nonexistent/program"}, {.role = Role::kProgram});
  ASSERT_FALSE(end.ok());
  EXPECT_THAT(end.status().to_string(),
              HasSubstr("(/nonexistent/program) cannot be run: No such file"));
}

TEST(Process, SomebodyIsCalledWhileItRuns) {
  for (const Output output : {Output::kInherit, Output::kCapture}) {
    int calls = 0;
    const auto end = run_process({"sh", "-c", "sleep 0.3; exit 3"},
                                 {.output = output, .while_running = [&] { ++calls; }});
    ASSERT_TRUE(end.ok());
    EXPECT_EQ(end->exit_code, 3);
    EXPECT_GE(calls, 2);
  }
}

}  // namespace
}  // namespace halyard::toolchain
