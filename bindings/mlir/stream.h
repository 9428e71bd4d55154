// A stream: a queue of Halyard's, a timeline that says how far it is, and what waits for it.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "hal/buffer.h"
#include "hal/queue.h"
#include "hal/ref.h"
#include "hal/semaphore.h"
#include "hal/status.h"

namespace halyard::mlir {

// A point of a stream's timeline; the semaphore is null before the first.
struct StreamPoint {
  Ref<Semaphore> semaphore = {};
  uint64_t value = 0;
};

// Any thread may use any method.
class Stream {
 public:
  Stream(size_t device, Ref<Queue> queue, Ref<Semaphore> semaphore)
      : device_(device), queue_(std::move(queue)), semaphore_(std::move(semaphore)) {}

  size_t device() const { return device_; }
  Queue& queue() const { return *queue_; }

  // To be called behind each operation that was put on the queue. `unknown`: what a kernel was
  // given that the runtime does not know, for the message of a failure; empty if nothing.
  void note_work(std::string unknown = {});
  // The point that is reached when the work so far is done.
  Result<StreamPoint> mark();
  // Keeps the buffers until the work so far is done.
  Status retire(std::vector<Ref<Buffer>> buffers);
  // Waits for the work so far.
  Status synchronize();
  // Whether the work so far is known to be done. Asks nothing of the device beyond a look.
  bool idle();

 private:
  Status mark_locked();
  void drop_retired(uint64_t reached);

  const size_t device_;
  const Ref<Queue> queue_;
  const Ref<Semaphore> semaphore_;
  std::mutex mutex_;
  uint64_t marked_ = 0;    // the last value that something on the queue signals
  bool unmarked_ = false;  // there is work behind that
  std::vector<std::pair<uint64_t, Ref<Buffer>>> retired_;
  std::string unknown_;  // the last of note_work()
};

}  // namespace halyard::mlir
