#include "hal/base/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

namespace halyard::base {
namespace {

// posix_spawn's two objects, which must be destroyed.
class SpawnSetup {
 public:
  explicit SpawnSetup(const Program& program) {
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_init(&actions);
    sigset_t defaults;
    sigemptyset(&defaults);
    for (const int signal : program.default_signals) sigaddset(&defaults, signal);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    int flags = POSIX_SPAWN_SETSIGDEF;
    if (program.own_group) {
      flags |= POSIX_SPAWN_SETPGROUP;
      posix_spawnattr_setpgroup(&attributes, 0);
      // A group that is not the foreground's stops when it writes to the terminal, unless it
      // inherits SIGTTOU as ignored.
      struct sigaction ignored = {};
      ignored.sa_handler = SIG_IGN;
      ignores_ = sigaction(SIGTTOU, &ignored, &output_stop_) == 0;
    }
    posix_spawnattr_setflags(&attributes, static_cast<int16_t>(flags));
    for (const auto& [here, there] : program.descriptors) {
      posix_spawn_file_actions_adddup2(&actions, here, there);
    }
    for (const int file : program.closed) posix_spawn_file_actions_addclose(&actions, file);
  }
  ~SpawnSetup() {
    if (ignores_) sigaction(SIGTTOU, &output_stop_, nullptr);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
  }
  SpawnSetup(const SpawnSetup&) = delete;
  SpawnSetup& operator=(const SpawnSetup&) = delete;

  posix_spawnattr_t attributes = {};
  posix_spawn_file_actions_t actions = {};

 private:
  bool ignores_ = false;
  struct sigaction output_stop_ = {};
};

// By fork, because posix_spawn cannot say that the program ends with this process.
int start_by_fork(const char* file, const Program& program, char* const* words,
                  char* const* environment, pid_t* pid) {
  Pipe failure;
  if (const int why = failure.open(); why != 0) return why;
  const pid_t parent = getpid();
  *pid = fork();
  if (*pid < 0) return errno;
  if (*pid == 0) {
    for (const int signal : program.default_signals) ::signal(signal, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);  // it was killed before that
    for (const auto& [here, there] : program.descriptors) dup2(here, there);
    for (const int closed : program.closed) close(closed);
    execvpe(file, words, environment);
    const int why = errno;
    [[maybe_unused]] const ssize_t written = write(failure.writer(), &why, sizeof why);
    _exit(127);
  }
  failure.close_writer();
  int why = 0;
  ssize_t count = 0;
  do count = read(failure.reader(), &why, sizeof why);
  while (count < 0 && errno == EINTR);
  if (count != sizeof why) return 0;
  wait_for(*pid);
  return why;
}

}  // namespace

Pipe::~Pipe() {
  close_reader();
  close_writer();
}

int Pipe::open() {
  return pipe2(ends_.data(), O_CLOEXEC) == 0 ? 0 : errno;
}

void Pipe::close_end(size_t end) {
  if (ends_[end] >= 0) close(ends_[end]);
  ends_[end] = -1;
}

std::vector<std::string> Program::this_environment() {
  std::vector<std::string> all;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    all.emplace_back(*entry);
  return all;
}

int start(const Program& program, pid_t* pid) {
  std::vector<std::string> words = program.words;
  std::vector<std::string> environment = program.environment;
  const std::vector<char*> word_pointers = pointers_to(words);
  const std::vector<char*> environment_pointers = pointers_to(environment);
  const char* const file = program.file.empty() ? words[0].c_str() : program.file.c_str();
  if (program.ends_with_parent) {
    return start_by_fork(file, program, word_pointers.data(), environment_pointers.data(), pid);
  }
  const SpawnSetup setup(program);
  return posix_spawnp(pid, file, &setup.actions, &setup.attributes, word_pointers.data(),
                      environment_pointers.data());
}

int start_child(Pipe& pipe, const std::function<void(int writer)>& work, pid_t* pid) {
  if (const int why = pipe.open(); why != 0) return why;
  // A child that calls exit() would write this process's buffered output again.
  std::fflush(nullptr);
  *pid = fork();
  if (*pid < 0) return errno;
  if (*pid == 0) {
    pipe.close_reader();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    // What it prints must not get between the lines of this process's own.
    dup2(STDERR_FILENO, STDOUT_FILENO);
    try {
      work(pipe.writer());
    } catch (...) {
      _exit(1);
    }
    _exit(0);
  }
  pipe.close_writer();
  return 0;
}

int wait_for(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(descriptor, text.data(), text.size());
    if (count < 0 && errno != EINTR) return false;
    if (count > 0) text.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

Got read_some(int descriptor, std::chrono::milliseconds timeout, std::string* text) {
  using Clock = std::chrono::steady_clock;
  const bool forever = timeout == kForever;
  const Clock::time_point deadline = Clock::now() + (forever ? timeout.zero() : timeout);
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd poll_of = {descriptor, POLLIN, 0};
    const auto patience = static_cast<int>(std::max<int64_t>(left.count(), 0));
    const int ready = poll(&poll_of, 1, forever ? -1 : patience);
    if (ready == 0) return Got::kNothingInTime;
    if (ready < 0 && errno == EINTR) continue;
    char block[4096];
    const ssize_t count = read(descriptor, block, sizeof block);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return Got::kEnd;
    text->append(block, static_cast<size_t>(count));
    return Got::kBytes;
  }
}

void read_both(const Pipe& first, std::string* first_text, const Pipe& second,
               std::string* second_text, const std::function<int()>& patience) {
  std::array<pollfd, 2> polls = {pollfd{first.reader(), POLLIN, 0},
                                 pollfd{second.reader(), POLLIN, 0}};
  const std::array<std::string*, 2> texts = {first_text, second_text};
  while (polls[0].fd >= 0 || polls[1].fd >= 0) {
    if (poll(polls.data(), polls.size(), patience ? patience() : -1) < 0) {
      if (errno == EINTR) continue;
      return;
    }
    for (size_t i = 0; i < polls.size(); ++i) {
      if (polls[i].fd < 0 || polls[i].revents == 0) continue;
      char block[4096];
      const ssize_t count = read(polls[i].fd, block, sizeof block);
      if (count > 0) texts[i]->append(block, static_cast<size_t>(count));
      if (count == 0 || (count < 0 && errno != EINTR)) polls[i].fd = -1;
    }
  }
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace halyard::base
