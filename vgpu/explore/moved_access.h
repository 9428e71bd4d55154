// Names the two instructions whose order makes the difference between two schedules.
//
// `halyard vgpu explore` finds the number T of instructions for which "SCHEDULE,until:T" and
// "SCHEDULE,until:T-1" give different results. In the run with T, the last instruction of that
// order comes before instructions of other waves that come before it in the run with T-1. It
// changed places with the first of these that uses the same bytes, unless both only read.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/isa/observer.h"
#include "vgpu/observe/kernel_names.h"

namespace halyard::vgpu::explore {

// What an instruction does with memory.
struct Access {
  // A part of the bytes: of memory by its address, of LDS by its offset.
  struct Line {
    uint64_t begin = 0;
    uint64_t mask = 0;  // bit n: byte n behind `begin`
  };
  bool is_lds = false;
  bool writes = false;
  const char* verb = "reads";  // "writes", "updates"
  std::vector<Line> lines;

  bool is_none() const { return lines.empty(); }
  // The first byte that both use, if one of the two writes.
  std::optional<uint64_t> conflict(const Access& other) const;
};

// Of an instruction that is about to be executed. Private memory is left out.
void read_access(const isa::Wave& wave, const isa::Instruction& instruction, Access& access);

class MovedAccess final : public isa::Observer {
 public:
  // `report` gets one block of text, at most once, on any thread.
  using Report = std::function<void(std::string_view)>;
  MovedAccess(observe::KernelNames names, Report report)
      : names_(std::move(names)), report_(std::move(report)) {}

  void begin(const isa::GroupContext&) override {}
  void end(const isa::GroupContext& context, const isa::DispatchResult& result) override;
  std::unique_ptr<isa::GroupObserver> watch(const isa::WorkGroup& group,
                                            const isa::GroupContext& context) override;

 private:
  class Group;
  struct Place {
    const isa::GroupContext* dispatch = nullptr;
    std::array<uint32_t, 3> group = {};
    uint32_t wave = 0;
    Access access;
    bool is_behind_barrier = false;  // the waves of its work-group are, since
    std::string text;  // "work-group (0, 0, 0), wave 1 at +0x0010: global_load_dword …"
  };

  void order_ends(Place place);
  // Whether later accesses are to be looked at.
  bool is_looking(const isa::GroupContext& dispatch);
  void look_at(const isa::GroupContext& dispatch, const isa::WorkGroup& group,
               const isa::Wave& wave, uint64_t pc, const Access& access);
  void barrier(const isa::GroupContext& dispatch, const isa::WorkGroup& group);

  observe::KernelNames names_;
  Report report_;
  std::mutex mutex_;
  bool is_told_ = false;
  std::optional<Place> moved_;
};

}  // namespace halyard::vgpu::explore
