#include "queue.h"

#include <cstring>
#include <future>

#include "buffer.h"
#include "command_buffer.h"
#include "device.h"
#include "hal/contract/guard.h"
#include "hal/contract/objects.h"
#include "hal/error.h"
#include "operations.h"

namespace host_memory {

using halyard::Buffer;
using halyard::BufferRange;
using halyard::CommandBuffer;
using halyard::guarded;
using halyard::Ref;
using halyard::Status;
using halyard::StatusCode;
using halyard::Sync;

namespace {

// The queue's thread waits for a host call; nothing else could run on it meanwhile.
class Completion final : public halyard::driver::CompletionBase {
 public:
  void do_complete(const Status& outcome) noexcept override { outcome_.set_value(outcome); }
  Status wait() { return outcome_.get_future().get(); }

 private:
  std::promise<Status> outcome_;
};

}  // namespace

HostMemoryQueue::HostMemoryQueue(HostMemoryDevice& device)
    : QueueBase(device),
      device_(device),
      owner_(Ref<halyard::Device>::retain(&device)),
      state_(std::make_shared<State>()),
      thread_([state = state_] { run(state); }) {}

HostMemoryQueue::~HostMemoryQueue() {
  // A release waits, but never without bound (docs/failures.md).
  constexpr uint64_t kGraceNs = 2'000'000'000;
  // A host call may have dropped the last reference: then this is the queue's own thread.
  const bool own = thread_.get_id() == std::this_thread::get_id();
  bool ended = false;
  {
    std::unique_lock lock(timelines().mutex);
    state_->closing = true;
    timelines().changed.notify_all();
    ended = !own && timelines().wait(lock, halyard::Deadline::after_ns(kGraceNs),
                                     [this] { return state_->ended; });
  }
  if (ended) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

void HostMemoryQueue::destroy() noexcept {
  delete this;
}

bool HostMemoryQueue::Operation::settled(Status* outcome) const {
  bool all = true;
  for (const Point& point : wait) {
    if (!point.semaphore->settled(point.value, outcome)) {
      all = false;
    } else if (!outcome->ok()) {
      return true;
    }
  }
  return all;
}

void HostMemoryQueue::Operation::finish(const Status& outcome) const {
  for (const Point& point : signal) {
    if (outcome.ok()) {
      point.semaphore->advance(point.value);
    } else {
      point.semaphore->fail(outcome);
    }
  }
}

void HostMemoryQueue::run(const std::shared_ptr<State>& state) {
  Timelines& shared = timelines();
  std::unique_lock lock(shared.mutex);
  while (true) {
    shared.changed.wait(lock, [&] { return state->closing || !state->operations.empty(); });
    if (state->operations.empty()) break;
    Operation operation = std::move(state->operations.front());
    state->operations.pop_front();
    state->current = &operation;
    state->started = false;
    Status outcome;
    shared.changed.wait(lock, [&] {
      return operation.settled(&outcome) || state->closing || !state->abandoned.ok();
    });
    if (!state->abandoned.ok()) {
      outcome = state->abandoned;
    } else if (!operation.settled(&outcome)) {
      outcome = Status(StatusCode::kCancelled,
                       "The queue was destroyed while the operation waited for a semaphore.");
    }
    state->started = true;
    lock.unlock();
    if (outcome.ok()) outcome = guarded(operation.work);
    lock.lock();
    state->current = nullptr;
    lock.unlock();
    operation.finish(outcome);
    operation = {};  // lets go of buffers and semaphores, without the lock
    lock.lock();
  }
  state->ended = true;
  shared.changed.notify_all();
}

std::vector<HostMemoryQueue::Point> HostMemoryQueue::hold(
    halyard::Span<const halyard::SemaphorePoint> points) {
  std::vector<Point> held;
  for (const halyard::SemaphorePoint& point : points) {
    auto* semaphore = static_cast<HostMemorySemaphore*>(point.semaphore);
    held.push_back({Ref<HostMemorySemaphore>::retain(semaphore), point.value});
  }
  return held;
}

Status HostMemoryQueue::submit(const Sync& sync, Work work) {
  Operation operation = {hold(sync.wait), hold(sync.signal), std::move(work)};
  {
    const std::lock_guard lock(timelines().mutex);
    if (!state_->abandoned.ok()) return state_->abandoned;
    state_->operations.push_back(std::move(operation));
  }
  timelines().changed.notify_all();
  return {};
}

Status HostMemoryQueue::do_fault() const {
  const std::lock_guard lock(timelines().mutex);
  return state_->abandoned;
}

// What runs goes on, as nothing can stop it; but nobody waits for it any more.
Status HostMemoryQueue::do_abandon() {
  return guarded([this]() -> Status {
    std::deque<Operation> dropped;
    std::vector<Point> signals;
    Status cause;
    {
      const std::lock_guard lock(timelines().mutex);
      if (!state_->abandoned.ok()) return {};
      const bool runs = state_->current != nullptr && state_->started;
      const bool idle = state_->current == nullptr && state_->operations.empty();
      cause = halyard::error(StatusCode::kCancelled,
                             "The queue is abandoned (Queue::abandon) while {}. It takes no work "
                             "any more; make a new one.",
                             runs   ? "an operation has not ended"
                             : idle ? "nothing is queued"
                                    : "operations that wait for semaphores are queued");
      state_->abandoned = cause;
      dropped.swap(state_->operations);
      if (state_->current != nullptr) signals = state_->current->signal;
    }
    timelines().changed.notify_all();
    for (const Point& point : signals) point.semaphore->fail(cause);
    for (const Operation& operation : dropped) operation.finish(cause);
    return {};
  });
}

Status HostMemoryQueue::do_fill(const BufferRange& target, const void* pattern,
                                uint32_t pattern_size, const Sync& sync) {
  return guarded([&] {
    return submit(sync,
                  [to = HeldRange(target), bytes = copy_of(pattern, pattern_size)]() -> Status {
                    fill_bytes(address_of(to.range), to.range.length, bytes);
                    return {};
                  });
  });
}

Status HostMemoryQueue::do_update(const BufferRange& target, const void* source, uint64_t size,
                                  const Sync& sync) {
  return guarded([&] {
    return submit(sync, [to = HeldRange(target), bytes = copy_of(source, size)]() -> Status {
      std::memcpy(address_of(to.range), bytes.data(), bytes.size());
      return {};
    });
  });
}

Status HostMemoryQueue::do_copy(const BufferRange& source, const BufferRange& target,
                                const Sync& sync) {
  return guarded([&] {
    return submit(sync, [from = HeldRange(source), to = HeldRange(target)]() -> Status {
      // memmove: subspans of one buffer may overlap where validation does not see it.
      std::memmove(address_of(to.range), address_of(from.range), to.range.length);
      return {};
    });
  });
}

Status HostMemoryQueue::do_copy_rectangle(const BufferRange& source, const BufferRange& target,
                                          const halyard::RectangleCopy& shape, const Sync& sync) {
  return guarded([&] {
    return submit(sync, [from = HeldRange(source), to = HeldRange(target), shape]() -> Status {
      copy_rows(address_of(to.range), address_of(from.range), shape);
      return {};
    });
  });
}

Status HostMemoryQueue::do_execute(CommandBuffer& commands,
                                   halyard::Span<const BufferRange> bindings, const Sync& sync) {
  return guarded([&] {
    std::vector<HeldRange> held;
    for (const BufferRange& binding : bindings) held.emplace_back(binding);
    return submit(sync, [commands = Ref<CommandBuffer>::retain(&commands), held]() -> Status {
      std::vector<BufferRange> ranges;
      ranges.reserve(held.size());
      for (const HeldRange& binding : held) ranges.push_back(binding.range);
      return static_cast<const HostMemoryCommandBuffer&>(*commands).run(ranges);
    });
  });
}

// The memory is there at once; only its first use is ordered.
Status HostMemoryQueue::do_alloca(uint64_t size, const halyard::PoolOptions& options,
                                  const Sync& sync, Buffer** buffer) {
  Buffer* made = nullptr;
  HALYARD_RETURN_IF_ERROR(
      HostMemoryBuffer::allocate(device_, options.type, size, options.alignment, &made));
  Ref<Buffer> owned = Ref<Buffer>::adopt(made);
  HALYARD_RETURN_IF_ERROR(do_barrier(sync));
  *buffer = owned.leak();
  return {};
}

// The memory goes with the last reference; this one lasts until the queue gets here.
Status HostMemoryQueue::do_dealloca(Buffer& buffer, const Sync& sync) {
  return guarded([&] {
    return submit(sync, [held = Ref<Buffer>::retain(&buffer)]() -> Status { return {}; });
  });
}

Status HostMemoryQueue::do_host_call(const halyard::HostCall& call, const Sync& sync) {
  return guarded([&] {
    return submit(sync, [call = halyard::known_part(call)] {
      Completion completion;
      call.run(completion);
      return completion.wait();
    });
  });
}

Status HostMemoryQueue::do_barrier(const Sync& sync) {
  return guarded([&] { return submit(sync, []() -> Status { return {}; }); });
}

Status HostMemoryQueue::do_dispatch(const halyard::Dispatch&, const Sync&) {
  return no_kernels();
}

Status HostMemoryQueue::do_dispatch_indirect(const halyard::Dispatch&, const BufferRange&,
                                             const Sync&) {
  return no_kernels();
}

Status HostMemoryQueue::do_read(const halyard::FileRange& source, const BufferRange& target,
                                const Sync& sync) {
  return guarded([&] {
    return submit(sync, [source, to = HeldRange(target)] {
      return read_file(source, address_of(to.range), to.range.length);
    });
  });
}

Status HostMemoryQueue::do_write(const BufferRange& source, const halyard::FileRange& target,
                                 const Sync& sync) {
  return guarded([&] {
    return submit(sync, [target, from = HeldRange(source)] {
      return write_file(target, address_of(from.range), from.range.length);
    });
  });
}

}  // namespace host_memory
