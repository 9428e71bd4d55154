#include "toolchain/process.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "hal/base/process.h"
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

std::vector<std::string> environment_with(const std::vector<std::string>& more) {
  std::vector<std::string> all = more;
  if (getauxval(AT_SECURE) != 0) {
    all.push_back(std::string("PATH=") + kTrustedPath);
    return all;
  }
  for (const std::string& text : base::Program::this_environment()) {
    const std::string_view name = std::string_view(text).substr(0, text.find('=') + 1);
    bool replaced = false;
    for (const std::string& other : more) replaced = replaced || other.starts_with(name);
    if (!replaced) all.push_back(text);
  }
  return all;
}

Status cannot_run(const std::string& program, int reason) {
  return error(StatusCode::kNotFound, "The program ({}) cannot be run: {}.", printable(program),
               std::strerror(reason));
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
  base::Pipe out;
  base::Pipe err;
  const bool captures_errors = options.output == Output::kCapture;
  const bool captures = captures_errors || options.output == Output::kCaptureOutput;
  int failed = captures ? out.open() : 0;
  if (failed == 0 && captures_errors) failed = err.open();
  if (failed != 0) return cannot_run(words[0], failed);
  const bool is_tool = options.role == Role::kTool;
  base::Program program{.words = words, .environment = environment_with(options.environment)};
  for (size_t i = 0; i < kSignals.size(); ++i) {
    if (before[i].sa_handler != SIG_IGN) program.default_signals.push_back(kSignals[i]);
  }
  program.own_group = is_tool;
  program.ends_with_parent = !is_tool;
  if (options.output == Output::kToErrors) program.descriptors = {{STDERR_FILENO, STDOUT_FILENO}};
  if (captures) program.descriptors = {{out.writer(), STDOUT_FILENO}};
  if (captures_errors) program.descriptors.emplace_back(err.writer(), STDERR_FILENO);
  pid_t pid = 0;
  failed = base::start(program, &pid);
  if (failed != 0) return cannot_run(words[0], failed);
  const KnownChild known(is_tool ? -pid : pid);
  Meanwhile meanwhile(options.while_running, is_tool ? pid : 0);
  ProcessEnd end;
  if (captures) {
    out.close_writer();
    err.close_writer();
    base::read_both(out, &end.output, err, &end.errors, [&meanwhile] { return meanwhile.next(); });
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
