#include "tools/runner/run.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "hal/error.h"
#include "hal/text.h"
#include "tools/runner/arguments.h"

namespace halyard::runner {
namespace {

using values::Tensor;
using values::Value;

// Host memory that results pass through on their way back.
constexpr uint64_t kStagingBytes = uint64_t{64} << 20;
// Between two calls of Run::while_waiting.
constexpr uint64_t kWaitSliceNs = 50'000'000;

uint64_t now_ns() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();  // CLOCK_MONOTONIC
  return static_cast<uint64_t>(std::chrono::nanoseconds(since).count());
}

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
  // Puts their contents into the buffers, and waits for that.
  Status refill(const Run& run);
  // Submits all steps and waits for the last one. `done`: for Run::while_waiting.
  Status launch(const Run& run, uint64_t done);
  Result<std::vector<Tensor>> results(const Run& run);
  std::vector<HostSpan> take_spans() { return std::move(spans_); }

 private:
  Status fill(const Ref<Buffer>& buffer, const Value& value);
  Status wait() {
    unfinished_ = false;
    return done_->wait(submitted_);
  }
  Status make_buffers(const Run& run);
  Status refill_buffers(const Run& run);
  Status launch_steps(const Run& run, uint64_t done);
  Status copy_results(const Run& run, std::vector<Tensor>& tensors);
  Status submit(const Step& step, Span<const SemaphorePoint> signal);
  Status wait(const Run& run, uint64_t done);
  // Calls `what`, and writes down when that was.
  template <typename What>
  Status timed(std::string name, What what, uint64_t queue = 0) {
    const uint64_t begin = now_ns();
    Status status = what();
    spans_.push_back({std::move(name), begin, now_ns(), queue});
    return status;
  }
  // The signal points of the next operation.
  SemaphorePoint next() { return {done_.get(), ++submitted_}; }

  Device& device_;
  // In the reverse of this order they go: the queue last.
  Ref<Queue> queue_;
  Ref<Semaphore> done_;
  uint64_t submitted_ = 0;
  bool unfinished_ = false;           // operations that nothing has waited for
  std::vector<Ref<Buffer>> buffers_;  // as Run::buffers
  std::vector<HostSpan> spans_;
};

Status Session::prepare(const Run& run) {
  return timed("make buffers", [&] { return make_buffers(run); });
}

Status Session::make_buffers(const Run& run) {
  HALYARD_ASSIGN_OR_RETURN(queue_, device_.create_queue());
  HALYARD_ASSIGN_OR_RETURN(done_, device_.create_semaphore());
  for (const RunBuffer& one : run.buffers) {
    // A buffer has at least one byte, also for a tensor without elements.
    auto buffer = device_.allocate(std::max<uint64_t>(one.value.bytes(), 1));
    Status status = buffer.ok() ? fill(*buffer, one.value) : buffer.status();
    if (!status.ok()) return status.with_context("The buffer " + one.label);
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
  return timed("fill buffers", [&] { return refill_buffers(run); });
}

Status Session::refill_buffers(const Run& run) {
  for (size_t i = 0; i < run.buffers.size(); ++i) {
    const Status status = fill(buffers_[i], run.buffers[i].value);
    if (!status.ok()) return status.with_context("The buffer " + run.buffers[i].label);
  }
  const SemaphorePoint signal[] = {next()};
  HALYARD_RETURN_IF_ERROR(queue_->barrier({.wait = {}, .signal = signal}));
  return wait();
}

Status Session::wait(const Run& run, uint64_t done) {
  if (!run.while_waiting) return wait();
  for (;;) {
    Status status = done_->wait(submitted_, Deadline::after_ns(kWaitSliceNs));
    if (status.code() != StatusCode::kDeadlineExceeded) {
      unfinished_ = false;
      return status;
    }
    run.while_waiting(done);
  }
}

Status Session::submit(const Step& step, Span<const SemaphorePoint> signal) {
  const FunctionInfo& info = step.function->info();
  std::vector<Argument> arguments;
  std::vector<std::vector<std::byte>> bytes(step.arguments.size());  // with addresses
  for (size_t i = 0; i < step.arguments.size(); ++i) bytes[i] = step.arguments[i].data;
  for (const StepPointer& pointer : step.pointers) {
    const uint64_t address = buffers_[pointer.buffer]->device_address() + pointer.offset;
    std::memcpy(bytes[pointer.argument].data() + pointer.at, &address, sizeof address);
  }
  for (size_t i = 0; i < step.arguments.size(); ++i) {
    const Value& value = step.arguments[i];
    if (step.buffers[i]) {
      arguments.emplace_back(buffers_[*step.buffers[i]]);
      continue;
    }
    if (value.kind == Value::Kind::kNull) {
      arguments.push_back(Argument::address(0));
      continue;
    }
    const auto size = static_cast<uint32_t>(value.bytes());
    if (info.arguments[i].kind == ArgumentKind::kDynamicLds) {
      arguments.push_back(Argument::dynamic_lds(size));
    } else {
      arguments.push_back(Argument::bytes(bytes[i].data(), size));
    }
  }
  for (const StepPointer& pointer : step.pointers) {
    arguments.push_back(Argument::uses(*buffers_[pointer.buffer]));
  }
  Dispatch dispatch;
  dispatch.function = step.function;
  dispatch.grid = step.launch.grid;
  dispatch.workgroup = step.launch.workgroup;
  dispatch.dynamic_lds_bytes = step.dynamic_lds_bytes;
  dispatch.arguments = arguments;
  return timed(
      "submit " + std::string(short_name(info.name)),
      [&] { return queue_->dispatch(dispatch, {.wait = {}, .signal = signal}); }, queue_->id());
}

Status Session::launch(const Run& run, uint64_t done) {
  const bool warms_up = done < run.warmup;
  const std::string name = (warms_up ? "warm-up " : "launch ") +
                           std::to_string(warms_up ? done + 1 : done - run.warmup + 1);
  return timed(name, [&] { return launch_steps(run, done); });
}

Status Session::launch_steps(const Run& run, uint64_t done) {
  unfinished_ = true;
  for (size_t i = 0; i < run.steps.size(); ++i) {
    const bool is_last = i + 1 == run.steps.size();
    const SemaphorePoint point = is_last ? next() : SemaphorePoint();
    const Span<const SemaphorePoint> signal(&point, is_last ? 1 : 0);
    HALYARD_RETURN_IF_ERROR(submit(run.steps[i], signal));
  }
  // Waited for here, so that a failure is the kernels' own and not that of a copy behind them.
  return timed("wait", [&] { return wait(run, done); });
}

Result<std::vector<Tensor>> Session::results(const Run& run) {
  std::vector<Tensor> tensors;
  HALYARD_RETURN_IF_ERROR(timed("copy results", [&] { return copy_results(run, tensors); }));
  return tensors;
}

Status Session::copy_results(const Run& run, std::vector<Tensor>& tensors) {
  uint64_t largest = 1;
  for (const size_t i : run.results) largest = std::max(largest, run.buffers[i].value.bytes());
  Ref<Buffer> staging;
  if (!run.results.empty()) {
    BufferOptions host;
    host.type = MemoryType::kHost;
    HALYARD_ASSIGN_OR_RETURN(staging, device_.allocate(std::min(largest, kStagingBytes), host));
  }

  for (const size_t i : run.results) {
    Tensor tensor{run.buffers[i].value.type, {}};
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
  return {};
}

}  // namespace

Run run_of(Step step) {
  Run run;
  const FunctionInfo& info = step.function->info();
  step.buffers.resize(step.arguments.size());
  for (size_t i = 0; i < step.arguments.size(); ++i) {
    if (step.arguments[i].kind != Value::Kind::kBuffer) continue;
    step.buffers[i] = run.buffers.size();
    run.buffers.push_back({argument_label(info, i), std::move(step.arguments[i])});
  }
  run.steps.push_back(std::move(step));
  return run;
}

Result<Outcome> run(Device& device, const Run& run) {
  using Clock = std::chrono::steady_clock;
  Session session(device);
  HALYARD_RETURN_IF_ERROR(session.prepare(run));
  const uint64_t times = uint64_t{run.warmup} + run.repeat;
  Outcome outcome;
  for (uint64_t i = 0; i < times; ++i) {
    // The fills of the first time are in front of it in the queue; where launches are measured they
    // are not to be part of that.
    if (run.while_waiting) run.while_waiting(i);
    if (times > 1) HALYARD_RETURN_IF_ERROR(session.refill(run));
    const Clock::time_point begin = Clock::now();
    HALYARD_RETURN_IF_ERROR(session.launch(run, i));
    if (i < run.warmup) continue;
    outcome.seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
  }
  HALYARD_ASSIGN_OR_RETURN(outcome.results, session.results(run));
  outcome.host = session.take_spans();
  return outcome;
}

}  // namespace halyard::runner
