// How far a long command is: one line of a terminal, which goes away in the end.
#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace halyard::cli {

// Writes to standard error, only if that is a terminal that can clear a line. Call clear() before
// other output to it.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Whether anybody sees it, and the line is old enough to be written anew.
  bool is_due() const;
  // Whether there is a terminal to show it on.
  bool is_seen() const { return is_seen_; }
  void show(const std::string& line);
  void clear();
  // As a function, for which an empty line clears. Lives no longer than this.
  std::function<void(const std::string&)> lines();

 private:
  using Clock = std::chrono::steady_clock;
  const bool is_seen_;
  bool is_written_ = false;
  Clock::time_point next_;
};

}  // namespace halyard::cli
