// Watching instructions as they are executed: traces, counts and checks (vgpu/observe) stand on it.
//
// An engine without observers pays nothing: it is at decoding that an instruction's handler is
// replaced by one that tells the observers and calls the real one.
#pragma once

#include <cstdint>
#include <memory>

#include "vgpu/isa/wave.h"

namespace halyard::vgpu::isa {

struct DispatchResult;
struct GroupContext;
struct WorkGroup;

// Sees one work-group from its start to its end. One thread at a time calls it, in the order in
// which the work-group's instructions are executed. Destroyed when the group has ended or was
// stopped.
class GroupObserver {
 public:
  virtual ~GroupObserver() = default;

  // Before an instruction: wave.pc is its address, the registers hold its operands.
  virtual void before(const Wave& wave, const Instruction& instruction) = 0;
  // Behind it; `pc` is its address, wave.pc may be that of the next one already.
  virtual void after(const Wave& wave, const Instruction& instruction, uint64_t pc,
                     Outcome outcome) = 0;
  // Every wave has reached the barrier, and all continue.
  virtual void barrier() = 0;
  // Schedule::until is reached: the wave's last instruction was the last one of that order.
  virtual void order_ends(const Wave& /*wave*/) {}
};

// Sees the dispatches of one engine. Any thread.
class Observer {
 public:
  virtual ~Observer() = default;

  // Around all work-groups of a dispatch. `context` lives until end() returns.
  virtual void begin(const GroupContext& context) = 0;
  virtual void end(const GroupContext& context, const DispatchResult& result) = 0;
  // The observer of a work-group that is about to start, or null.
  virtual std::unique_ptr<GroupObserver> watch(const WorkGroup& group,
                                               const GroupContext& context) = 0;
};

// Has the observers of the wave's work-group see `instruction`. Called once for each decoded one.
void observe(Instruction& instruction);

}  // namespace halyard::vgpu::isa
