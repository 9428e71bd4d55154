#include "tools/halyard/child.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "hal/error.h"
#include "hal/file.h"
#include "hal/text.h"

namespace halyard::cli {
namespace {

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

Status cannot_run(const std::string& program, int reason) {
  return error(StatusCode::kNotFound, "The program ({}) cannot be run: {}.", printable(program),
               std::strerror(reason));
}

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

}  // namespace

Status replace_by(std::vector<std::string>& words) {
  execvp(words[0].c_str(), pointers_to(words).data());
  return cannot_run(words[0], errno);
}

Result<ChildEnd> run_child(std::vector<std::string>& words) {
  const SignalTreatment treatment;
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGINT);
  sigaddset(&defaults, SIGQUIT);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t pid = 0;
  const int failed = posix_spawnp(&pid, words[0].c_str(), nullptr, &attributes,
                                  pointers_to(words).data(), environ);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0) return cannot_run(words[0], failed);
  child.store(pid);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) {
      return error(StatusCode::kInternal, "The program ({}) cannot be waited for: {}.",
                   printable(words[0]), std::strerror(errno));
    }
  }
  child.store(0);
  ChildEnd end;
  if (WIFSIGNALED(status)) {
    end.signal = WTERMSIG(status);
  } else {
    end.exit_code = WEXITSTATUS(status);
  }
  return end;
}

void end_as(const ChildEnd& end) {
  if (end.signal != 0) {
    signal(end.signal, SIG_DFL);
    raise(end.signal);
  }
  std::exit(end.signal != 0 ? 128 + end.signal : end.exit_code);
}

Status TemporaryFile::create(std::string_view contents) {
  std::error_code wrong;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(wrong);
  path_ = ((wrong ? "/tmp" : folder) / "halyard-XXXXXX").string();
  const int file = mkstemp(path_.data());
  if (file < 0) {
    const std::string path = std::move(path_);
    path_.clear();
    return error(StatusCode::kInternal, "The temporary file ({}) cannot be made: {}.", path,
                 std::strerror(errno));
  }
  errno = 0;
  const ssize_t written = write(file, contents.data(), contents.size());
  const int why = errno;
  close(file);
  if (written == static_cast<ssize_t>(contents.size())) return {};
  return error(status_code_of_errno(why), "The temporary file ({}) cannot be written: {}.", path_,
               std::strerror(why));
}

void TemporaryFile::remove() {
  if (!path_.empty()) unlink(path_.c_str());
  path_.clear();
}

}  // namespace halyard::cli
