// Finds places that lack an s_waitcnt, or whose s_waitcnt waits for too little, by the rules of
// wait_counters.h:
//
//   - a register that a load will still write is read, or written (unless by another instruction of
//     the same kind: those return in order);
//   - a VGPR that a GDS instruction may still have to read is written;
//   - LDS: an access that its wave has not waited for when it comes to a barrier, and that another
//     wave's access behind the barrier conflicts with;
//   - LDS and loads from memory to LDS in one wave: what conflicts and is not ordered by a wait.
//
// Each pair of instructions of a kernel is reported once. The wave then goes on as if the wait had
// been there, so that one missing wait is one report.
//
// An LDS operation of another wave may be behind the barrier in time and yet come first: the LDS
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
