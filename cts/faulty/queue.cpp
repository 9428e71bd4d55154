#include "queue.h"

#include <cmath>
#include <cstring>
#include <memory>
#include <utility>

#include "command_buffer.h"

namespace faulty {

using namespace halyard;

Sync FaultyQueue::spoil(const Sync& sync) const {
  Sync spoilt = sync;
  if (fault_ == Fault::kLostSignal) spoilt.signal = {};
  if (fault_ == Fault::kHalfSignal && sync.signal.size() > 1) {
    spoilt.signal = {sync.signal.data(), 1};
  }
  if (fault_ == Fault::kIgnoredWait) spoilt.wait = {};
  if (fault_ == Fault::kEarlySignal) {
    for (const SemaphorePoint& point : sync.signal) point.semaphore->signal(point.value).ignore();
    spoilt.signal = {};
  }
  return spoilt;
}

Status FaultyQueue::do_fill(const BufferRange& target, const void* pattern, uint32_t pattern_size,
                            const Sync& sync) {
  BufferRange to = target;
  if (fault_ == Fault::kOffByOneFill) to.length -= pattern_size;
  if (fault_ == Fault::kShortPattern && pattern_size == 16) pattern_size = 8;
  return inner_->fill(to, pattern, pattern_size, spoil(sync));
}

Status FaultyQueue::do_copy(const BufferRange& source, const BufferRange& target,
                            const Sync& sync) {
  BufferRange from = source;
  BufferRange to = target;
  if (fault_ == Fault::kShortCopy && from.length % 2 == 1) to.length = --from.length;
  if (fault_ == Fault::kCopyOffset && from.buffer != to.buffer) from.offset = 0;
  if (fault_ == Fault::kCopyOffset && from.buffer == to.buffer)
    to.offset -= 1, from.length -= 1, to.length -= 1;
  return inner_->copy(from, to, spoil(sync));
}

// The values of the launch before, with this one's buffers.
Status FaultyQueue::dispatch_stale(const Dispatch& dispatch, const Sync& sync) {
  std::vector<Argument> arguments(dispatch.arguments.begin(), dispatch.arguments.end());
  const std::lock_guard lock(mutex_);
  std::vector<Argument>& last = last_arguments_[dispatch.function];
  const std::vector<Argument> now = arguments;
  for (size_t i = 0; i < last.size(); ++i) {
    if (arguments[i].kind == Argument::Kind::kValue && arguments[i].value == nullptr) {
      arguments[i] = last[i];
    }
  }
  last = now;
  Dispatch stale = dispatch;
  stale.arguments = arguments;
  return inner_->dispatch(stale, sync);
}

namespace {

// The roots among the results of the suite's kernel float64, on their way through host memory.
struct RoughRoots {
  Ref<Buffer> results;

  static Status spoil(void* context) {
    const std::unique_ptr<RoughRoots> own(static_cast<RoughRoots*>(context));
    constexpr uint64_t kResults = 8;  // of each work-item, of which the root is the fifth
    constexpr uint64_t kRoot = 4;
    constexpr int kUlps = 4;
    Buffer& results = *own->results;
    HALYARD_ASSIGN_OR_RETURN(void* const place,
                             results.map(0, results.size(), MapAccess::kReadWrite));
    auto* const numbers = static_cast<double*>(place);
    for (uint64_t i = kRoot; i < results.size() / sizeof(double); i += kResults) {
      for (int k = 0; k < kUlps; ++k) numbers[i] = std::nextafter(numbers[i], HUGE_VAL);
    }
    return results.unmap(place);
  }
};

}  // namespace

Status FaultyQueue::dispatch_roughly(const Dispatch& dispatch, const Sync& sync) {
  const BufferRange out = dispatch.arguments[2].range;
  HALYARD_ASSIGN_OR_RETURN(Ref<Buffer> staging,
                           owner_->allocate(out.buffer->size(), {.type = MemoryType::kHost}));
  HALYARD_RETURN_IF_ERROR(inner_->dispatch(dispatch, {.wait = sync.wait, .signal = {}}));
  HALYARD_RETURN_IF_ERROR(inner_->copy(*out.buffer, *staging));
  auto roots = std::make_unique<RoughRoots>(RoughRoots{staging});
  HALYARD_RETURN_IF_ERROR(inner_->host_call(&RoughRoots::spoil, roots.get()));
  roots.release();  // NOLINT(bugprone-unused-return-value): the call deletes it
  return inner_->copy(*staging, *out.buffer, {.wait = {}, .signal = sync.signal});
}

Status FaultyQueue::do_dispatch(const Dispatch& dispatch, const Sync& sync) {
  const Sync spoilt = spoil(sync);
  if (fault_ == Fault::kStaleKernarg) return dispatch_stale(dispatch, spoilt);
  if (fault_ == Fault::kRoughRoots && dispatch.function->info().name.view() == "float64") {
    return dispatch_roughly(dispatch, sync);
  }
  Dispatch changed = dispatch;
  if (fault_ == Fault::kSwappedDimensions) {
    std::swap(changed.grid.x, changed.grid.y);
    std::swap(changed.workgroup.x, changed.workgroup.y);
  }
  if (fault_ == Fault::kLostLds) changed.dynamic_lds_bytes = 0;
  return inner_->dispatch(changed, spoilt);
}

Status FaultyQueue::do_execute(CommandBuffer& commands, Span<const BufferRange> bindings,
                               const Sync& sync) {
  auto& recording = static_cast<FaultyCommandBuffer&>(commands);
  if (fault_ != Fault::kStaleBindings) {
    return inner_->execute(recording.inner(), bindings, spoil(sync));
  }
  if (recording.first_bindings.empty()) {
    for (const BufferRange& binding : bindings) {
      recording.first_bindings.push_back(binding);
      recording.first_buffers.push_back(Ref<Buffer>::retain(binding.buffer));
    }
  }
  return inner_->execute(recording.inner(), recording.first_bindings, sync);
}

Status FaultyQueue::do_read(const FileRange& source, const BufferRange& target, const Sync& sync) {
  FileRange from = source;
  if (fault_ == Fault::kFileOffset) from.offset = 0;
  return inner_->read(from, target, spoil(sync));
}
namespace {

// Of a host call that is over when run() returns.
class Outcome final : public driver::CompletionBase {
 public:
  void do_complete(const Status& outcome) noexcept override { status = outcome; }
  Status status;
};

}  // namespace

Status FaultyQueue::do_host_call(const HostCall& call, const Sync& sync) {
  if (fault_ == Fault::kEagerHostCall && call.deferred == nullptr) {
    Outcome outcome;
    call.run(outcome);
    HALYARD_RETURN_IF_ERROR(outcome.status);
    return inner_->barrier(sync);
  }
  return inner_->host_call(call, spoil(sync));
}

}  // namespace faulty
