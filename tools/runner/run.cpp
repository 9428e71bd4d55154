#include "tools/runner/run.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "hal/error.h"
#include "tools/runner/arguments.h"

namespace halyard::runner {
namespace {

using values::Tensor;
using values::Value;

// Host memory that results pass through on their way back.
constexpr uint64_t kStagingBytes = uint64_t{64} << 20;
// Between two calls of Run::while_waiting.
constexpr uint64_t kWaitSliceNs = 50'000'000;

// One run's objects. All work goes to one queue, in order, and counts up one semaphore.
class Session {
 public:
  explicit Session(Device& device) : device_(device) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  // An operation does not keep its buffers alive: where preparing stopped half way, the fills that
  // are under way have to end first.
  ~Session() {
    if (!unfinished_) return;
    const SemaphorePoint signal[] = {next()};
    if (queue_->barrier({.wait = {}, .signal = signal}).ok()) wait().ignore();
  }

  Status prepare(const Run& run);
  // Puts the arguments' contents into the buffers, and waits for that.
  Status refill(const Run& run);
  Status dispatch(const Run& run);
  Result<std::vector<Tensor>> results(const Run& run);

 private:
  Status fill(const Ref<Buffer>& buffer, const Value& value);
  Status wait() {
    unfinished_ = false;
    return done_->wait(submitted_);
  }
  Status wait(const std::function<void()>& while_waiting);
  // The signal points of the next operation.
  SemaphorePoint next() { return {done_.get(), ++submitted_}; }

  Device& device_;
  // In the reverse of this order they go: the queue last.
  Ref<Queue> queue_;
  Ref<Semaphore> done_;
  uint64_t submitted_ = 0;
  bool unfinished_ = false;           // operations that nothing has waited for
  std::vector<Ref<Buffer>> buffers_;  // one for each argument; null if it is no buffer
};

Status Session::prepare(const Run& run) {
  HALYARD_ASSIGN_OR_RETURN(queue_, device_.create_queue());
  HALYARD_ASSIGN_OR_RETURN(done_, device_.create_semaphore());
  for (size_t i = 0; i < run.arguments.size(); ++i) {
    const Value& value = run.arguments[i];
    if (value.kind != Value::Kind::kBuffer) {
      buffers_.emplace_back();
      continue;
    }
    // A buffer has at least one byte, also for a tensor without elements.
    auto buffer = device_.allocate(std::max<uint64_t>(value.bytes(), 1));
    Status status = buffer.ok() ? fill(*buffer, value) : buffer.status();
    if (!status.ok()) {
      return status.with_context("Argument " + argument_label(run.function->info(), i));
    }
    buffers_.push_back(std::move(buffer).value());
  }
  return {};
}

Status Session::fill(const Ref<Buffer>& buffer, const Value& value) {
  if (value.bytes() == 0) return {};
  unfinished_ = true;
  switch (value.contents) {
    case Value::Contents::kData:
      return queue_->update(buffer, value.data.data(), value.data.size());
    case Value::Contents::kSplat:
      return queue_->fill(buffer, value.data.data(), static_cast<uint32_t>(value.data.size()));
    case Value::Contents::kZero: {
      const uint8_t zero = 0;
      return queue_->fill(buffer, &zero, sizeof zero);
    }
  }
  return {};
}

Status Session::refill(const Run& run) {
  for (size_t i = 0; i < run.arguments.size(); ++i) {
    if (!buffers_[i]) continue;
    const Status status = fill(buffers_[i], run.arguments[i]);
    if (!status.ok()) {
      return status.with_context("Argument " + argument_label(run.function->info(), i));
    }
  }
  const SemaphorePoint signal[] = {next()};
  HALYARD_RETURN_IF_ERROR(queue_->barrier({.wait = {}, .signal = signal}));
  return wait();
}

Status Session::wait(const std::function<void()>& while_waiting) {
  if (!while_waiting) return wait();
  for (;;) {
    Status status = done_->wait(submitted_, Deadline::after_ns(kWaitSliceNs));
    if (status.code() != StatusCode::kDeadlineExceeded) {
      unfinished_ = false;
      return status;
    }
    while_waiting();
  }
}

Status Session::dispatch(const Run& run) {
  std::vector<Argument> arguments;
  for (size_t i = 0; i < run.arguments.size(); ++i) {
    const Value& value = run.arguments[i];
    const auto size = static_cast<uint32_t>(value.bytes());
    if (run.function->info().arguments[i].kind == ArgumentKind::kDynamicLds) {
      arguments.push_back(Argument::dynamic_lds(size));
    } else if (buffers_[i]) {
      arguments.emplace_back(buffers_[i]);
    } else {
      arguments.push_back(Argument::bytes(value.data.data(), size));
    }
  }
  Dispatch dispatch;
  dispatch.function = run.function;
  dispatch.grid = run.launch.grid;
  dispatch.workgroup = run.launch.workgroup;
  dispatch.dynamic_lds_bytes = run.dynamic_lds_bytes;
  dispatch.arguments = arguments;
  const SemaphorePoint signal[] = {next()};
  HALYARD_RETURN_IF_ERROR(queue_->dispatch(dispatch, {.wait = {}, .signal = signal}));
  // Waited for here, so that a failure is the kernel's own and not that of a copy behind it.
  return wait(run.while_waiting);
}

Result<std::vector<Tensor>> Session::results(const Run& run) {
  uint64_t largest = 1;
  for (const size_t i : run.results) largest = std::max(largest, run.arguments[i].bytes());
  Ref<Buffer> staging;
  if (!run.results.empty()) {
    BufferOptions host;
    host.type = MemoryType::kHost;
    HALYARD_ASSIGN_OR_RETURN(staging, device_.allocate(std::min(largest, kStagingBytes), host));
  }

  std::vector<Tensor> tensors;
  for (const size_t i : run.results) {
    Tensor tensor{run.arguments[i].type, {}};
    tensor.data.resize(tensor.type.bytes());
    for (uint64_t offset = 0; offset < tensor.data.size(); offset += staging->size()) {
      const uint64_t size = std::min(staging->size(), tensor.data.size() - offset);
      const SemaphorePoint signal[] = {next()};
      HALYARD_RETURN_IF_ERROR(queue_->copy(BufferRange(*buffers_[i], offset, size),
                                           BufferRange(*staging, 0, size),
                                           {.wait = {}, .signal = signal}));
      HALYARD_RETURN_IF_ERROR(wait());
      HALYARD_ASSIGN_OR_RETURN(void* const bytes, staging->map(0, size, MapAccess::kRead));
      HALYARD_RETURN_IF_ERROR(staging->invalidate(0, size));
      std::memcpy(tensor.data.data() + offset, bytes, size);
      HALYARD_RETURN_IF_ERROR(staging->unmap(bytes));
    }
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

}  // namespace

Result<Outcome> run(Device& device, const Run& run) {
  using Clock = std::chrono::steady_clock;
  Session session(device);
  HALYARD_RETURN_IF_ERROR(session.prepare(run));
  const uint64_t launches = uint64_t{run.warmup} + run.repeat;
  Outcome outcome;
  for (uint64_t i = 0; i < launches; ++i) {
    // The fills of the first launch are in front of it in the queue; where launches are measured
    // they are not to be part of that.
    if (run.while_waiting) run.while_waiting();
    if (launches > 1) HALYARD_RETURN_IF_ERROR(session.refill(run));
    const Clock::time_point begin = Clock::now();
    HALYARD_RETURN_IF_ERROR(session.dispatch(run));
    if (i < run.warmup) continue;
    outcome.seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
  }
  HALYARD_ASSIGN_OR_RETURN(outcome.results, session.results(run));
  return outcome;
}

}  // namespace halyard::runner
