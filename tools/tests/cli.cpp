#include "tools/tests/cli.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "cts/kernels/variant.h"

namespace halyard::testing {
namespace {

struct Pipe {
  Pipe() { EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  void close_end(size_t i) {
    if (ends[i] >= 0) close(ends[i]);
    ends[i] = -1;
  }
  std::array<int, 2> ends = {-1, -1};  // to read, to write
};

// Both at once, so that neither fills up while the other is waited for.
void read_all(Pipe& out, std::string& out_text, Pipe& err, std::string& err_text) {
  std::array<pollfd, 2> polls = {pollfd{out.ends[0], POLLIN, 0}, pollfd{err.ends[0], POLLIN, 0}};
  const std::array<std::string*, 2> texts = {&out_text, &err_text};
  for (int open = 2; open > 0;) {
    if (poll(polls.data(), polls.size(), -1) < 0 && errno != EINTR) return;
    for (size_t i = 0; i < polls.size(); ++i) {
      if (polls[i].fd < 0 || polls[i].revents == 0) continue;
      char buffer[4096];
      const ssize_t count = read(polls[i].fd, buffer, sizeof buffer);
      if (count > 0) texts[i]->append(buffer, static_cast<size_t>(count));
      if (count == 0 || (count < 0 && errno != EINTR)) {
        polls[i].fd = -1;
        --open;
      }
    }
  }
}

std::vector<std::string> environment_for(const SpawnOptions& options) {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string name(text.substr(0, text.find('=')));
    if (name.starts_with("HALYARD_") || options.environment.contains(name)) continue;
    if (name == "XDG_CONFIG_HOME") continue;
    environment.emplace_back(text);
  }
  // Not the configs of the person who runs the tests.
  if (!options.environment.contains("XDG_CONFIG_HOME")) {
    environment.emplace_back("XDG_CONFIG_HOME=/nonexistent");
  }
  for (const auto& [name, value] : options.environment) environment.push_back(name + "=" + value);
  return environment;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Outcome spawn(const std::vector<std::string>& arguments, const SpawnOptions& options) {
  Outcome outcome;
  Pipe out;
  Pipe err;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (options.standard_output.empty()) {
    posix_spawn_file_actions_adddup2(&actions, out.ends[1], STDOUT_FILENO);
  } else {
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, options.standard_output.c_str(),
                                     O_WRONLY, 0);
  }
  posix_spawn_file_actions_adddup2(&actions, err.ends[1], STDERR_FILENO);
  for (const int file : options.closed) posix_spawn_file_actions_addclose(&actions, file);

  std::vector<std::string> words = {options.program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> environment = environment_for(options);
  pid_t child = -1;
  const int trouble = posix_spawn(&child, options.program.c_str(), &actions, nullptr,
                                  pointers_to(words).data(), pointers_to(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  if (trouble != 0) {
    ADD_FAILURE() << options.program << " cannot be started: " << strerror(trouble);
    return outcome;
  }
  out.close_end(1);
  err.close_end(1);
  read_all(out, outcome.out, err, outcome.err);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

std::string kernel(std::string_view name) {
  return std::string(HALYARD_KERNELS) + "/" + std::string(name) + ".hipfb";
}

std::string plain_kernel(std::string_view name, std::string_view target) {
  const Result<std::vector<std::byte>> object = read_variant(kernel(name), target);
  if (!object.ok()) {
    ADD_FAILURE() << object.status().to_string();
    return {};
  }
  return {reinterpret_cast<const char*>(object->data()), object->size()};
}

Outcome CliTest::run(std::string_view module, std::string_view function,
                     const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {"run", "--device=amdgpu", "--vgpu=gfx900",
                                    "--module=" + kernel(module),
                                    "--function=" + std::string(function)};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return spawn(words);
}

std::string CliTest::run_well(std::string_view module, std::string_view function,
                              const std::vector<std::string>& arguments) {
  const Outcome outcome = run(module, function, arguments);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "");
  return outcome.out;
}

}  // namespace halyard::testing
