// Finds places where an s_waitcnt is missing or waits for too little, by the rules of
// wait_counters.h:
//
//   - a read, or a write, of a register that a load will still write, in lanes that it writes (a
//     write by another instruction of the same kind is legal, because those return in order);
//   - a write of a VGPR that a GDS instruction may still have to read;
//   - LDS: an access that its wave has not waited for before a barrier, and that conflicts with
//     another wave's access after the barrier;
//   - LDS and loads from memory to LDS in one wave: conflicting accesses that no wait orders.
//
// Each pair of instructions of a kernel is reported once. The wave then continues as if it had
// waited, so that one missing wait is one report.
//
// An LDS operation of another wave can be issued after the barrier and still come first: the LDS
// has several request queues (LLVM, AMDGPUUsage, memory model of gfx6 to gfx9).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "vgpu/observe/kernel_names.h"

namespace halyard::vgpu::observe {

class WaitCheck final : public isa::Observer {
 public:
  // Gets each finding as one block of text. Called on any thread.
  using Report = std::function<void(std::string_view)>;

  WaitCheck(KernelNames names, Report report)
      : names_(std::move(names)), report_(std::move(report)) {}

  void begin(const isa::GroupContext&) override {}
  void end(const isa::GroupContext&, const isa::DispatchResult&) override {}
  std::unique_ptr<isa::GroupObserver> watch(const isa::WorkGroup& group,
                                            const isa::GroupContext& context) override;

 private:
  class Group;

  // False if this pair was reported before.
  bool is_new(uint64_t kernel_object, uint64_t first_pc, uint64_t second_pc);

  KernelNames names_;
  Report report_;
  std::mutex mutex_;
  std::set<std::tuple<uint64_t, uint64_t, uint64_t>> reported_;
};

}  // namespace halyard::vgpu::observe
