#include "toolchain/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "hal/error.h"
#include "hal/text.h"
#include "toolchain/tools.h"

namespace halyard::toolchain {
namespace {

constexpr std::array kSignals = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};

std::atomic<pid_t> child{0};  // negative: a process group
std::atomic<int> caught{0};
int guards = 0;
std::array<struct sigaction, kSignals.size()> before = {};

void hand_on(int signal, siginfo_t* info, void* /*context*/) {
  caught.store(signal);
  const pid_t pid = child.load();
  // What the kernel sends, a terminal's Ctrl-C above all, goes to the foreground's programs itself.
  const bool has_it = pid > 0 && info != nullptr && info->si_code > 0;
  // A tool's group gets one signal for all: programs of shells and scripts ignore SIGINT.
  if (pid != 0 && !has_it) kill(pid, pid < 0 ? SIGTERM : signal);
}

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

// What there is to do while a program runs, every 100 milliseconds.
class Meanwhile {
 public:
  // `group`: of the program, if it is a tool; otherwise 0.
  Meanwhile(const std::function<void()>& while_running, pid_t group)
      : while_running_(while_running), group_(group) {}

  // Whether there is anything, so that waiting has to stop for it.
  bool is_needed() const { return while_running_ || (group_ != 0 && interruption() != 0); }
  // Does it; how many milliseconds to wait for something else until then. -1: no end.
  int next() {
    if (while_running_) while_running_();
    // A tool has two seconds to end.
    constexpr int kTurns = 20;
    if (group_ != 0 && interruption() != 0 && ++turns_ == kTurns) kill(-group_, SIGKILL);
    if (is_needed()) return 100;
    return group_ != 0 ? 500 : -1;  // the signal may come to another thread
  }

 private:
  const std::function<void()>& while_running_;
  const pid_t group_;
  int turns_ = 0;
};

// Both at once, so that neither fills up while the other is waited for. `err` may be closed.
void read_all(const Pipe& out, std::string& out_text, const Pipe& err, std::string& err_text,
              Meanwhile& meanwhile) {
  std::array<pollfd, 2> polls = {pollfd{out.ends[0], POLLIN, 0}, pollfd{err.ends[0], POLLIN, 0}};
  const std::array<std::string*, 2> texts = {&out_text, &err_text};
  for (int open = err.ends[0] < 0 ? 1 : 2; open > 0;) {
    if (poll(polls.data(), polls.size(), meanwhile.next()) < 0) {
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
  if (getauxval(AT_SECURE) != 0) {
    all.push_back(std::string("PATH=") + kTrustedPath);
    return all;
  }
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

// posix_spawn's two objects, which must be destroyed. The program has the signals as a program has
// them by default, and does not stop when it writes to the terminal from another group than the
// foreground's (SIGTTOU, which it inherits as ignored).
class SpawnSetup {
 public:
  SpawnSetup() {
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_init(&actions);
    sigset_t defaults;
    sigemptyset(&defaults);
    for (size_t i = 0; i < kSignals.size(); ++i) {
      if (before[i].sa_handler != SIG_IGN) sigaddset(&defaults, kSignals[i]);
    }
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    struct sigaction ignored = {};
    ignored.sa_handler = SIG_IGN;
    sigaction(SIGTTOU, &ignored, &output_stop_);
  }
  ~SpawnSetup() {
    sigaction(SIGTTOU, &output_stop_, nullptr);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
  }
  SpawnSetup(const SpawnSetup&) = delete;
  SpawnSetup& operator=(const SpawnSetup&) = delete;

  posix_spawnattr_t attributes = {};
  posix_spawn_file_actions_t actions = {};

 private:
  struct sigaction output_stop_ = {};
};

// By fork, because posix_spawn cannot say that the program ends with this process.
int start_program(const char* program, char* const* words, char* const* environment, pid_t* pid) {
  Pipe failure;
  if (!failure.open()) return errno;
  const pid_t parent = getpid();
  *pid = fork();
  if (*pid < 0) return errno;
  if (*pid == 0) {
    for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before[i], nullptr);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);  // it was killed before that
    execvpe(program, words, environment);
    const int why = errno;
    [[maybe_unused]] const ssize_t written = write(failure.ends[1], &why, sizeof why);
    _exit(127);
  }
  failure.close_end(1);
  int why = 0;
  ssize_t count = 0;
  do count = read(failure.ends[0], &why, sizeof why);
  while (count < 0 && errno == EINTR);
  if (count != sizeof why) return 0;
  while (waitpid(*pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return why;
}

// The child as the handler knows it, for as long as it is not waited for.
class KnownChild {
 public:
  explicit KnownChild(pid_t pid) {
    child.store(pid);
    // One that came before the handler knew.
    if (const int signal = caught.load(); signal != 0) kill(pid, pid < 0 ? SIGTERM : signal);
  }
  ~KnownChild() { child.store(0); }
  KnownChild(const KnownChild&) = delete;
  KnownChild& operator=(const KnownChild&) = delete;
};

Result<int> wait_for(pid_t pid, const std::string& program, Meanwhile& meanwhile) {
  int status = 0;
  for (;;) {
    const pid_t ended = waitpid(pid, &status, meanwhile.is_needed() ? WNOHANG : 0);
    if (ended == pid) return status;
    if (ended < 0 && errno != EINTR) {
      return error(StatusCode::kInternal, "The program ({}) cannot be waited for: {}.",
                   printable(program), std::strerror(errno));
    }
    if (ended == 0) poll(nullptr, 0, meanwhile.next());
  }
}

}  // namespace

SignalGuard::SignalGuard() {
  if (guards++ != 0) return;
  caught.store(0);
  struct sigaction action = {};
  action.sa_sigaction = hand_on;
  action.sa_flags = SA_SIGINFO;
  for (size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &before[i]);
    if (before[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
  }
}

SignalGuard::~SignalGuard() {
  if (--guards != 0) return;
  for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before[i], nullptr);
}

int interruption() noexcept {
  return caught.load();
}

Status check_interruption() {
  if (interruption() == 0) return {};
  return error(StatusCode::kCancelled, "The command was ended by signal {}.", interruption());
}

void end_by_signal(int signal) {
  ::signal(signal, SIG_DFL);
  raise(signal);
  std::_Exit(128 + signal);
}

std::string how_it_ended(const ProcessEnd& end) {
  return end.signal != 0 ? fmt::format("was ended by signal {}", end.signal)
                         : fmt::format("ended with exit code {}", end.exit_code);
}

Result<ProcessEnd> run_process(const std::vector<std::string>& words,
                               const ProcessOptions& options) {
  const SignalGuard guard;
  HALYARD_RETURN_IF_ERROR(check_interruption());
  Pipe out;
  Pipe err;
  const bool captures_errors = options.output == Output::kCapture;
  const bool captures = captures_errors || options.output == Output::kCaptureOutput;
  if ((captures && !out.open()) || (captures_errors && !err.open())) {
    return cannot_run(words[0], errno);
  }
  std::vector<std::string> arguments = words;
  std::vector<std::string> environment = environment_with(options.environment);
  const bool is_tool = options.role == Role::kTool;
  pid_t pid = 0;
  int failed = 0;
  if (is_tool) {
    SpawnSetup setup;
    if (options.output == Output::kToErrors) {
      posix_spawn_file_actions_adddup2(&setup.actions, STDERR_FILENO, STDOUT_FILENO);
    }
    if (captures) posix_spawn_file_actions_adddup2(&setup.actions, out.ends[1], STDOUT_FILENO);
    if (captures_errors) {
      posix_spawn_file_actions_adddup2(&setup.actions, err.ends[1], STDERR_FILENO);
    }
    failed = posix_spawnp(&pid, words[0].c_str(), &setup.actions, &setup.attributes,
                          pointers_to(arguments).data(), pointers_to(environment).data());
  } else {
    failed = start_program(words[0].c_str(), pointers_to(arguments).data(),
                           pointers_to(environment).data(), &pid);
  }
  if (failed != 0) return cannot_run(words[0], failed);
  const KnownChild known(is_tool ? -pid : pid);
  Meanwhile meanwhile(options.while_running, is_tool ? pid : 0);
  ProcessEnd end;
  if (captures) {
    out.close_end(1);
    err.close_end(1);
    read_all(out, end.output, err, end.errors, meanwhile);
  }
  HALYARD_ASSIGN_OR_RETURN(const int status, wait_for(pid, words[0], meanwhile));
  if (is_tool && interruption() != 0) {
    kill(-pid, SIGKILL);  // what it has started, and has not ended with it
    return check_interruption();
  }
  if (!is_tool) {
    caught.store(0);
  }
  if (WIFSIGNALED(status)) {
    end.signal = WTERMSIG(status);
  } else {
    end.exit_code = WEXITSTATUS(status);
  }
  return end;
}

}  // namespace halyard::toolchain
