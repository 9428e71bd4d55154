// hal/base/process.h: programs, children that run a function, and reading what they say.
#include "hal/base/process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>

namespace halyard::base {
namespace {

using std::chrono::milliseconds;

// How the program ends, with both of its streams.
int run(Program program, std::string* out, std::string* err) {
  Pipe out_pipe;
  Pipe err_pipe;
  EXPECT_EQ(out_pipe.open(), 0);
  EXPECT_EQ(err_pipe.open(), 0);
  program.descriptors = {{out_pipe.writer(), STDOUT_FILENO}, {err_pipe.writer(), STDERR_FILENO}};
  pid_t pid = 0;
  EXPECT_EQ(start(program, &pid), 0);
  out_pipe.close_writer();
  err_pipe.close_writer();
  read_both(out_pipe, out, err_pipe, err);
  return wait_for(pid);
}

// Both ways of starting one.
class Started : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Ways, Started, ::testing::Bool());

TEST_P(Started, BothStreamsAreReadWhateverFillsUpFirst) {
  std::string out;
  std::string err;
  const std::string script = "head -c 200000 /dev/zero >&2; head -c 300000 /dev/zero; exit 7";
  const int status =
      run({.words = {"sh", "-c", script}, .ends_with_parent = GetParam()}, &out, &err);
  EXPECT_EQ(out.size(), 300000u);
  EXPECT_EQ(err.size(), 200000u);
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST_P(Started, AProgramHasTheEnvironmentAndTheFileThatItIsGiven) {
  std::string out;
  std::string err;
  run({.words = {"another-name", "-c", "echo $0 $A"},
       .file = "/bin/sh",
       .environment = {"A=b"},
       .ends_with_parent = GetParam()},
      &out, &err);
  EXPECT_EQ(out, "another-name b\n");
  EXPECT_EQ(err, "");
}

TEST_P(Started, WhatCannotRunIsSaid) {
  pid_t pid = 0;
  EXPECT_EQ(start({.words = {"/nowhere"}, .ends_with_parent = GetParam()}, &pid), ENOENT);
  EXPECT_EQ(start({.words = {"/etc/passwd"}, .ends_with_parent = GetParam()}, &pid), EACCES);
}

TEST(Child, WritesToThePipeAndEnds) {
  Pipe pipe;
  pid_t pid = 0;
  ASSERT_EQ(start_child(pipe, [](int writer) { write_all(writer, "all well"); }, &pid), 0);
  std::string text;
  while (read_some(pipe.reader(), kForever, &text) == Got::kBytes) {
  }
  EXPECT_EQ(text, "all well");
  EXPECT_EQ(wait_for(pid), 0);
}

TEST(Child, ThatThrowsEndsWithOne) {
  Pipe pipe;
  pid_t pid = 0;
  ASSERT_EQ(start_child(pipe, [](int) { throw std::runtime_error("no"); }, &pid), 0);
  EXPECT_EQ(WEXITSTATUS(wait_for(pid)), 1);
}

TEST(Child, ThatSaysNothingIsNotWaitedForLongerThanAsked) {
  Pipe pipe;
  pid_t pid = 0;
  ASSERT_EQ(start_child(pipe, [](int) { pause(); }, &pid), 0);
  std::string text;
  EXPECT_EQ(read_some(pipe.reader(), milliseconds(20), &text), Got::kNothingInTime);
  EXPECT_EQ(read_some(pipe.reader(), milliseconds(-5), &text), Got::kNothingInTime);
  kill(pid, SIGKILL);
  EXPECT_EQ(read_some(pipe.reader(), kForever, &text), Got::kEnd);
  EXPECT_EQ(WTERMSIG(wait_for(pid)), SIGKILL);
  EXPECT_EQ(text, "");
}

TEST(Pipes, WithoutAReaderCannotBeWritten) {
  Pipe pipe;
  ASSERT_EQ(pipe.open(), 0);
  pipe.close_reader();
  struct sigaction ignored = {};
  struct sigaction before = {};
  ignored.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignored, &before);
  EXPECT_FALSE(write_all(pipe.writer(), "x"));
  sigaction(SIGPIPE, &before, nullptr);
}

}  // namespace
}  // namespace halyard::base
