// A thread that looks for something again and again, ever less often while there is nothing.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "hal/status.h"

namespace halyard {

// Ends with the object, or when the process begins to end: what the thread looks at may then be
// taken down by the vendor's runtime.
class PollingThread {
 public:
  PollingThread() = default;
  ~PollingThread() { stop(); }
  PollingThread(const PollingThread&) = delete;
  PollingThread& operator=(const PollingThread&) = delete;

  // From here on the end of the process stops all of them. To be called as soon as the vendor's
  // library is loaded: exit handlers of programs, which run before, may wait for kernels that need
  // answers; those of the library run behind.
  static void stop_at_exit();
  // Once. `look` returns whether there was something; from 20 µs behind such a look to 2 ms the
  // thread sleeps between looks. RESOURCE_EXHAUSTED if the system has no thread; `purpose`, a
  // clause such as "kernels that print need one", is a part of that sentence.
  Status start(const char* name, const char* purpose, std::function<bool()> look);
  // Waits for one more look, the last. Any thread may call it but those of this class.
  void stop();
  // Whether the calling thread is this one; or any of this class.
  bool is_current() const { return current == this; }
  static bool is_any_current() { return current != nullptr; }

 private:
  static void stop_all();
  void run();

  static thread_local const PollingThread* current;

  std::function<bool()> look_;
  std::atomic<bool> stop_{false};
  std::thread thread_;  // under the lock of all of them
};

}  // namespace halyard
