// Profiler: when operations begin and end.
//
// While it is on, each operation goes between two barrier packets with signals of their own, on
// which the packet processor notes its clock; the runtime converts that to its system clock, and we
// to CLOCK_MONOTONIC. Operations of the host take the time themselves.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "drivers/amdgpu/operation.h"
#include "hal/device.h"

namespace halyard::amdgpu {

// Any thread may use any method.
class Profiler {
 public:
  explicit Profiler(DeviceImpl& device) : device_(device) {}

  Status begin();
  Status end(ProfileSink sink, void* context);
  bool active() const { return active_.load(std::memory_order_acquire); }
  // A queue that is made, or used again: it is timed if the others are.
  void watch(QueueCore& core);

  // Issues the operation between kPackets of its own.
  static constexpr uint32_t kPackets = 4;
  Status issue(QueueCore& core, Operation& operation, const IssueContext& context);
  void add_host(StringView name, uint64_t begin_ns, uint64_t end_ns);

 private:
  struct Event {
    std::string name;
    QueueCore* core = nullptr;  // null: begin_ns and end_ns are known
    uint64_t last = 0;          // its last packet's index
    hsa_signal_t begin = {};
    hsa_signal_t end = {};
    uint64_t begin_ns = 0;
    uint64_t end_ns = 0;
  };

  void set_timed(QueueCore& core, bool on);
  uint64_t noted_ns(hsa_signal_t signal) const;

  DeviceImpl& device_;
  std::atomic<bool> active_{false};
  std::mutex mutex_;
  std::vector<Event> events_;      // under mutex_
  std::vector<QueueCore*> timed_;  // under mutex_: queues whose packets are timed
  double ns_per_tick_ = 1;         // of the runtime's clock
  int64_t offset_ns_ = 0;          // to CLOCK_MONOTONIC
};

}  // namespace halyard::amdgpu
