// Queues, semaphores and command buffers. A hardware queue (Core) has a thread, which does one
// operation after the other.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "drivers/common/file_work.h"
#include "drivers/common/held_sync.h"
#include "drivers/common/polling_thread.h"
#include "drivers/common/recording_command_buffer.h"
#include "drivers/common/timeline.h"
#include "hal/kernel_arguments.h"
#include "memory.h"

namespace halyard::skeleton {

class Core;

// What an operation does when its turn comes. Called again after kSignal, when the core's signal
// says that what was started is done; and after kLater, now and then; until it is done.
enum class Step { kDone, kSignal, kLater };
using Work = std::function<Result<Step>(Core& core)>;

struct Operation {
  const char* name = "barrier";
  Work work = {};
  std::vector<std::shared_ptr<Block>> blocks = {};  // that it uses
  std::shared_ptr<PoolReturn> given_back = {};      // by a dealloca
};

class Core {
 public:
  static constexpr uint64_t kArenaBytes = 256 * 1024;
  enum class Loss { kDead, kAbandoned };
  struct Piece {
    std::byte* target;
    const std::byte* source;
    uint64_t size;  // bytes
  };

  static Result<std::unique_ptr<Core>> create(DeviceImpl& device);
  // How many operations a queue holds whose options ask for `wanted`, or 0.
  static uint32_t capacity(const DeviceImpl& device, uint32_t wanted);
  ~Core();

  // --- Any thread.

  // A queue that is lost refuses.
  Status submit(Operation operation, const Sync& sync);
  Status fault() const;
  bool is_lost() const { return lost_.load(std::memory_order_acquire); }
  // Nothing is queued that has not ended.
  bool is_idle() const { return completed() == submitted_.load(std::memory_order_acquire); }
  // How many operations are over.
  uint64_t completed() const { return completed_.load(std::memory_order_acquire); }
  // What it is at, for messages.
  std::string describe() const;
  // It takes no work any more, and what it has fails with `cause`. Only the first counts.
  void lose(const Status& cause, Loss loss);
  void abandon();
  hsa_queue_t* queue() const { return queue_; }
  HiddenValues hidden_values() const;
  // Takes it for a new queue of that capacity, if it is idle and has none.
  bool take(uint32_t capacity);
  void give() { taken_.store(false); }

  // --- For operations, on the core's thread.

  // Host memory that the device sees, for what one packet or one transfer needs.
  std::byte* arena() const { return arena_; }
  // Starts a kernel, whose arguments lie in the arena.
  Step launch(const Function& function, const std::string& group, const Dim3& grid,
              const Dim3& workgroup, uint32_t lds_bytes);
  // Starts copies. Each side is in the GPU's memory or the host's.
  Result<Step> copy(const std::vector<Piece>& pieces, MemoryType target, MemoryType source);
  // The same, and waits for their end.
  Status copy_now(const Piece& piece, MemoryType target, MemoryType source);

 private:
  struct Entry : Operation {
    HeldSync sync;
    Ref<Device> keep_alive;
    uint64_t index = 0;
    bool started = false;  // it has nothing to wait for any more
    bool begun = false;    // … and the device, or the host, is at it
  };

  explicit Core(DeviceImpl& device) : device_(device) {}
  Status open();
  static void on_error(hsa_status_t status, hsa_queue_t*, void* core);
  bool look();
  bool advance();
  // Whether the signal says that all is done, after a bounded wait.
  bool is_signal_done(Status* failure);
  static PointState evaluate_waits(const Entry& entry, Status* failure);
  bool start_next();
  // Of the entry at that position.
  void finish(size_t position, const Status& outcome);
  PoolPoint point_of(const Entry& entry) const {
    return {reinterpret_cast<uint64_t>(this), entry.index};
  }
  bool drop_lost();

  DeviceImpl& device_;
  hsa_queue_t* queue_ = nullptr;
  hsa_signal_t signal_ = {};
  void* arena_base_ = nullptr;
  std::byte* arena_ = nullptr;
  bool in_flight_ = false;   // of the thread: the signal tells the end
  Status transfer_failure_;  // of the thread
  std::atomic<uint64_t> submitted_{0};
  std::atomic<uint64_t> completed_{0};
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

class QueueImpl final : public driver::QueueBase {
 public:
  QueueImpl(DeviceImpl& device, Core& core, QueuePlace place);

 private:
  ~QueueImpl() = default;
  void destroy() noexcept override;
  Status do_fill(const BufferRange& target, const void* pattern, uint32_t pattern_size,
                 const Sync& sync) override;
  Status do_update(const BufferRange& target, const void* source, uint64_t size,
                   const Sync& sync) override;
  Status do_copy(const BufferRange& source, const BufferRange& target, const Sync& sync) override;
  Status do_copy_rectangle(const BufferRange& source, const BufferRange& target,
                           const RectangleCopy& shape, const Sync& sync) override;
  Status do_dispatch(const Dispatch& dispatch, const Sync& sync) override;
  Status do_dispatch_indirect(const Dispatch& dispatch, const BufferRange& group_counts,
                              const Sync& sync) override;
  Status do_execute(CommandBuffer& commands, Span<const BufferRange> bindings,
                    const Sync& sync) override;
  Status do_alloca(uint64_t size, const PoolOptions& options, const Sync& sync,
                   Buffer** buffer) override;
  Status do_dealloca(Buffer& buffer, const Sync& sync) override;
  Status do_read(const FileRange& source, const BufferRange& target, const Sync& sync) override;
  Status do_write(const BufferRange& source, const FileRange& target, const Sync& sync) override;
  Status do_host_call(const HostCall& call, const Sync& sync) override;
  Status do_barrier(const Sync& sync) override { return core_.submit({}, sync); }
  Status do_fault() const override { return core_.fault(); }
  Status do_abandon() override;
  void* do_native_handle() const noexcept override { return core_.queue(); }
  uint64_t do_id() const noexcept override { return id_; }

  Status submit_file(const char* name, const FileWork& file, const Sync& sync);

  DeviceImpl& device_;
  const Ref<Device> keep_alive_;
  const QueuePlace place_;
  Core& core_;
  const uint64_t id_;
};

// Its signals are made by threads, so a value is what has been signalled.
class SemaphoreImpl final : public Timeline {
 public:
  SemaphoreImpl(Device& device, uint64_t initial_value) : Timeline(device, initial_value) {}

  PointState evaluate(uint64_t value) const override {
    if (has_reached(value)) return PointState::kReached;
    if (!has_failed()) return PointState::kPending;
    return has_reached(value) ? PointState::kReached : PointState::kFailed;
  }
  bool is_coming(uint64_t) const override { return false; }

 private:
  ~SemaphoreImpl() = default;
  void destroy() noexcept override {
    end_sharing();
    delete this;
  }
  void settle() const override {}
  uint64_t least_pending() const override { return UINT64_MAX; }
  PointState wait_until(uint64_t value, Deadline deadline) const override {
    return Progress::instance().wait_until([&] { return evaluate(value); }, deadline);
  }
  void notify() const override { Progress::instance().notify(); }
  void notify_under_lock() const override { notify(); }
};

class CommandBufferImpl final : public RecordingCommandBuffer {
 public:
  explicit CommandBufferImpl(Device& device)
      : RecordingCommandBuffer(device, &BufferImpl::may_be_given_back) {}
  const Recording& recording() const { return recording_; }

 private:
  ~CommandBufferImpl() = default;
  void destroy() noexcept override { delete this; }
  Status do_finish() override { return {}; }
};

}  // namespace halyard::skeleton
