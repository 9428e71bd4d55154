// Profiler: when operations begin and end.
//
// While it is on, each operation goes between two barrier packets with signals of their own, on
// which the packet processor notes its clock; the runtime converts that to its system clock, and we
// to CLOCK_MONOTONIC. The packets of a recorded command buffer may overlap, so each has a signal of
// its own instead.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "drivers/amdgpu/operation.h"
#include "plugins/sdk/device_clock.h"
#include "plugins/sdk/profile_recorder.h"

namespace halyard::amdgpu {

class Program;

struct PacketMarks {
  QueueCore* core = nullptr;
  uint64_t last = 0;  // its last packet's index
  // Of the two barriers, or of a recorded command's packets.
  std::vector<hsa_signal_t> signals;
  bool recorded = false;
};

// Any thread may use any method.
class Profiler final : public ProfileRecorder<PacketMarks> {
 public:
  explicit Profiler(DeviceImpl& device) : device_(device) {}

  // A queue that is made, or used again: it is timed if the others are.
  void watch(QueueCore& core);

  // Issues the operation between kPackets of its own.
  static constexpr uint32_t kPackets = 4;
  Status issue(QueueCore& core, Operation& operation, const IssueContext& context);

  // One signal for each packet of an execution, on which it notes its times; none (its handle is 0)
  // for what is not timed. Empty if nothing is.
  Status take_signals(const Program& program, std::vector<hsa_signal_t>* signals);
  // Nothing was queued.
  void give_signals(const std::vector<hsa_signal_t>& signals);
  // The execution is in the ring, and packet `last` of the ring its last.
  void add_execution(QueueCore& core, uint64_t last, const Program& program,
                     const std::vector<hsa_signal_t>& signals);

 private:
  void begun() override;
  void ended() override;
  void wait_for_work() override;
  Status read(std::vector<Event>* events) override;
  void set_timed(QueueCore& core, bool on);
  TimeSpan noted(const SystemClock& clock, hsa_signal_t signal) const;
  TimeSpan span_of(const SystemClock& clock, const PacketMarks& marks) const;

  DeviceImpl& device_;
  std::mutex mutex_;
  std::vector<QueueCore*> timed_;  // under mutex_: queues whose packets are timed
};

}  // namespace halyard::amdgpu
