#include "bindings/mlir/stream.h"

#include "hal/error.h"

namespace halyard::mlir {

void Stream::note_work(std::string unknown) {
  const std::lock_guard lock(mutex_);
  unmarked_ = true;
  if (!unknown.empty()) unknown_ = std::move(unknown);
}

Status Stream::mark_locked() {
  if (!unmarked_) return {};
  const SemaphorePoint point = {semaphore_.get(), marked_ + 1};
  HALYARD_RETURN_IF_ERROR(queue_->barrier({.wait = {}, .signal = {&point, 1}}));
  ++marked_;
  unmarked_ = false;
  return {};
}

Result<StreamPoint> Stream::mark() {
  const std::lock_guard lock(mutex_);
  HALYARD_RETURN_IF_ERROR(mark_locked());
  return StreamPoint{semaphore_, marked_};
}

Status Stream::retire(std::vector<Ref<Buffer>> buffers) {
  const std::lock_guard lock(mutex_);
  HALYARD_RETURN_IF_ERROR(mark_locked());
  if (const auto reached = semaphore_->query(); reached.ok()) drop_retired(*reached);
  for (Ref<Buffer>& buffer : buffers) {
    if (buffer) retired_.emplace_back(marked_, std::move(buffer));
  }
  return {};
}

Status Stream::synchronize() {
  uint64_t value = 0;
  std::string unknown;
  Status outcome;
  {
    const std::lock_guard lock(mutex_);
    unknown = unknown_;
    // A lost device accepts no barriers.
    outcome = mark_locked();
    value = marked_;
  }
  if (outcome.ok() && value != 0) outcome = semaphore_->wait(value);
  if (!outcome.ok()) {
    if (unknown.empty()) return outcome;
    return error(outcome.code(), "{}\n{}", outcome.message(), unknown);
  }
  const std::lock_guard lock(mutex_);
  drop_retired(value);
  if (marked_ == value && !unmarked_) unknown_.clear();
  return {};
}

bool Stream::idle() {
  const std::lock_guard lock(mutex_);
  if (unmarked_) return false;
  if (marked_ == 0) return true;
  const auto reached = semaphore_->query();
  if (!reached.ok() || *reached < marked_) return false;
  drop_retired(*reached);
  return true;
}

void Stream::drop_retired(uint64_t reached) {
  std::erase_if(retired_, [reached](const auto& entry) { return entry.first <= reached; });
}

}  // namespace halyard::mlir
