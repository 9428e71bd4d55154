#include "cts/harness/child.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cts/harness/environment.h"
#include "cts/harness/record.h"
#include "hal/base/process.h"

namespace halyard::cts {
namespace {

constexpr const char* kMark = "HALYARD_CTS_CHILD";

// "Suite.Test".
std::string current_test() {
  const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
  return std::string(test.test_suite_name()) + "." + test.name();
}

std::vector<std::string> arguments_for(const std::string& test) {
  const Options& options = Environment::get().options();
  std::vector<std::string> arguments = {"halyard-cts",
                                        "--device=" + options.device,
                                        "--seed=" + std::to_string(options.seed),
                                        "--filter=" + test,
                                        "--expectations=none",
                                        "--timeout=" + std::to_string(options.timeout_seconds)};
  const auto add = [&arguments](const std::string& flag, const std::optional<std::string>& value) {
    if (value) arguments.push_back(value->empty() ? flag : flag + "=" + *value);
  };
  add("--vgpu", options.vgpu);
  add("--check", options.check);
  if (!options.kernels.empty()) arguments.push_back("--kernels=" + options.kernels);
  for (const std::string& path : options.configs) arguments.push_back("--config=" + path);
  for (const std::string& path : options.plugin_paths) {
    arguments.push_back("--plugin-path=" + path);
  }
  return arguments;
}

// This process's variables, without those that would have the child write over gtest's reports.
std::vector<std::string> variables_for_child() {
  std::vector<std::string> variables = {std::string(kMark) + "=1"};
  for (const std::string& text : base::Program::this_environment()) {
    if (!text.starts_with("GTEST_")) variables.push_back(text);
  }
  return variables;
}

// How the current test ends in a child process.
struct ChildEnd {
  int status = 0;      // as waitpid gives it
  std::string errors;  // what it wrote to stderr, which is passed on
};

// Nothing, with a failure added to the test, if there is no such process.
std::optional<ChildEnd> run_child() {
  base::Pipe pipe;
  if (const int why = pipe.open(); why != 0) {
    ADD_FAILURE() << "There is no pipe for the test's own process (error " << why << ").";
    return std::nullopt;
  }
  const pid_t child = start_child(pipe.writer(), STDERR_FILENO);
  pipe.close_writer();
  if (child < 0) return std::nullopt;
  ChildEnd end;
  for (std::string piece;
       base::read_some(pipe.reader(), base::kForever, &piece) == base::Got::kBytes; piece.clear()) {
    std::fwrite(piece.data(), 1, piece.size(), stderr);
    end.errors += piece;
  }
  end.status = base::wait_for(child);
  return end;
}

// A failure of the test unless the child has passed.
void expect_success(int status) {
  if (WIFSIGNALED(status)) {
    ADD_FAILURE() << "The test's own process is ended by signal " << WTERMSIG(status) << ".";
  } else if (WEXITSTATUS(status) != 0) {
    ADD_FAILURE() << "The test fails in its own process; see above.";
  }
}

// The same, if it ends within --timeout; otherwise it is killed.
std::optional<int> wait_with_timeout(pid_t child) {
  constexpr std::chrono::milliseconds kPause{5};
  const std::chrono::seconds timeout(Environment::get().options().timeout_seconds);
  const auto end = std::chrono::steady_clock::now() + timeout;
  int status = 0;
  for (;;) {
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) return status;
    if (ended < 0 && errno != EINTR) return std::nullopt;
    if (std::chrono::steady_clock::now() > end) break;
    std::this_thread::sleep_for(kPause);
  }
  kill(child, SIGKILL);
  base::wait_for(child);
  return std::nullopt;
}

}  // namespace

bool is_child() {
  return std::getenv(kMark) != nullptr;
}

pid_t start_child(int descriptor, int as) {
  pid_t child = -1;
  const int problem = base::start({.words = arguments_for(current_test()),
                                   .file = "/proc/self/exe",
                                   .environment = variables_for_child(),
                                   .descriptors = {{descriptor, as}}},
                                  &child);
  if (problem == 0) return child;
  ADD_FAILURE() << "The test's own process does not start (error " << problem << ").";
  return -1;
}

void finish_child(pid_t child) {
  expect_success(base::wait_for(child));
}

void finish_killed_child(pid_t child) {
  const int status = base::wait_for(child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
      << "The test's own process ends by itself.";
}

bool runs_in_child() {
  if (is_child()) return false;
  if (const std::optional<ChildEnd> end = run_child()) expect_success(end->status);
  return true;
}

bool exits_in_child(int code) {
  if (is_child()) return false;
  const pid_t child = start_child(STDERR_FILENO, STDERR_FILENO);
  if (child < 0) return true;
  const std::optional<int> status = wait_with_timeout(child);
  if (!status) {
    ADD_FAILURE() << "The test's own process does not end.";
  } else if (WIFSIGNALED(*status)) {
    ADD_FAILURE() << "The test's own process is ended by signal " << WTERMSIG(*status) << ".";
  } else {
    EXPECT_EQ(WEXITSTATUS(*status), code) << "The test's own process ends with another code.";
  }
  return true;
}

bool ends_in_child(std::string_view words) {
  if (is_child()) return false;
  const Excuse* const excuse = Environment::get().expectations().find(current_test());
  if (excuse == nullptr || excuse->kind != Excuse::Kind::kEndsProcess) return false;
  const std::optional<ChildEnd> end = run_child();
  if (!end) return true;
  if (!WIFSIGNALED(end->status)) {
    ADD_FAILURE() << "The process goes on, where it is expected to be ended (" << excuse->reason
                  << "). Take the test out of ends_process in the driver's expectations.";
  } else if (WTERMSIG(end->status) != SIGABRT) {
    ADD_FAILURE() << "The process is ended by signal " << WTERMSIG(end->status)
                  << " instead of abort().";
  } else if (end->errors.find(words) == std::string::npos) {
    ADD_FAILURE() << "The process is ended without a mention of \"" << words << "\" on stderr.";
  } else {
    testing::Test::RecordProperty(kEndedProperty, 1);
  }
  return true;
}

}  // namespace halyard::cts
