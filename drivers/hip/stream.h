// Stream: a HIP stream whose operations are counted, so that "operation n is done" is a number to
// compare.
//
// Operations of a stream are done in their order. Behind those that somebody may ask about an event
// is recorded, a mark; when it is complete, so is all before it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "drivers/hip/hip.h"
#include "hal/executable.h"
#include "hal/status.h"
#include "hal/types.h"

namespace halyard::hip {

enum class PointState : uint8_t { kPending, kReached, kFailed };

// Operation `number` of a stream, as far as waiting for it goes.
struct StreamPoint {
  class Stream* stream = nullptr;
  uint64_t number = 0;
};

class Stream {
 public:
  Stream(const Hip& hip, int device, int priority)
      : hip_(hip), device_(device), priority_(priority) {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  const Hip& hip() const { return hip_; }
  hipStream_t handle() const { return handle_; }
  int device() const { return device_; }
  int priority() const { return priority_; }

  // --- For whoever submits, under this lock.

  std::mutex& order() { return order_; }

  // Something was put on the stream. Every now and then it is marked.
  void count() {
    const uint64_t number = number_.load(std::memory_order_relaxed) + 1;
    number_.store(number, std::memory_order_release);
    launched_[(number + 1) % kRemembered].store(nullptr, std::memory_order_relaxed);
    if (number - marked_ >= kMostUnmarked) mark().ignore();
  }
  // The operation that is being put onto it launches `function`; for messages.
  void note(const Function* function) {
    launched_[(number_.load(std::memory_order_relaxed) + 1) % kRemembered].store(
        function, std::memory_order_release);
  }
  // Marks the last operation, if it is not marked.
  Status mark();
  // What is put on this stream from now on starts when the marked operation of the other is done.
  Status wait_for(const StreamPoint& point);
  // Device memory of kScratch bytes, for data on its way between two places in host memory. In the
  // stream's order, whoever uses it next finds it free.
  static constexpr uint64_t kScratch = 1024 * 1024;
  Result<void*> scratch();

  // --- For anybody.

  uint64_t number() const { return number_.load(std::memory_order_acquire); }
  // Without asking HIP.
  bool known_done(uint64_t number) const {
    return completed_.load(std::memory_order_acquire) >= number;
  }
  bool known_idle() const { return known_done(number()); }
  // An operation that is not marked is pending until a later mark is reached.
  PointState state_of(uint64_t number);
  // As state_of, and marks the operation if it is not and nobody submits just now.
  PointState settled_state_of(uint64_t number);
  // Asks for all marks.
  void poll();

  // "the kernel "saxpy"", or several, of those launches that may be running; empty if there is
  // none.
  std::string describe_running();

  // Nothing completes any more; the first cause counts.
  void lose(const Status& cause);
  bool lost() const { return lost_.load(std::memory_order_acquire); }
  Status fault() const;

 private:
  friend class Streams;
  // Commands that nobody waits for are kept by HIP until a mark behind them is done.
  static constexpr uint32_t kMostUnmarked = 256;

  struct Mark {
    uint64_t number = 0;
    hipEvent_t event = nullptr;
  };

  // Whether marks_[index] is done; then it and those before it are forgotten. Under marks_mutex_.
  bool passes(size_t index);
  Result<hipEvent_t> take_event();
  void lose_locked(const Status& cause);
  // Launches of the latest operations are remembered.
  static constexpr uint64_t kRemembered = 256;

  const Hip& hip_;
  const int device_;
  const int priority_;
  hipStream_t handle_ = nullptr;
  bool external_ = false;

  std::mutex order_;
  uint64_t marked_ = 0;              // under order_: the last operation with a mark
  void* scratch_ = nullptr;          // under order_; kept for good, as the stream is
  std::atomic<uint64_t> number_{0};  // operations that were put on it; written under order_
  std::atomic<uint64_t> completed_{0};
  std::array<std::atomic<const Function*>, kRemembered> launched_{};

  mutable std::mutex marks_mutex_;
  std::deque<Mark> marks_;          // under marks_mutex_, in order
  std::vector<hipEvent_t> events_;  // under marks_mutex_: the spare ones
  std::atomic<bool> lost_{false};
  Status fault_;  // under marks_mutex_, set before lost_
};

// The streams of the process. None is ever destroyed (hipStreamDestroy waits for its work, and
// points refer to streams for as long as semaphores live): what a queue gives back is for the next.
class Streams {
 public:
  static Streams& instance();

  Result<Stream*> take(const Hip& hip, int device, int priority);
  // Over somebody else's stream.
  Stream* import(const Hip& hip, int device, hipStream_t handle);
  void give(Stream& stream);

  // The last operation of each stream that is not known to be idle.
  std::vector<StreamPoint> busy();
  bool all_idle();
  std::vector<Stream*> of_device(int device);

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Stream>> all_;  // under mutex_
  std::vector<Stream*> spare_;                // under mutex_
};

}  // namespace halyard::hip
