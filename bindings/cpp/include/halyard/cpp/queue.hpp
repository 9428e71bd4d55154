// Queue, which runs a device's work, and Future, the end of it.
#ifndef HALYARD_CPP_QUEUE_HPP
#define HALYARD_CPP_QUEUE_HPP

#include <halyard/halyard.h>
#include <halyard/cpp/error.hpp>
#include <halyard/cpp/handle.hpp>
#include <halyard/cpp/kernel.hpp>
#include <halyard/cpp/memory.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace halyard::host {

// The end of an operation of a Queue, and of all earlier ones. The destructor does not
// wait. A default-constructed or moved-from Future is empty.
class Future {
 public:
  Future() noexcept = default;
  Future(internal::SemaphoreHandle semaphore, uint64_t value) noexcept
      : semaphore_(std::move(semaphore)), value_(value) {}

  // Waits until the work is done. Returns the work's failure.
  Status try_wait() const {
    HALYARD_HOST_TRY(internal::check_object(semaphore_.get(), "Future::wait", "Future"));
    return Status(halyard_semaphore_wait(semaphore_.get(), value_, HALYARD_FOREVER));
  }
  // Also DEADLINE_EXCEEDED.
  Status try_wait_for(std::chrono::nanoseconds time) const {
    HALYARD_HOST_TRY(internal::check_object(semaphore_.get(), "Future::wait_for", "Future"));
    const auto ns = static_cast<uint64_t>(time.count() > 0 ? time.count() : 0);
    return Status(halyard_semaphore_wait(semaphore_.get(), value_, halyard_deadline_after(ns)));
  }
  // Does not wait. Failed work counts as done. INVALID_ARGUMENT if empty; without exceptions true.
  bool done() const {
    internal::require(semaphore_.get(), "Future::done", "Future");
    const Status status(halyard_semaphore_wait(semaphore_.get(), value_, HALYARD_POLL));
    return status.code() != HALYARD_DEADLINE_EXCEEDED;
  }
  // For the C interface.
  halyard_point point() const noexcept { return {semaphore_.get(), value_}; }
#if defined(HALYARD_HOST_EXCEPTIONS)
  void wait() const { check(try_wait()); }
  // Whether the work was done before the deadline.
  bool wait_for(std::chrono::nanoseconds time) const {
    Status status = try_wait_for(time);
    if (status.code() == HALYARD_DEADLINE_EXCEEDED) return false;
    check(std::move(status));
    return true;
  }
#endif

 private:
  internal::SemaphoreHandle semaphore_;
  uint64_t value_ = 0;
};

// Takes a device's work, and runs it in order. Every operation returns a Future at once, unless its
// comment says otherwise. The first operation that fails makes every later Future fail with its
// message: then create another queue. A method of a Queue that was moved from fails with
// INVALID_ARGUMENT.
class Queue {
 public:
  Queue(internal::QueueHandle queue, internal::SemaphoreHandle semaphore)
      : state_(std::make_shared<State>(std::move(queue), std::move(semaphore))) {}

  // Launches `kernel` with `grid` work-items in groups of `group`. Checks the arguments against the
  // kernel's metadata: INVALID_ARGUMENT names the wrong one.
  template <typename... Arguments>
  Result<Future> try_launch(const Kernel& kernel, Extent grid, Extent group,
                            const Arguments&... arguments) {
    return try_launch_with_lds(0, kernel, grid, group, arguments...);
  }
  // The same with `bytes` of dynamic LDS (HIP's extern __shared__).
  template <typename... Arguments>
  Result<Future> try_launch_with_lds(uint32_t bytes, const Kernel& kernel, Extent grid,
                                     Extent group, const Arguments&... arguments) {
    const std::array<halyard_argument, sizeof...(Arguments)> list = {
        internal::to_argument(arguments)...};
    if (Status status = internal::check_arguments(kernel, list); !status.ok()) return status;
    auto dispatch = internal::with_size<halyard_dispatch>();
    dispatch.function = kernel.handle();
    dispatch.dynamic_lds_bytes = bytes;
    dispatch.arguments = list.data();
    dispatch.argument_count = list.size();
    std::vector<halyard_range> uses;
    (internal::add_uses(arguments, uses), ...);
    for (const halyard_range& use : uses) {
      HALYARD_HOST_TRY(internal::check_given(use.buffer, "with_memory", "Array or Buffer"));
    }
    dispatch.uses = uses.data();
    dispatch.use_count = uses.size();
    if (Status status = internal::to_dim3("grid", grid, &dispatch.grid); !status.ok())
      return status;
    if (Status status = internal::to_dim3("work-group", group, &dispatch.workgroup); !status.ok())
      return status;
    return submit("Queue::launch", [&](halyard_queue* queue, const halyard_sync* sync) {
      return halyard_queue_dispatch(queue, &dispatch, sync);
    });
  }

  // Copies host memory to the array. The elements are read before the call returns, so `source` can
  // change then. INVALID_ARGUMENT unless the sizes are equal.
  template <typename T>
  Result<Future> try_upload(std::span<const T> source, const Array<T>& target) {
    HALYARD_HOST_TRY(internal::check_given(target.buffer().handle(), "Queue::upload", "Array"));
    if (Status status = check_sizes(source.size(), target.size()); !status.ok()) return status;
    return submit("Queue::upload", [&](halyard_queue* queue, const halyard_sync* sync) {
      return halyard_queue_update(queue, halyard_whole(target.buffer().handle()), source.data(),
                                  source.size_bytes(), sync);
    });
  }
  // Copies the array to host memory. WAITS for the queue's earlier work and for the copy.
  template <typename T>
  Status try_download(const Array<T>& source, std::span<T> target) {
    HALYARD_HOST_TRY(internal::check_object(state_.get(), "Queue::download", "Queue"));
    HALYARD_HOST_TRY(internal::check_given(source.buffer().handle(), "Queue::download", "Array"));
    if (Status status = check_sizes(source.size(), target.size()); !status.ok()) return status;
    return download_bytes(source.buffer(), target.data(), target.size_bytes());
  }
  // Copies one array to another, of equal size.
  template <typename T>
  Result<Future> try_copy(const Array<T>& source, const Array<T>& target) {
    HALYARD_HOST_TRY(internal::check_given(source.buffer().handle(), "Queue::copy", "Array"));
    HALYARD_HOST_TRY(internal::check_given(target.buffer().handle(), "Queue::copy", "Array"));
    if (Status status = check_sizes(source.size(), target.size()); !status.ok()) return status;
    return submit("Queue::copy", [&](halyard_queue* queue, const halyard_sync* sync) {
      return halyard_queue_copy(queue, halyard_whole(source.buffer().handle()),
                                halyard_whole(target.buffer().handle()), sync);
    });
  }
  // Sets every element; sizeof(T) is at most 256.
  template <typename T>
  Result<Future> try_fill(const Array<T>& target, const std::type_identity_t<T>& value) {
    static_assert(sizeof(T) <= 256);
    HALYARD_HOST_TRY(internal::check_given(target.buffer().handle(), "Queue::fill", "Array"));
    return submit("Queue::fill", [&](halyard_queue* queue, const halyard_sync* sync) {
      return halyard_queue_fill(queue, halyard_whole(target.buffer().handle()), &value, sizeof(T),
                                sync);
    });
  }
  // Moves the pages of managed memory (Device::try_managed_array) to the queue's GPU, or to the
  // host: a hint.
  template <typename T>
  Result<Future> try_prefetch(const Array<T>& array, bool to_host = false) {
    HALYARD_HOST_TRY(internal::check_given(array.buffer().handle(), "Queue::prefetch", "Array"));
    return submit("Queue::prefetch", [&](halyard_queue* queue, const halyard_sync* sync) {
      return halyard_queue_prefetch(queue, halyard_whole(array.buffer().handle()),
                                    to_host ? HALYARD_PREFETCH_TO_HOST : HALYARD_PREFETCH_TO_DEVICE,
                                    sync);
    });
  }
  // Later work waits for `future`, which may be another queue's.
  Result<Future> try_after(const Future& future) {
    const halyard_point wait = future.point();
    HALYARD_HOST_TRY(internal::check_given(wait.semaphore, "Queue::after", "Future"));
    return submit("Queue::after", [&](halyard_queue* queue, const halyard_sync* sync) {
      halyard_sync both = *sync;
      both.wait = &wait;
      both.wait_count = 1;
      return halyard_queue_barrier(queue, &both);
    });
  }
  // The end of all work submitted so far.
  Result<Future> try_future() {
    return submit("Queue::future", [](halyard_queue* queue, const halyard_sync* sync) {
      return halyard_queue_barrier(queue, sync);
    });
  }
  // WAITS for all work submitted so far.
  Status try_wait() {
    Result<Future> future = try_future();
    return future.ok() ? future->try_wait() : future.status();
  }
  // `size` elements of the pool's memory, for work of this queue, and of others that wait for it.
  // The host can use them (Memory::kHost) when the queue has reached this point. They return to the
  // pool when the array's last copy is gone and no work uses them. RESOURCE_EXHAUSTED beyond the
  // pool's limit.
  template <typename T>
  Result<Array<T>> try_array(size_t size, const Pool& pool) {
    HALYARD_HOST_TRY(internal::check_given(pool.handle(), "Queue::array", "Pool"));
    if (Status status = internal::check_array_size(size, sizeof(T)); !status.ok()) return status;
    auto options = internal::with_size<halyard_buffer_options>();
    options.pool = pool.handle();
    internal::BufferHandle buffer;
    Result<Future> allocated =
        submit("Queue::array", [&](halyard_queue* queue, const halyard_sync* sync) {
          return halyard_queue_alloca(queue, size * sizeof(T), &options, sync, buffer.out());
        });
    if (!allocated.ok()) return allocated.status();
    return internal::array_over<T>(std::move(buffer), size);
  }
  // The queue's number in profiles. Without exceptions 0 if the Queue was moved from.
  uint64_t id() const {
    internal::require(state_.get(), "Queue::id", "Queue");
    return halyard_queue_id(handle());
  }
  // OK while the queue accepts work.
  Status fault() const {
    HALYARD_HOST_TRY(internal::check_object(state_.get(), "Queue::fault", "Queue"));
    return Status(halyard_queue_fault(handle()));
  }
  // Null if the Queue was moved from.
  halyard_queue* handle() const noexcept {
    return state_ != nullptr ? state_->queue.get() : nullptr;
  }

#if defined(HALYARD_HOST_EXCEPTIONS)
  template <typename... Arguments>
  Future launch(const Kernel& kernel, Extent grid, Extent group, const Arguments&... arguments) {
    return try_launch(kernel, grid, group, arguments...).value();
  }
  template <typename... Arguments>
  Future launch_with_lds(uint32_t bytes, const Kernel& kernel, Extent grid, Extent group,
                         const Arguments&... arguments) {
    return try_launch_with_lds(bytes, kernel, grid, group, arguments...).value();
  }
  template <typename T>
  Future upload(std::span<const std::type_identity_t<T>> source, const Array<T>& target) {
    return try_upload(source, target).value();
  }
  template <typename T>
  void download(const Array<T>& source, std::span<std::type_identity_t<T>> target) {
    check(try_download(source, target));
  }
  template <typename T>
  Future copy(const Array<T>& source, const Array<T>& target) {
    return try_copy(source, target).value();
  }
  template <typename T>
  Future fill(const Array<T>& target, const std::type_identity_t<T>& value) {
    return try_fill(target, value).value();
  }
  template <typename T>
  Future prefetch(const Array<T>& array, bool to_host = false) {
    return try_prefetch(array, to_host).value();
  }
  template <typename T>
  Array<T> array(size_t size, const Pool& pool) {
    return try_array<T>(size, pool).value();
  }
  Future after(const Future& future) { return try_after(future).value(); }
  Future future() { return try_future().value(); }
  void wait() { check(try_wait()); }
#endif

 private:
  struct State {
    State(internal::QueueHandle q, internal::SemaphoreHandle s) noexcept
        : queue(std::move(q)), semaphore(std::move(s)) {}
    internal::QueueHandle queue;
    internal::SemaphoreHandle semaphore;
    // The semaphore's values are signalled in the order of the operations.
    std::mutex mutex;
    uint64_t last = 0;
  };

  template <typename Operation>
  Result<Future> submit(const char* method, Operation&& operation) {
    HALYARD_HOST_TRY(internal::check_object(state_.get(), method, "Queue"));
    std::unique_lock lock(state_->mutex, std::try_to_lock);
    if (!lock.owns_lock()) {
      // In a child of fork the lock's owner may not exist: then this is an error.
      HALYARD_HOST_TRY(halyard_queue_fault(handle()));
      lock.lock();
    }
    const halyard_point signal = {state_->semaphore.get(), state_->last + 1};
    halyard_sync sync = {};
    sync.signal = &signal;
    sync.signal_count = 1;
    HALYARD_HOST_TRY(operation(state_->queue.get(), &sync));
    return Future(state_->semaphore, ++state_->last);
  }

  static Status check_sizes(size_t source, size_t target) {
    if (source == target) return {};
    return {HALYARD_INVALID_ARGUMENT, "A copy has a source of " + std::to_string(source) +
                                          " elements and a target of " + std::to_string(target) +
                                          "; they must be equal."};
  }

  Status download_bytes(const Buffer& source, void* target, uint64_t size) {
    if (size == 0) return try_wait();
    internal::BufferHandle staging;
    auto options = internal::with_size<halyard_buffer_options>();
    options.type = HALYARD_MEMORY_HOST;
    HALYARD_HOST_TRY(
        halyard_device_allocate(halyard_queue_device(handle()), size, &options, staging.out()));
    Result<Future> copied =
        submit("Queue::download", [&](halyard_queue* queue, const halyard_sync* sync) {
          return halyard_queue_copy(queue, halyard_whole(source.handle()),
                                    halyard_whole(staging.get()), sync);
        });
    if (!copied.ok()) return copied.status();
    if (Status status = copied->try_wait(); !status.ok()) return status;
    void* bytes = nullptr;
    HALYARD_HOST_TRY(halyard_buffer_map(staging.get(), 0, size, HALYARD_MAP_READ, &bytes));
    std::memcpy(target, bytes, size);
    return Status(halyard_buffer_unmap(staging.get(), bytes));
  }

  std::shared_ptr<State> state_;
};

}  // namespace halyard::host

#endif  // HALYARD_CPP_QUEUE_HPP
