// Profiler: when operations begin and end.
//
// While it is on, each operation goes between two barrier packets with signals of their own, on
// which the packet processor notes its clock; the runtime converts that to its system clock, and we
// to CLOCK_MONOTONIC. The packets of a recorded command buffer may overlap, so each has a signal of
// its own instead. Operations of the host take the time themselves.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "drivers/amdgpu/operation.h"
#include "drivers/common/operation_facts.h"
#include "hal/device.h"

namespace halyard::amdgpu {

class Program;

// Any thread may use any method.
class Profiler {
 public:
  explicit Profiler(DeviceImpl& device) : device_(device) {}

  // `kinds` has a profile_bit() for each kind of operation that is timed, at least one.
  Status begin(uint64_t kinds);
  Status end(ProfileSink sink, void* context);
  bool active() const { return kinds_.load(std::memory_order_acquire) != 0; }
  bool wants(ProfileKind kind) const {
    return (kinds_.load(std::memory_order_acquire) & profile_bit(kind)) != 0;
  }
  // A queue that is made, or used again: it is timed if the others are.
  void watch(QueueCore& core);

  // Issues the operation between kPackets of its own.
  static constexpr uint32_t kPackets = 4;
  Status issue(QueueCore& core, Operation& operation, const IssueContext& context);
  void add_host(const OperationFacts& facts, const QueueCore& core, uint64_t begin_ns,
                uint64_t end_ns);

  // One signal for each packet of an execution, on which it notes its times; none (its handle is 0)
  // for what is not timed. Empty if nothing is.
  Status take_signals(const Program& program, std::vector<hsa_signal_t>* signals);
  // Nothing was queued.
  void give_signals(const std::vector<hsa_signal_t>& signals);
  // The execution is in the ring, and packet `last` of the ring its last.
  void add_execution(QueueCore& core, uint64_t last, const Program& program,
                     const std::vector<hsa_signal_t>& signals);

 private:
  struct Span {
    uint64_t begin_ns = 0;
    uint64_t end_ns = 0;
  };
  struct Event {
    ProfileNote note;
    QueueCore* core = nullptr;  // null: the host's, with its times known
    uint64_t last = 0;          // its last packet's index
    // Of the two marks, or of a recorded command's packets.
    std::vector<hsa_signal_t> signals;
    bool recorded = false;
    Span span;
  };

  void set_timed(QueueCore& core, bool on);
  Span noted(hsa_signal_t signal) const;
  Span span_of(const Event& event) const;

  DeviceImpl& device_;
  std::atomic<uint64_t> kinds_{0};  // 0: no profile is being taken
  std::atomic<uint64_t> next_execution_{1};
  std::mutex mutex_;
  std::vector<Event> events_;      // under mutex_
  std::vector<QueueCore*> timed_;  // under mutex_: queues whose packets are timed
  double ns_per_tick_ = 1;         // of the runtime's clock
  int64_t offset_ns_ = 0;          // to CLOCK_MONOTONIC
};

}  // namespace halyard::amdgpu
