// Signals to one process, halyard itself: commands that run other programs end, the programs end
// with them, and nothing is left.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "hal/base/process.h"
#include "tools/tests/cli.h"

namespace halyard::testing {
namespace {

using namespace std::chrono_literals;

// Polls for half a minute.
template <typename Condition>
bool becomes_true(const Condition& condition) {
  const auto end = std::chrono::steady_clock::now() + 30s;
  while (std::chrono::steady_clock::now() < end) {
    if (condition()) return true;
    std::this_thread::sleep_for(20ms);
  }
  return condition();
}

// A process that nobody has waited for yet is over, too.
bool is_over(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  if (!std::getline(file, text)) return true;
  const size_t name_end = text.rfind(')');
  return name_end == std::string::npos || text.substr(name_end + 2, 1) == "Z";
}

class CliSignals : public CliTest {
 protected:
  void SetUp() override { std::filesystem::create_directory(folder_ / "tmp"); }
  ~CliSignals() override {
    if (pid_ > 0) kill(pid_, SIGKILL);
    for (const pid_t pid : sleepers_) kill(pid, SIGKILL);
  }

  // A shell program that starts another one, writes down both, and sleeps.
  std::string sleeper() {
    write_bytes(folder_ / "sleeper", "#!/bin/sh\nsleep 600 &\necho $$ $! > " + (folder_ / "draft") +
                                         "\nmv " + (folder_ / "draft") + " " + (folder_ / "pids") +
                                         "\nwait\n");
    std::filesystem::permissions(folder_ / "sleeper", std::filesystem::perms::owner_all);
    return folder_ / "sleeper";
  }

  // Starts halyard, and waits until the sleeper runs.
  void start(const std::vector<std::string>& arguments) {
    std::vector<std::string> words = {HALYARD_PROGRAM};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<std::string> variables = {"PATH=/usr/bin:/bin", "TMPDIR=" + (folder_ / "tmp"),
                                          // Where the kernel driver's files stay for others.
                                          "XDG_RUNTIME_DIR=" + folder_.path(),
                                          "HALYARD_CLANG=" + sleeper(),
                                          "HALYARD_MLIR_OPT=" + sleeper()};
    ASSERT_EQ(base::start({.words = words, .environment = variables}, &pid_), 0);
    ASSERT_TRUE(becomes_true([&] { return std::filesystem::exists(folder_ / "pids"); }));
    std::ifstream file(folder_ / "pids");
    for (pid_t pid = 0; file >> pid;) sleepers_.push_back(pid);
    ASSERT_EQ(sleepers_.size(), 2u);
  }

  // Sends it, and returns what ended halyard: a signal, or 0.
  int end_by(int signal) {
    kill(pid_, signal);
    int status = 0;
    const bool ended = becomes_true([&] { return waitpid(pid_, &status, WNOHANG) == pid_; });
    EXPECT_TRUE(ended);
    if (!ended) return 0;
    pid_ = 0;
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }
  void expect_over(size_t sleeper) {
    const pid_t pid = sleepers_[sleeper];
    EXPECT_TRUE(becomes_true([&] { return is_over(pid); })) << sleeper;
  }
  static size_t entries_of(const std::string& folder) {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
  }

  pid_t pid_ = 0;
  std::vector<pid_t> sleepers_;
};

class CliSignalsTo : public CliSignals, public ::testing::WithParamInterface<int> {};

TEST_P(CliSignalsTo, ACompileLeavesNothing) {
  write_bytes(folder_ / "k.c", "int x;\n");
  std::filesystem::create_directory(folder_ / "out");
  start({"compile", folder_ / "k.c", "--target=gfx900", "-o", folder_ / "out/k.hsaco"});
  if (HasFatalFailure()) return;
  EXPECT_EQ(entries_of(folder_ / "tmp"), 1u);
  EXPECT_EQ(end_by(GetParam()), GetParam());
  expect_over(0);
  expect_over(1);
  EXPECT_EQ(entries_of(folder_ / "tmp"), 0u);
  EXPECT_EQ(entries_of(folder_ / "out"), 0u);
}

TEST_P(CliSignalsTo, ASourceOfARunLeavesNothing) {
  write_bytes(folder_ / "k.mlir", "gpu.module @kernels {}\n");
  start({"run", "--device=amdgpu", "--vgpu=gfx900", "--module=" + (folder_ / "k.mlir"),
         "--function=k"});
  if (HasFatalFailure()) return;
  EXPECT_EQ(end_by(GetParam()), GetParam());
  expect_over(0);
  expect_over(1);
}

TEST_P(CliSignalsTo, AProgramOfExecGetsIt) {
  start({"vgpu", "exec", "--counts=" + (folder_ / "counts"), "--", sleeper()});
  if (HasFatalFailure()) return;
  EXPECT_EQ(end_by(GetParam()), GetParam());
  // What a program itself has started is its own affair.
  expect_over(0);
  EXPECT_EQ(entries_of(folder_ / "tmp"), 0u);
}

INSTANTIATE_TEST_SUITE_P(, CliSignalsTo, ::testing::Values(SIGINT, SIGTERM, SIGHUP),
                         [](const auto& info) { return "Signal" + std::to_string(info.param); });

// A killed process can do nothing any more.
TEST_F(CliSignals, KillingExecEndsItsProgram) {
  start({"vgpu", "exec", "--counts=" + (folder_ / "counts"), "--", sleeper()});
  if (HasFatalFailure()) return;
  EXPECT_EQ(end_by(SIGKILL), SIGKILL);
  expect_over(0);
}

// A program that ends well after a signal has the last word.
TEST_F(CliSignals, AProgramOfExecDecidesWhatASignalDoes) {
  write_bytes(folder_ / "sleeper",
              "#!/bin/sh\ntrap 'kill $!; exit 7' TERM\nsleep 600 &\necho $$ $! > " +
                  (folder_ / "draft") + "\nmv " + (folder_ / "draft") + " " + (folder_ / "pids") +
                  "\nwait\n");
  std::filesystem::copy_file(folder_ / "sleeper", folder_ / "deciding");
  std::filesystem::permissions(folder_ / "deciding", std::filesystem::perms::owner_all);
  start({"vgpu", "exec", "--counts=" + (folder_ / "counts"), "--", folder_ / "deciding"});
  if (HasFatalFailure()) return;
  kill(pid_, SIGTERM);
  int status = 0;
  ASSERT_EQ(waitpid(pid_, &status, 0), pid_);
  pid_ = 0;
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

}  // namespace
}  // namespace halyard::testing
