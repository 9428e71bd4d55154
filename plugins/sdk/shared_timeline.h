// SharedTimeline: a semaphore's value and failure in memory that several processes have. Each looks
// at it now and then, as no vendor's runtime tells a host thread of what it wants to hear.
//
// The memory is a file without a name (memfd_create) that others open through the exporter's
// /proc/<pid>/fd. So nothing is left behind by a process that is killed, and who may open it is the
// kernel's to say (proc(5), ptrace access mode).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "hal/device.h"
#include "hal/status.h"
#include "plugins/sdk/polling_thread.h"

namespace halyard {

// The process's own end: a semaphore. Any thread may call them.
struct LocalTimeline {
  // The value by now, and the failure if there is one. Without waiting.
  std::function<void(uint64_t* value, Status* failure)> look;
  // Another process has signalled `value`, or failed. After these the semaphore may be gone.
  std::function<void(uint64_t value)> reach;
  std::function<void(const Status& cause)> fail;
};

// What is known of another process that has a timeline.
struct PeerFacts {
  bool has_ended = false;  // there is no process with its number, or its descriptor says so
  // When it started, as it has noted itself, and the process that has its number now; 0 if that is
  // not known: not noted yet, or no file descriptor is left to look with.
  uint64_t noted_start = 0;
  uint64_t start = 0;
};
// Whether the process has ended, maybe with its number given to another one.
constexpr bool is_dead(const PeerFacts& facts) {
  return facts.has_ended ||
         (facts.noted_start != 0 && facts.start != 0 && facts.noted_start != facts.start);
}

class SharedTimeline {
 public:
  static constexpr uint32_t kMostProcesses = 16;

  static Result<std::unique_ptr<SharedTimeline>> create(uint64_t value);
  // INVALID_ARGUMENT for what is no handle; FAILED_PRECONDITION if the exporter has released it, or
  // has ended; RESOURCE_EXHAUSTED if kMostProcesses have it.
  static Result<std::unique_ptr<SharedTimeline>> open(const ExportedSemaphore& exported);
  ~SharedTimeline();
  SharedTimeline(const SharedTimeline&) = delete;
  SharedTimeline& operator=(const SharedTimeline&) = delete;

  // Looks from now on. Once.
  Status start(LocalTimeline local);
  // The semaphore goes; what it has reached is published. Also from within its `reach` and `fail`.
  static void end(std::unique_ptr<SharedTimeline> shared);

  ExportedSemaphore handle() const;
  uint64_t value() const;
  // For the others. `failure` may be OK.
  void publish(uint64_t value, const Status& failure);

 private:
  struct Page;
  struct Process;

  SharedTimeline(int file, Page* page) : file_(file), page_(page) {}
  Status attend();
  // The page's failure; OK if there is none.
  Status failure() const;
  bool exchange();
  void look_for_deaths();

  const int file_;
  Page* const page_;
  Process* own_ = nullptr;  // its entry in the page
  LocalTimeline local_;
  // Held while local_ is used, which ends with the semaphore.
  std::mutex local_mutex_;
  std::atomic<bool> ended_{false};   // set under local_mutex_
  uint32_t looks_ = 0;               // of the thread
  std::map<uint32_t, int> watched_;  // of the thread: pidfds of the others, by process
  PollingThread thread_;
};

}  // namespace halyard
