#include "cts/harness/child.h"

#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <vector>

#include "cts/harness/environment.h"

namespace halyard::cts {
namespace {

constexpr const char* kMark = "HALYARD_CTS_CHILD";

// argv and environ for posix_spawn, which wants arrays of char*.
std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> arguments_for(const std::string& test) {
  const Options& options = Environment::get().options();
  std::vector<std::string> arguments = {"halyard-cts",
                                        "--device=" + options.device,
                                        "--seed=" + std::to_string(options.seed),
                                        "--filter=" + test,
                                        "--expectations=none",
                                        "--patience=" + std::to_string(options.patience_seconds)};
  if (options.vgpu) arguments.push_back("--vgpu=" + *options.vgpu);
  if (!options.kernels.empty()) arguments.push_back("--kernels=" + options.kernels);
  for (const std::string& path : options.plugin_paths) {
    arguments.push_back("--plugin-path=" + path);
  }
  return arguments;
}

// This process's variables, without those that would have the child write over gtest's reports.
std::vector<std::string> variables_for_child() {
  std::vector<std::string> variables = {std::string(kMark) + "=1"};
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (const std::string text = *entry; !text.starts_with("GTEST_")) variables.push_back(text);
  }
  return variables;
}

}  // namespace

bool runs_in_child() {
  if (std::getenv(kMark) != nullptr) return false;
  const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
  std::vector<std::string> arguments =
      arguments_for(std::string(test.test_suite_name()) + "." + test.name());
  std::vector<std::string> variables = variables_for_child();
  pid_t child = 0;
  const int problem = posix_spawn(&child, "/proc/self/exe", nullptr, nullptr,
                                  pointers_to(arguments).data(), pointers_to(variables).data());
  if (problem != 0) {
    ADD_FAILURE() << "The test's own process does not start (error " << problem << ").";
    return true;
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) {
    ADD_FAILURE() << "The test's own process is ended by signal " << WTERMSIG(status) << ".";
  } else if (WEXITSTATUS(status) != 0) {
    ADD_FAILURE() << "The test fails in its own process; see above.";
  }
  return true;
}

}  // namespace halyard::cts
