#include "probe.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "hal/base/process.h"
#include "hal/error.h"
#include "hal/fork.h"
#include "load_note.h"

namespace halyard {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kSlice{20};

// A child says of a candidate how far it is, again and again; the last word counts.
//
// On the pipe: the size of a message, then its numbers (8 bytes each) and texts (a number, then the
// bytes). A plugin may write there too, so the parent believes nothing.
constexpr uint64_t kLargestMessage = uint64_t{1} << 20;
constexpr uint64_t kAllDone = UINT64_MAX;

class Writer {
 public:
  template <typename T>
  void operator()(T& value) {
    if constexpr (std::is_same_v<T, const std::string>) {
      number(value.size());
      bytes_ += value;
    } else {
      number(static_cast<uint64_t>(value));
    }
  }
  void number(uint64_t value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <typename T>
  void operator()(T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
      const uint64_t size = number();
      good_ = good_ && size <= bytes_.size();
      if (!good_) return;
      value = bytes_.substr(0, size);
      bytes_.remove_prefix(size);
    } else {
      value = static_cast<T>(number());
    }
  }
  uint64_t number() {
    uint64_t value = 0;
    good_ = good_ && bytes_.size() >= sizeof value;
    if (!good_) return 0;
    std::memcpy(&value, bytes_.data(), sizeof value);
    bytes_.remove_prefix(sizeof value);
    return value;
  }
  bool good() const { return good_; }

 private:
  std::string_view bytes_;
  bool good_ = true;
};

// What loading finds out, in the order of the message.
template <typename Coder, typename AnyCandidate>
void code(Coder& coder, AnyCandidate& candidate) {
  coder(candidate.stage);
  coder(candidate.code);
  coder(candidate.reason);
  coder(candidate.driver);
  coder(candidate.version);
  coder(candidate.description);
  coder(candidate.abi_major);
  coder(candidate.abi_minor);
  coder(candidate.abi_in_force);
  coder(candidate.library_name);
  coder(candidate.library_path);
  coder(candidate.library_version);
  coder(candidate.library_uses);
  coder(candidate.disabled);
  coder(candidate.device_count);
}

// In the child. A parent that is gone takes the child with it.
void send(int pipe, const std::string& message) {
  Writer head;
  head.number(message.size());
  if (!base::write_all(pipe, head.bytes() + message)) _exit(1);
}

void send(int pipe, size_t index, bool done, const Candidate& candidate) {
  Writer writer;
  writer.number(index);
  writer.number(done ? 1 : 0);
  code(writer, candidate);
  send(pipe, writer.bytes());
}

std::string winner_before(const std::vector<Candidate>& candidates, size_t index,
                          const std::string& driver) {
  for (size_t i = 0; i < index; ++i) {
    if (candidates[i].usable() && candidates[i].driver == driver) return candidates[i].path;
  }
  return {};
}

void load_in_child(int pipe, std::vector<Candidate>& candidates, size_t first,
                   const DriverSettings& settings) {
  LoadNote::silence();
  use_drivers_in_spite_of_fork();
  DriverSettings without_timeout = settings;  // the parent has its own
  without_timeout.load_timeout = {};
  std::vector<LoadedPlugin> loaded;  // drivers stay, as they do where they are used
  for (size_t i = first; i < candidates.size(); ++i) {
    const TakenBy taken_by = [&](const std::string& driver) {
      return winner_before(candidates, i, driver);
    };
    const LoadProgress progress = [&](const Candidate& now) { send(pipe, i, false, now); };
    loaded.push_back(load_plugin(candidates[i], without_timeout, taken_by, progress));
    send(pipe, i, true, candidates[i]);
  }
  Writer writer;
  writer.number(kAllDone);
  send(pipe, writer.bytes());
  _exit(0);  // drivers stay as they are
}

// The parent's side of one child.
class Child {
 public:
  Child(pid_t pid, int pipe, std::vector<Candidate>& candidates, size_t first)
      : pid_(pid), pipe_(pipe), candidates_(candidates), at_(first) {}

  // Until the child has ended, or has been ended.
  void watch(std::chrono::milliseconds timeout) {
    Clock::time_point deadline = Clock::now() + timeout;
    while (!reap(WNOHANG)) {
      // A child's own children may hold the pipe, so that its end says nothing.
      if (take(kSlice)) deadline = Clock::now() + timeout;
      if (Clock::now() < deadline) continue;
      kill(pid_, SIGKILL);
      timed_out_ = true;
      reap(0);
      break;
    }
    while (take(std::chrono::milliseconds(0))) {
    }
  }

  // The first candidate that the next child has to load. Writes down why this one got no further.
  size_t next(std::chrono::milliseconds timeout) {
    if (all_done_) return candidates_.size();
    Candidate& candidate = candidates_[at_];
    candidate.fatal = true;
    candidate.tried = true;
    const char* const when = done_ ? "some time after it was loaded" : time_after(candidate.stage);
    if (timed_out_) {
      candidate.code = StatusCode::kDeadlineExceeded;
      candidate.reason = fmt::format("The plugin did not return within {} s {}.",
                                     std::chrono::duration<double>(timeout).count(), when);
    } else {
      candidate.code = StatusCode::kInternal;
      const std::string what = WIFSIGNALED(status_)
                                   ? "crashed with " + signal_text(WTERMSIG(status_))
                                   : fmt::format("called exit({})", WEXITSTATUS(status_));
      candidate.reason = fmt::format("The plugin {} {}.", what, when);
    }
    return at_ + 1;
  }

 private:
  // Whether the child has ended; `flags` 0 waits for it.
  bool reap(int flags) {
    pid_t ended = 0;
    do {
      ended = waitpid(pid_, &status_, flags);
    } while (ended < 0 && errno == EINTR);
    return ended != 0;
  }

  // Reads what there is, or comes within the time. False if that is nothing.
  bool take(std::chrono::milliseconds patience) {
    const base::Got got = base::read_some(is_open_ ? pipe_ : -1, patience, &received_);
    if (got == base::Got::kEnd) is_open_ = false;
    if (got != base::Got::kBytes) return false;
    while (take_message()) {
    }
    return true;
  }

  bool take_message() {
    Reader head(received_);
    const uint64_t size = head.number();
    if (!head.good()) return false;
    const std::string_view rest = std::string_view(received_).substr(sizeof size);
    // No message of ours: what follows makes no sense either.
    if (size > kLargestMessage) is_open_ = false;
    if (!is_open_ || rest.size() < size) return false;
    understand(rest.substr(0, size));
    received_.erase(0, sizeof size + size);
    return true;
  }

  void understand(std::string_view message) {
    Reader reader(message);
    const uint64_t index = reader.number();
    if (index == kAllDone) all_done_ = true;
    if (index < at_ || index >= candidates_.size()) return;
    const bool done = reader.number() != 0;
    Candidate candidate = candidates_[index];
    code(reader, candidate);
    if (!reader.good() || candidate.stage > LoadStage::kEnumerated) return;
    candidate.tried = true;
    at_ = index;
    done_ = done;
    candidates_[index] = std::move(candidate);
  }

  const pid_t pid_;
  const int pipe_;
  std::vector<Candidate>& candidates_;
  size_t at_;          // the candidate that was heard of last
  bool done_ = false;  // and that was all about it
  bool all_done_ = false;
  bool is_open_ = true;
  bool timed_out_ = false;
  int status_ = 0;
  std::string received_;
};

}  // namespace

Status probe_candidates(std::vector<Candidate>& candidates, const DriverSettings& settings,
                        std::chrono::milliseconds timeout) {
  size_t first = 0;
  while (first < candidates.size()) {
    base::Pipe pipe;
    pid_t pid = 0;
    const int why = base::start_child(
        pipe, [&](int writer) { load_in_child(writer, candidates, first, settings); }, &pid);
    if (why != 0) {
      return error(StatusCode::kResourceExhausted,
                   "The process for trying plugins cannot be started: {}.", std::strerror(why));
    }
    Child child(pid, pipe.reader(), candidates, first);
    child.watch(timeout);
    first = child.next(timeout);
  }
  return {};
}

}  // namespace halyard
