// Stream: a HIP stream whose operations are counted, so that "operation n is done" is a number to
// compare.
//
// Operations of a stream are done in their order. Behind those that a caller may ask about there is
// a mark: the stream writes the number into a word of the host's (DoneWords), or an event is
// recorded. When it is complete, so is all before it.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "drivers/hip/done_words.h"
#include "drivers/hip/hip.h"
#include "drivers/hip/mark_plan.h"
#include "hal/executable.h"
#include "hal/status.h"
#include "hal/types.h"
#include "plugins/sdk/point_state.h"
#include "plugins/sdk/users.h"

namespace halyard::hip {

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
  // Of Users: whatever the stream is given has it.
  uint64_t user_bit() const { return user_bit_; }

  // --- For threads that submit, under this lock.

  std::mutex& order() { return order_; }

  // Something was put on the stream. plan_mark says when it is marked.
  void count() {
    const uint64_t number = number_.load(std::memory_order_relaxed) + 1;
    launched_[(number + 1) % kRemembered].store(nullptr, std::memory_order_relaxed);
    number_.store(number, std::memory_order_release);
    if (plan_mark(number - marked_, in_flight(), capacity_)) mark().ignore();
  }
  // How many operations in flight make a submission wait for room.
  void set_capacity(uint32_t operations) {
    const std::lock_guard lock(order_);
    capacity_ = operations;
  }
  // The operation that is about to be put onto it launches `function`, or, if that has failed, none
  // (null). Before it is put there: it may fault before the call that does so returns.
  void note(const Function* function) {
    launched_[(number_.load(std::memory_order_relaxed) + 1) % kRemembered].store(
        function, std::memory_order_release);
  }
  // Marks the last operation, if it is not marked. `for_stream`: so that another stream can wait
  // for it.
  Status mark(bool for_stream = false);
  // What is put on this stream from now on starts when the marked operation of the other is done.
  Status wait_for(const StreamPoint& point);
  // Device memory of kScratch bytes, for data on its way between two places in host memory. In the
  // stream's order, its next user finds it free.
  static constexpr uint64_t kScratch = 1024 * 1024;
  Result<void*> scratch();
  // Whether HIP's own fill of `size` bytes may be put onto the stream, which is then counted. Every
  // so often HIP makes the caller of one wait for all that is on the stream.
  bool takes_fill(uint64_t address, uint64_t size);

  // --- For anybody.

  uint64_t number() const { return number_.load(std::memory_order_acquire); }
  // Without asking HIP.
  bool known_done(uint64_t number) const { return done() >= number; }
  // As far as is known.
  uint64_t in_flight() const {
    const uint64_t last = number();
    return last - std::min(last, done());
  }
  bool known_idle() const { return known_done(number()); }
  // An operation that is not marked is pending until a later mark is reached.
  PointState state_of(uint64_t number);
  // As state_of, and marks the operation if it is not and no thread submits just now.
  PointState settled_state_of(uint64_t number);
  // Asks for all marks.
  void poll();
  // Whether another stream can wait for the marked operation: it is done, or has an event. The next
  // ones have events at once (kEventsAfterWait); this one may get one if nothing is behind it.
  bool offers_event(uint64_t number);
  // Whether HIP has not let go of many operations, all of which are done.
  bool is_worth_releasing() const {
    return writes_words() && !is_shared() &&
           number() - released_.load(std::memory_order_relaxed) >= kWorthReleasing && known_idle();
  }
  // Whether other code of the process may put work on it.
  bool is_shared() const { return shared_.load(std::memory_order_relaxed); }
  void share() { shared_.store(true, std::memory_order_relaxed); }
  // Whether HIP has let go of the operations up to `number`: a command that is done keeps the
  // memory it copies until a thread of the runtime's has seen to it. Waits for that thread at most.
  bool let_go(uint64_t number);

  // "the kernel "saxpy"", or several, of those launches that may be running; empty if there is
  // none.
  std::string describe_running();
  // Whether all is known to be done, also what is just being put onto it.
  bool is_quiescent() const {
    const uint64_t last = number();
    return known_done(last) && launch_at(last + 1) == nullptr && number() == last;
  }
  // The launch that is operation `number`; null if it is none, or so long ago that it is forgotten.
  // Without a lock, as everything that signal handlers use.
  const Function* launch_at(uint64_t number) const {
    return launched_[number % kRemembered].load(std::memory_order_acquire);
  }
  // The first operation that is not known to be done.
  uint64_t first_running() const { return done() + 1; }
  // Launches of that many latest operations are remembered.
  static constexpr uint64_t kRemembered = 1024;
  static_assert(kRemembered >= kMostUnmarked);
  // The one that was made before this one, or null.
  const Stream* older() const { return older_; }

  // Nothing completes any more; the first cause counts.
  void lose(const Status& cause);
  bool lost() const { return lost_.load(std::memory_order_acquire); }
  Status fault() const;
  // Whether the stream is abandoned, and its work may still run.
  bool abandoned() const { return abandoned_.load(std::memory_order_acquire); }
  // Whether work up to `number` may still use memory. Also of an abandoned stream, whose work may
  // end after all.
  bool may_use(uint64_t number);
  // Whether it waits, within HIP, for work of another stream, or of another device, or for any at
  // all, that is not known to be done.
  bool awaits(const Stream& other);
  bool awaits_device(int device);
  bool awaits_any();

 private:
  friend class Streams;

  struct Mark {
    uint64_t number = 0;
    hipEvent_t event = nullptr;  // null: it is written into the word only
    bool written = false;
  };

  // The last operation that is known to be done.
  uint64_t done() const {
    const uint64_t completed = completed_.load(std::memory_order_acquire);
    if (word_ == nullptr || lost()) return completed;
    return std::max(completed, word_->load(std::memory_order_acquire));
  }
  bool writes_words() const {
    return word_ != nullptr && words_->writes() == DoneWords::Writes::kArrive;
  }
  // Puts a write of `number` on the stream. Whether HIP has taken it.
  bool write_word(uint64_t number);
  // Counts operations whose commands HIP keeps. Of all streams so far; what is negative wraps.
  static uint64_t keep(uint64_t operations);
  // HIP lets go of what is before `number`. Under order().
  void let_release(uint64_t number);
  // Makes HIP let go of what is done. All streams of the device are idle, and stay so. Under
  // order().
  void release_commands();
  // The first mark at `number` or later; with an event. Under marks_mutex_.
  std::deque<Mark>::iterator mark_at(uint64_t number);
  std::deque<Mark>::iterator event_at(uint64_t number);
  // Forgets the marks that are known to be done. Under marks_mutex_.
  void forget_done();
  // Whether marks_[index] is done; then it and those before it are forgotten. Under marks_mutex_.
  bool passes(size_t index);
  Result<hipEvent_t> take_event();
  Status wait_for_event(Stream& other, uint64_t number);
  // Puts the probe behind what is on the stream. Under probe_mutex_. hipErrorNotReady if a thread
  // submits just now.
  hipError_t probe();
  // Why the stream is lost after a HIP call has returned `result`.
  Status loss(hipError_t result, std::string_view doing) const;
  void lose_locked(const Status& cause);
  // As lose(), of a stream whose work may go on. False if it was lost before.
  bool abandon(const Status& cause);
  // Whether all that was on an abandoned stream is done.
  bool has_ended();

  const Hip& hip_;
  const int device_;
  const int priority_;
  const uint64_t user_bit_ = next_user_bit();
  hipStream_t handle_ = nullptr;
  bool external_ = false;
  std::atomic<bool> given_back_{false};  // an external one: its owner may destroy it
  const Stream* older_ = nullptr;
  uint64_t serial_ = 0;  // how many were made before it

  std::mutex order_;
  uint64_t marked_ = 0;                // under order_: the last operation with a mark
  uint64_t recorded_ = 0;              // under order_: the last one with an event
  uint64_t counted_ = 0;               // under order_: those up to it keep() has counted
  uint64_t capacity_ = kMostUnmarked;  // under order_
  void* scratch_ = nullptr;            // under order_; kept for good, as the stream is
  uint64_t fills_ = 0;                 // under order_: HIP's, in its pieces
  std::atomic<uint64_t> number_{0};    // operations that were put on it; written under order_
  std::atomic<uint64_t> completed_{0};
  std::atomic<uint64_t> released_{0};  // HIP was made to let go of the commands up to it
  // Where the stream writes what is done; null if it does not. Both are set before it is used.
  DoneWords* words_ = nullptr;
  const std::atomic<uint64_t>* word_ = nullptr;
  std::atomic<uint32_t> wants_events_{0};  // so many marks to come: other streams wait for some
  std::atomic<bool> shared_{false};
  std::array<std::atomic<const Function*>, kRemembered> launched_{};

  mutable std::mutex marks_mutex_;
  std::deque<Mark> marks_;            // under marks_mutex_, in order
  std::vector<hipEvent_t> events_;    // under marks_mutex_: the spare ones
  std::vector<StreamPoint> awaited_;  // under marks_mutex_: of other streams

  std::mutex probe_mutex_;
  std::atomic<bool> probe_is_through_{false};
  bool probing_ = false;      // under probe_mutex_: it is on the stream
  bool probed_once_ = false;  // under probe_mutex_
  uint64_t probed_ = 0;       // under probe_mutex_: what was on the stream the first time
  std::atomic<uint64_t> let_go_{0};

  std::atomic<bool> lost_{false};
  Status fault_;  // under marks_mutex_, set before lost_
  std::atomic<bool> abandoned_{false};
  bool ended_ = false;  // under marks_mutex_: an abandoned one's work
};

// While it lives, no thread puts work on the streams, and none is made.
class StillStreams {
 public:
  explicit StillStreams(std::unique_lock<std::mutex> all) : all_(std::move(all)) {}
  // False if a thread is just now putting work on it.
  bool add(std::mutex& order) { return orders_.emplace_back(order, std::try_to_lock).owns_lock(); }

 private:
  std::unique_lock<std::mutex> all_;
  std::vector<std::unique_lock<std::mutex>> orders_;
};

// The streams of the process. None is ever destroyed (hipStreamDestroy waits for its work, and
// points refer to streams for as long as semaphores live): what a queue gives back is for the next.
class Streams {
 public:
  static Streams& instance();

  // The device's fault, if it has one.
  Result<Stream*> take(const Hip& hip, int device, int priority);
  // Over a stream of the program's.
  Stream* import(const Hip& hip, int device, hipStream_t handle);
  void give(Stream& stream);

  // The last operation of each stream that is not known to be idle, or was abandoned with work, and
  // has one of these bits.
  std::vector<StreamPoint> busy(uint64_t users = UINT64_MAX);
  // The same for those of which HIP may not have let go. Abandoned ones only if they have a bit.
  std::vector<StreamPoint> kept(uint64_t users = UINT64_MAX);
  bool all_idle();
  bool idle(int device);
  // What HIP would wait for, of the device or of all, is idle and stays so: then a call that waits
  // for it waits for nothing. Nothing if it is not, or a thread is just at it. The holder calls
  // nothing of this class's.
  std::optional<StillStreams> hold_still(std::optional<int> device);
  // Makes HIP let go of the stream's commands, on this thread, if all streams of the device are
  // idle.
  void release_commands(Stream& stream);
  std::vector<Stream*> of_device(int device);
  // The one that was made last.
  const Stream* newest() const { return newest_.load(std::memory_order_acquire); }

  // Nothing of the device's completes any more; nor does anything of a device of which a stream
  // waits for that, as HIP cannot take such a wait back.
  void lose_device(int device, const Status& cause);
  // Why work of the device does not complete; OK if it does. A stream that is lost loses no device.
  Status fault_of(int device);
  // The stream takes no work any more, nor do those that wait for its work within HIP, which cannot
  // take such a wait back.
  void abandon(Stream& stream, const Status& cause);
  // Whether what waits, within HIP, for all work of the device, or of all devices, may wait for
  // ever: a device is lost, or a stream is.
  bool blocks(int device);
  bool any_blocks();

 private:
  Stream* add(std::unique_ptr<Stream> stream);  // under mutex_
  // Under mutex_: none has work that is not known to be done, or awaits any, of the device or of
  // all.
  std::optional<StillStreams> hold_still_locked(std::unique_lock<std::mutex> lock,
                                                std::optional<int> device);
  // One that was given back, or null. Under mutex_.
  Stream* take_spare(const Hip& hip, int device, int priority);
  Status fault_of_locked(int device) const;
  bool blocks_locked(int device) const;

  std::mutex mutex_;
  std::atomic<const Stream*> newest_{nullptr};
  std::map<int, Status> lost_devices_;        // under mutex_
  std::vector<std::unique_ptr<Stream>> all_;  // under mutex_
  std::vector<Stream*> spare_;                // under mutex_
};

}  // namespace halyard::hip
