// The accesses to LDS that a wave has issued and that no wait has proven to be done.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "vgpu/observe/lds_access.h"
#include "vgpu/observe/wait_counters.h"

namespace halyard::vgpu::observe {

// The accesses of one instruction.
struct LdsOperation {
  // Offsets in LDS; the bytes of lanes side by side are one.
  struct Piece {
    uint64_t begin = 0, end = 0;
  };

  // Whether one of the two has to come behind the other: they share bytes, and neither do both read
  // them nor are both atomic.
  bool conflicts(const LdsAccess& access) const;

  uint64_t pc = 0;
  Ticket ticket{};
  LdsUse use = LdsUse::kRead;
  std::vector<Piece> pieces;
};

class LdsInFlight {
 public:
  // An instruction that `wave` is about to execute, if it accesses LDS. An older one than the
  // counter can count has returned.
  void add(const isa::Wave& wave, const isa::Instruction& instruction, Ticket ticket);

  // Removes operations that have returned.
  void settle(const WaitCounters& counters);

  // The oldest first.
  std::span<const LdsOperation> operations() const { return {slots_.data(), count_}; }

 private:
  void make_room(Kind kind);

  std::vector<LdsOperation> slots_;  // more than `count_`: their memory is used again
  size_t count_ = 0;
};

}  // namespace halyard::vgpu::observe
