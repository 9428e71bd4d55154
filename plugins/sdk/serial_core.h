// SerialCore: what is behind a SerialQueue: the queue's thread, which does one operation after the
// other, with the driver's engine for what the device does.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/sdk/held_sync.h"
#include "plugins/sdk/operation_facts.h"
#include "plugins/sdk/polling_thread.h"
#include "plugins/sdk/serial_engine.h"
#include "plugins/sdk/serial_memory.h"

namespace halyard {

class SerialCore;

// What an operation does when its turn comes. Called again after kStarted, when the engine says
// that what was started is done; and after kLater, now and then; until it returns kDone.
enum class SerialStep { kDone, kStarted, kLater };
using SerialWork = std::function<Result<SerialStep>(SerialCore& core)>;

struct SerialOperation {
  OperationFacts facts;  // of an execution, whose commands have some, its name
  // A profile_bit() for each kind of what it does.
  uint64_t kinds = profile_bit(facts.kind);
  SerialWork work = {};
  std::vector<std::shared_ptr<SerialBlock>> blocks = {};  // that it uses
  std::shared_ptr<PoolReturn> given_back = {};            // by a dealloca

  StringView name() const {
    return facts.kind == ProfileKind::kUnknown ? facts.name : StringView(to_string(facts.kind));
  }
};

// One is used by several queues, one after the other. It lives as long as the device.
class SerialCore {
 public:
  static constexpr uint64_t kArenaBytes = 256 * 1024;

  static Result<std::unique_ptr<SerialCore>> create(SerialDevice& device);
  // How many operations a queue holds whose options ask for `wanted`, or 0.
  static uint32_t capacity(const SerialDevice& device, uint32_t wanted);
  ~SerialCore();

  // --- Any thread.

  // A queue that is lost refuses.
  Status submit(SerialOperation operation, const Sync& sync);
  Status fault() const;
  bool is_lost() const { return lost_.load(std::memory_order_acquire); }
  // Queue::id() of the queue that has it.
  uint64_t queue_id() const { return queue_id_; }
  // Whether a profile waits for something that is queued.
  bool has_timed() const { return timed_.load(std::memory_order_acquire) != 0; }
  // Nothing is queued that has not ended.
  bool is_idle() const { return completed() == submitted_.load(std::memory_order_acquire); }
  // How many operations are over.
  uint64_t completed() const { return completed_.load(std::memory_order_acquire); }
  // What it is at, for messages.
  std::string describe() const;
  // It refuses new work, and the work that it has fails. Only the first cause counts.
  void lose(const Status& cause);
  // For the driver: the runtime says so, in its own words.
  void lose(std::string_view words);
  void abandon();
  // For this reason. What is in flight fails when it has ended.
  void abandon(const Status& cause) { lose(cause, Loss::kAbandoned); }
  const SerialEngine& engine() const { return *engine_; }
  // Takes it for a new queue of that capacity, if it is idle and has none.
  bool take(uint32_t capacity);
  void give() { taken_.store(false); }

  // --- For operations, on the core's thread.

  // Host memory that the device sees, for what one launch or one copy needs.
  std::byte* arena() const { return static_cast<std::byte*>(arena_); }
  SerialPlace arena_place() const { return {arena(), arena(), MemoryType::kHost}; }
  // RecordedPlace::execution of one that begins.
  uint64_t next_execution();
  // What a profile says of what begins here, and that it has ended. An operation does so for the
  // commands of a recording.
  void begin_timing(const OperationFacts& facts, const RecordedPlace& place);
  void end_timing();
  // Starts a kernel, whose arguments lie in the arena. `group` says where in a recording it is.
  Result<SerialStep> launch(const SerialLaunch& launch, const std::string& group);
  // Starts a copy, or copies what the host sees at once.
  Result<SerialStep> copy(const SerialCopy& copy);
  // The same, and waits for the end, or until the queue is lost: what was started may go on then.
  Status copy_now(const SerialCopy& copy);

 private:
  struct Entry : SerialOperation {
    HeldSync sync;
    Ref<Device> keep_alive;
    uint64_t index = 0;
    bool timed = false;    // a profile asks for it
    bool started = false;  // its waits are over
    bool begun = false;    // … and the device, or the host, is at it
  };
  // What a profile is told of when it has ended.
  struct Timing {
    ProfileNote note;
    uint64_t begin_ns = 0;
    bool launched = false;  // a kernel: the engine may know more
  };

  enum class Loss { kDead, kAbandoned };

  explicit SerialCore(SerialDevice& device) : device_(device) {}
  Status open();
  void lose(const Status& cause, Loss loss);
  bool look();
  bool advance();
  static PointState evaluate_waits(const Entry& entry, Status* failure);
  bool start_next();
  // Of the entry at that position.
  void finish(size_t position, const Status& outcome);
  PoolPoint point_of(const Entry& entry) const {
    return {reinterpret_cast<uint64_t>(this), entry.index};
  }
  bool drop_lost();

  SerialDevice& device_;
  std::unique_ptr<SerialEngine> engine_;
  void* arena_ = nullptr;
  bool in_flight_ = false;        // of the thread: the engine tells the end
  bool times_ = false;            // of the thread: the entry that it is at is timed
  std::optional<Timing> timing_;  // of the thread
  uint64_t queue_id_ = 0;         // written while it is idle
  std::atomic<uint64_t> submitted_{0};
  std::atomic<uint64_t> completed_{0};
  std::atomic<uint64_t> timed_{0};  // entries
  std::atomic<bool> taken_{false};
  std::atomic<uint32_t> capacity_{0};
  std::atomic<bool> lost_{false};  // whether there is a fault_
  mutable std::mutex mutex_;
  std::deque<Entry> entries_;  // under mutex_; elements stay where they are
  size_t held_ = 0;            // under mutex_: of these, that wait and have not started
  std::string running_;        // under mutex_: a kernel
  Status fault_;               // under mutex_
  Loss loss_ = Loss::kDead;    // under mutex_
  PollingThread thread_;
};

}  // namespace halyard
