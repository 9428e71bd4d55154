// What the host gets of the GPUs' work: digests of what copies and kernels leave in its memory.
//
// `halyard vgpu explore` compares them between schedules, so they depend on no address, no clock
// and no order of queues. A copy's digest is of its bytes. A dispatch's is of the bytes that its
// stores and atomics have touched, as they are when it ends, by their places in their allocations.
// Signals, time stamps and other packets' writes are none of it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "vgpu/isa/observer.h"
#include "vgpu/observe/kernel_names.h"

namespace halyard::vgpu::explore {

// An allocation, by the host's addresses.
struct HostRange {
  uint64_t begin = 0;
  uint64_t end = 0;
  bool contains(uint64_t address) const { return address - begin < end - begin; }
};

class HostData final : public isa::Observer {
 public:
  // The allocation of the host's memory that has an address of the host's; empty if none has. Any
  // thread.
  using Find = std::function<HostRange(uint64_t address)>;
  // Gets a line for each copy and dispatch: what it is, a tab, and its digest. Any thread.
  using Report = std::function<void(std::string_view line)>;
  HostData(observe::KernelNames names, Find find, Report report)
      : names_(std::move(names)), find_(std::move(find)), report_(std::move(report)) {}

  void begin(const isa::GroupContext&) override {}
  void end(const isa::GroupContext& context, const isa::DispatchResult& result) override;
  std::unique_ptr<isa::GroupObserver> watch(const isa::WorkGroup& group,
                                            const isa::GroupContext& context) override;

  // A copy has written `bytes` from `to` on, which is an address of the host's.
  void copied(uint64_t to, uint64_t bytes) const;

 private:
  class Group;
  using Lines = std::unordered_map<uint64_t, uint64_t>;  // the bytes of lines, one bit each

  observe::KernelNames names_;
  Find find_;
  Report report_;
  std::mutex mutex_;
  std::unordered_map<const isa::GroupContext*, Lines> stored_;  // by dispatch, so far
};

}  // namespace halyard::vgpu::explore
