// For signal handlers, which may allocate nothing: a line of text, and the handler that was there
// before.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace halyard::base {

// A line of limited length for standard error.
class SignalLine {
 public:
  void add(std::string_view text) {
    const size_t size = std::min(text.size(), text_.size() - size_);
    std::memcpy(text_.data() + size_, text.data(), size);
    size_ += size;
  }
  void add(int number) {
    char digits[16];
    const auto end = std::to_chars(std::begin(digits), std::end(digits), number);
    add({digits, static_cast<size_t>(end.ptr - digits)});
  }
  void write() const {
    // There is no way to report a failure.
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text_.data(), size_);
  }

 private:
  std::array<char, 2048> text_{};
  size_t size_ = 0;
};

// Whether the action is the system's: the default, or to ignore the signal.
inline bool is_standard(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) == 0 &&
         (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN);
}

// In a handler: what would have happened without it, if `before` was the action.
inline void hand_on(const struct sigaction& before, int signal, siginfo_t* info, void* context) {
  if ((before.sa_flags & SA_SIGINFO) != 0) {
    before.sa_sigaction(signal, info, context);
    return;
  }
  if (!is_standard(before)) {
    before.sa_handler(signal);
    return;
  }
  // A sent signal that is ignored stays ignored. Otherwise the default applies: a faulting
  // instruction is executed again without this handler, any other signal is sent again.
  if (before.sa_handler == SIG_IGN && info->si_code <= 0) return;
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  sigaction(signal, &standard, nullptr);
  const bool repeats =
      signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE;
  if (!repeats || info->si_code <= 0) raise(signal);
}

}  // namespace halyard::base
