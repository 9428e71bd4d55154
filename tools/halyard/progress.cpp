#include "tools/halyard/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace halyard::cli {
namespace {

constexpr auto kFirst = std::chrono::milliseconds(500);  // shorter work shows nothing
constexpr auto kPeriod = std::chrono::milliseconds(100);

bool can_clear_lines() {
  const char* const terminal = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && terminal != nullptr && std::string_view(terminal) != "dumb";
}

}  // namespace

Progress::Progress() : is_seen_(can_clear_lines()), next_(Clock::now() + kFirst) {}

Progress::~Progress() {
  clear();
}

bool Progress::is_due() const {
  return is_seen_ && Clock::now() >= next_;
}

void Progress::show(const std::string& line) {
  if (!is_due()) return;
  next_ = Clock::now() + kPeriod;
  is_written_ = true;
  // ECMA-48: EL, erase in line.
  fmt::print(stderr, "\r\x1b[K{}", line);
  std::fflush(stderr);
}

std::function<void(const std::string&)> Progress::lines() {
  return [this](const std::string& line) { line.empty() ? clear() : show(line); };
}

void Progress::clear() {
  if (!is_written_) return;
  is_written_ = false;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
}

}  // namespace halyard::cli
