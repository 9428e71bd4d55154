#include "toolchain/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "hal/error.h"
#include "hal/text.h"

namespace halyard::toolchain {
namespace {

std::atomic<pid_t> child{0};

void hand_on(int signal) {
  const pid_t pid = child.load();
  if (pid > 0) kill(pid, signal);
}

// The signals' treatment while a child runs.
class SignalTreatment {
 public:
  SignalTreatment() {
    struct sigaction action = {};
    action.sa_handler = SIG_IGN;
    sigaction(SIGINT, &action, &before_[0]);
    sigaction(SIGQUIT, &action, &before_[1]);
    action.sa_handler = hand_on;
    sigaction(SIGTERM, &action, &before_[2]);
    sigaction(SIGHUP, &action, &before_[3]);
  }
  ~SignalTreatment() {
    sigaction(SIGINT, &before_[0], nullptr);
    sigaction(SIGQUIT, &before_[1], nullptr);
    sigaction(SIGTERM, &before_[2], nullptr);
    sigaction(SIGHUP, &before_[3], nullptr);
  }
  SignalTreatment(const SignalTreatment&) = delete;
  SignalTreatment& operator=(const SignalTreatment&) = delete;

 private:
  struct sigaction before_[4] = {};
};

struct Pipe {
  Pipe() = default;
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  bool open() { return pipe2(ends.data(), O_CLOEXEC) == 0; }
  void close_end(size_t i) {
    if (ends[i] >= 0) close(ends[i]);
    ends[i] = -1;
  }
  std::array<int, 2> ends = {-1, -1};  // to read, to write
};

// Both at once, so that neither fills up while the other is waited for. `err` may be closed.
void read_all(const Pipe& out, std::string& out_text, const Pipe& err, std::string& err_text) {
  std::array<pollfd, 2> polls = {pollfd{out.ends[0], POLLIN, 0}, pollfd{err.ends[0], POLLIN, 0}};
  const std::array<std::string*, 2> texts = {&out_text, &err_text};
  for (int open = err.ends[0] < 0 ? 1 : 2; open > 0;) {
    if (poll(polls.data(), polls.size(), -1) < 0) {
      if (errno == EINTR) continue;
      return;
    }
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

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> environment_with(const std::vector<std::string>& more) {
  std::vector<std::string> all = more;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('=') + 1);
    bool replaced = false;
    for (const std::string& other : more) replaced = replaced || other.starts_with(name);
    if (!replaced) all.emplace_back(text);
  }
  return all;
}

Status cannot_run(const std::string& program, int reason) {
  return error(StatusCode::kNotFound, "The program ({}) cannot be run: {}.", printable(program),
               std::strerror(reason));
}

// posix_spawn's two objects, which must be destroyed.
class SpawnSetup {
 public:
  SpawnSetup() {
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_init(&actions);
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGINT);
    sigaddset(&defaults, SIGQUIT);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnSetup() {
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
  }
  SpawnSetup(const SpawnSetup&) = delete;
  SpawnSetup& operator=(const SpawnSetup&) = delete;

  posix_spawnattr_t attributes = {};
  posix_spawn_file_actions_t actions = {};
};

}  // namespace

Result<ProcessEnd> run_process(const std::vector<std::string>& words,
                               const ProcessOptions& options) {
  SpawnSetup setup;
  Pipe out;
  Pipe err;
  if (options.output == Output::kToErrors) {
    posix_spawn_file_actions_adddup2(&setup.actions, STDERR_FILENO, STDOUT_FILENO);
  }
  const bool captures_errors = options.output == Output::kCapture;
  const bool captures = captures_errors || options.output == Output::kCaptureOutput;
  if (captures) {
    if (!out.open()) return cannot_run(words[0], errno);
    posix_spawn_file_actions_adddup2(&setup.actions, out.ends[1], STDOUT_FILENO);
  }
  if (captures_errors) {
    if (!err.open()) return cannot_run(words[0], errno);
    posix_spawn_file_actions_adddup2(&setup.actions, err.ends[1], STDERR_FILENO);
  }
  std::vector<std::string> arguments = words;
  std::vector<std::string> environment = environment_with(options.environment);
  const SignalTreatment treatment;
  pid_t pid = 0;
  const int failed = posix_spawnp(&pid, words[0].c_str(), &setup.actions, &setup.attributes,
                                  pointers_to(arguments).data(), pointers_to(environment).data());
  if (failed != 0) return cannot_run(words[0], failed);
  child.store(pid);
  ProcessEnd end;
  if (captures) {
    out.close_end(1);
    err.close_end(1);
    read_all(out, end.output, err, end.errors);
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) {
      child.store(0);
      return error(StatusCode::kInternal, "The program ({}) cannot be waited for: {}.",
                   printable(words[0]), std::strerror(errno));
    }
  }
  child.store(0);
  if (WIFSIGNALED(status)) {
    end.signal = WTERMSIG(status);
  } else {
    end.exit_code = WEXITSTATUS(status);
  }
  return end;
}

}  // namespace halyard::toolchain
