// Says whose fault it is when a plugin ends the process while it is loaded.
//
// While a note is up, what would end the process writes a line to standard error first, which names
// the plugin and the step that it was at:
//   - a signal for a fault (SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP) or SIGABRT;
//   - exit(), if the thread that loads the plugin calls it;
//   - SIGINT, SIGTERM, SIGQUIT or SIGHUP, for a plugin that does not return, if their default is in
//     force.
// Everything else happens as it would without the note: the handlers hand each signal on to what
// was there before, and go when the last note goes. If a plugin has put its own handler above one
// of these meanwhile (the virtual GPU does, for SIGSEGV and SIGBUS), this one stays below it and
// says nothing any more. _exit() and SIGKILL cannot be seen from within; Registry::probe() sees
// them.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "registry/load_report.h"

namespace halyard {

// With a timeout, a plugin that stays at one step for longer ends the process with exit code 1, and
// a line that says so.
class LoadNote {
 public:
  // For the calling thread, which keeps it. `path`: the plugin's. Timeout zero: none.
  explicit LoadNote(const std::string& path, std::chrono::milliseconds timeout = {});
  ~LoadNote();
  LoadNote(const LoadNote&) = delete;
  LoadNote& operator=(const LoadNote&) = delete;

  // The plugin got through this step, so it is at the next one.
  void reached(LoadStage stage);

  // In a process whose end is reported by another one: from now on notes say nothing.
  static void silence();

 private:
  void watch(std::chrono::milliseconds timeout);

  size_t slot_;
  void* stack_ = nullptr;  // for handlers, where this thread had none
  // The watch, if there is a timeout.
  std::mutex mutex_;
  std::condition_variable changed_;
  uint32_t steps_ = 0;
  bool done_ = false;
  std::thread watch_;
};

// "while it was being opened (which runs its constructors)": when that was, for a plugin that got
// through `stage` and no further.
const char* time_after(LoadStage stage) noexcept;

// "signal 11 (SIGSEGV)".
std::string signal_text(int signal);

}  // namespace halyard
