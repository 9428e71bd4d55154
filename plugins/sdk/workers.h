// Workers: threads for what the host does in a queue's order, and for whatever else must not hold
// up a thread of a vendor's runtime, which serves the whole process.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>

namespace halyard {

class Workers {
 public:
  static Workers& instance();

  // Runs `work` on a thread of its own: an idle one, or a new one, as work may block.
  void run(std::function<void()> work);

 private:
  void serve(std::chrono::seconds idle_timeout);

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> waiting_;  // under mutex_
  uint32_t idle_ = 0;                          // under mutex_
};

}  // namespace halyard
