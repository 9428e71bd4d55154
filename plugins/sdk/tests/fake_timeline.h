// A device of which nothing is called, and a Timeline whose work the test moves forward by hand.
#pragma once

#include <map>

#include "hal/contract/objects.h"
#include "plugins/sdk/timeline.h"

namespace halyard {

// Nothing of it is called; a semaphore keeps it alive.
class NoDevice final : public driver::DeviceBase {
 public:
  NoDevice() : DeviceBase(info_) {}

 private:
  ~NoDevice() = default;
  void destroy() noexcept override { delete this; }
  size_t do_heap_count() const override { return 0; }
  Status do_heap(size_t, HeapInfo*) const override { return {}; }
  Status do_heap_statistics(size_t, HeapStatistics*) const override { return {}; }
  Status do_create_queue(const QueueOptions&, Queue**) override { return {}; }
  Status do_import_queue(void*, Queue**) override { return {}; }
  Status do_allocate(uint64_t, const BufferOptions&, Buffer**) override { return {}; }
  Status do_pool_statistics(MemoryType, PoolStatistics*) const override { return {}; }
  Status do_trim_pool(MemoryType, uint64_t) override { return {}; }
  bool do_can_access(const Device&) const noexcept override { return false; }
  Status do_import_buffer(const ImportOptions&, Buffer**) override { return {}; }
  Status do_export_buffer(Buffer&, ExportedHandle*) override { return {}; }
  Status do_create_semaphore(uint64_t, Semaphore**) override { return {}; }
  Status do_wait(Span<const SemaphorePoint>, WaitMode, Deadline, size_t*) override { return {}; }
  Status do_create_command_buffer(CommandBuffer**) override { return {}; }
  Status do_load_executable(const void*, size_t, Executable**) override { return {}; }
  size_t do_link_count() const override { return 0; }
  Status do_link(size_t, LinkInfo*) const override { return {}; }
  Status do_begin_profile(const ProfileOptions&) override { return {}; }
  Status do_end_profile(ProfileSink, void*) override { return {}; }
  Status do_fault() const override { return {}; }
  Status do_let_in(Buffer&) override { return {}; }

  DeviceInfo info_;
};

class TestTimeline final : public Timeline {
 public:
  TestTimeline(Device& device, uint64_t initial) : Timeline(device, initial) {}

  // Work that the test finishes, or whose queue it loses.
  void submit(uint64_t value) { points_[value] = false; }
  void finish(uint64_t value) { points_[value] = true; }
  void lose(const Status& cause) { lost_ = cause; }
  int notified() const { return notified_; }

  PointState evaluate(uint64_t value) const override {
    settle();
    if (has_reached(value)) return PointState::kReached;
    return has_failed() ? PointState::kFailed : PointState::kPending;
  }
  bool is_coming(uint64_t value) const override {
    const auto found = points_.lower_bound(value);
    return found != points_.end();
  }

 private:
  ~TestTimeline() = default;
  void destroy() noexcept override { delete this; }
  void settle() const override {
    for (const auto& [value, done] : points_) {
      if (done) raise(value);
    }
    if (!lost_.ok()) set_failure(lost_);
  }
  uint64_t least_pending() const override {
    for (const auto& [value, done] : points_) {
      if (!done) return value;
    }
    return UINT64_MAX;
  }
  PointState wait_until(uint64_t value, Deadline) const override { return evaluate(value); }
  void notify() const override { ++notified_; }

  std::map<uint64_t, bool> points_;  // by value: whether it is done
  Status lost_;
  mutable int notified_ = 0;
};

}  // namespace halyard
