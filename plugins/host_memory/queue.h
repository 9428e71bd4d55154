// Queue of the host_memory driver: one thread that does one operation after the other.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "hal/contract/objects.h"
#include "hal/queue.h"
#include "semaphore.h"

namespace host_memory {

class HostMemoryDevice;

class HostMemoryQueue final : public halyard::driver::QueueBase {
 public:
  explicit HostMemoryQueue(HostMemoryDevice& device);

 private:
  using BufferRange = halyard::BufferRange;
  using Status = halyard::Status;
  using Sync = halyard::Sync;
  using Work = std::function<Status()>;

  struct Point {
    halyard::Ref<HostMemorySemaphore> semaphore;
    uint64_t value;
  };
  struct Operation {
    std::vector<Point> wait;
    std::vector<Point> signal;
    Work work;

    bool settled(Status* outcome) const;
    void finish(const Status& outcome) const;
  };
  // What the queue and its thread share; under the lock of timelines().
  struct State {
    std::deque<Operation> operations;
    const Operation* current = nullptr;  // what the thread is at
    bool started = false;                // … and has nothing to wait for any more
    bool closing = false;
    bool ended = false;         // the thread
    halyard::Status abandoned;  // why it takes no work any more
  };

  // Finishes the work that has nothing to wait for any more, and cancels the rest. Work that takes
  // longer than some seconds is left to the thread.
  ~HostMemoryQueue();
  void destroy() noexcept override;

  static std::vector<Point> hold(halyard::Span<const halyard::SemaphorePoint> points);
  static void run(const std::shared_ptr<State>& state);
  Status submit(const Sync& sync, Work work);

  Status do_fill(const BufferRange& target, const void* pattern, uint32_t pattern_size,
                 const Sync& sync) override;
  Status do_update(const BufferRange& target, const void* source, uint64_t size,
                   const Sync& sync) override;
  Status do_copy(const BufferRange& source, const BufferRange& target, const Sync& sync) override;
  Status do_dispatch(const halyard::Dispatch& dispatch, const Sync& sync) override;
  Status do_dispatch_indirect(const halyard::Dispatch& dispatch, const BufferRange& group_counts,
                              const Sync& sync) override;
  Status do_execute(halyard::CommandBuffer& commands, halyard::Span<const BufferRange> bindings,
                    const Sync& sync) override;
  Status do_alloca(uint64_t size, const halyard::PoolOptions& options, const Sync& sync,
                   halyard::Buffer** buffer) override;
  Status do_dealloca(halyard::Buffer& buffer, const Sync& sync) override;
  Status do_read(const halyard::FileRange& source, const BufferRange& target,
                 const Sync& sync) override;
  Status do_write(const BufferRange& source, const halyard::FileRange& target,
                  const Sync& sync) override;
  Status do_host_call(const halyard::HostCall& call, const Sync& sync) override;
  Status do_barrier(const Sync& sync) override;
  void* do_native_handle() const noexcept override { return nullptr; }
  Status do_fault() const override;
  Status do_abandon() override;
  Status do_copy_rectangle(const BufferRange& source, const BufferRange& target,
                           const halyard::RectangleCopy& shape, const Sync& sync) override;

  HostMemoryDevice& device_;
  halyard::Ref<halyard::Device> owner_;
  std::shared_ptr<State> state_;
  std::thread thread_;
};

}  // namespace host_memory
