#include "vgpu/observe/wait_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "vgpu/isa/target.h"
#include "vgpu/observe/effects.h"
#include "vgpu/observe/lds_access.h"
#include "vgpu/observe/lds_in_flight.h"
#include "vgpu/observe/register_names.h"
#include "vgpu/observe/registers_in_flight.h"
#include "vgpu/observe/wait_counters.h"

namespace halyard::vgpu::observe {
namespace {

using isa::Format;
using isa::Instruction;
using isa::Wave;

constexpr uint64_t kEveryLane = ~uint64_t{0};

bool is_counted(const Instruction& i) {
  switch (i.format) {
    case Format::kSmem:
    case Format::kDs:
    case Format::kFlat:
    case Format::kMubuf:
    case Format::kMtbuf:
      return true;
    case Format::kSopp:
      return role_of(i) == Role::kMessage;
    default:
      return false;
  }
}

bool may_access_lds(const Instruction& i) {
  return i.format == Format::kDs || loads_to_lds(i) ||
         (i.format == Format::kFlat && i.segment == 0) ||
         i.src[0].kind == isa::OperandKind::kLdsDirect;
}

// Whether LDS sees the operations of both kinds in the order in which one wave issues them.
bool one_path_to_lds(Kind a, Kind b) {
  return (a == Kind::kVector) == (b == Kind::kVector);
}

// Whether what an instruction of these kinds returns comes behind what `entry` returns.
bool returns_behind(const Kinds& kinds, const InFlight& entry, const WaitCounters& counters) {
  return kinds.list().size() == 1 && in_order(kinds.list()[0]) &&
         entry.is_only(kinds.list()[0], counters);
}

// An entry of one instruction.
InFlight in_flight(uint64_t pc, uint64_t lanes) {
  return {pc, lanes, {}};
}

bool ignores_exec(const Instruction& i) {
  const isa::Row& row = isa::row_of(i.op);
  return row.has(isa::kIgnoresExec) || row.has(isa::kScalarResult);
}

// The lanes whose vector registers an instruction reads and writes. DPP and DS permutations take
// nothing from lanes that EXEC leaves out.
uint64_t lanes_of(const Wave& wave, const Instruction& instruction) {
  return ignores_exec(instruction) ? kEveryLane : wave.exec();
}

const char* name_of(Counter counter) {
  switch (counter) {
    case Counter::kVm:
      return "vmcnt";
    case Counter::kLgkm:
      return "lgkmcnt";
    case Counter::kExp:
      return "expcnt";
  }
  return "";
}

// "s_waitcnt vmcnt(0) lgkmcnt(0)": the missing wait.
std::string missing_wait(const WaitCounters& counters, const InFlight& entry) {
  std::string text = "s_waitcnt";
  for (const Ticket& ticket : entry.tickets) {
    if (!counters.outstanding(ticket)) continue;
    text += fmt::format(" {}({})", name_of(counter_of(ticket.kind)), counters.enough(ticket));
  }
  return text;
}

// Why only 0 is enough, as the end of a sentence.
const char* why_zero(Kind kind) {
  if (kind == Kind::kScalar) return "; scalar memory returns out of order";
  return in_order(kind) ? "" : "; FLAT instructions return out of order";
}

}  // namespace

class WaitCheck::Group final : public isa::GroupObserver {
 public:
  Group(WaitCheck& check, const isa::WorkGroup& group, const isa::GroupContext& context)
      : check_(check), context_(context), place_(group_text(group)), waves_(group.wave_count) {}

  void before(const Wave& wave, const Instruction& instruction) override {
    State& state = waves_[wave.index_in_group];
    if (instruction.format == Format::kSopp) control(wave, instruction, state);
    const bool counted = is_counted(instruction);
    if (counted || state.counters.any_outstanding() || !unwaited_.empty())
      look_at(wave, instruction, counted ? kinds_of(wave, instruction) : Kinds(), state);
  }
  void after(const Wave&, const Instruction&, uint64_t, isa::Outcome) override {}
  void barrier() override {
    unwaited_ = std::move(arriving_);
    arriving_.clear();
  }

 private:
  struct State {
    WaitCounters counters;
    RegistersInFlight written;  // registers that something will write
    RegistersInFlight locked;   // VGPRs that a GDS instruction has not read yet
    LdsInFlight lds;
  };
  // An access to LDS that a wave has taken over a barrier.
  struct Unwaited {
    uint32_t wave;
    LdsOperation operation;
    std::string missing;  // the wait before the barrier
  };

  void control(const Wave& wave, const Instruction& instruction, State& state);
  void arrive(const Wave& wave, State& state);
  void look_at(const Wave& wave, const Instruction& instruction, const Kinds& kinds, State& state);
  void check_registers(const Wave& wave, const Instruction& instruction, const Effects& effects,
                       const Kinds& kinds, State& state);
  void check_lds(const Wave& wave, const Instruction& instruction, const Kinds& kinds,
                 State& state);
  void issue(const Wave& wave, const Instruction& instruction, const Effects& effects,
             const Kinds& kinds, State& state);

  void report_register(const Wave& wave, const char* use, RegisterFile file, unsigned index,
                       const char* by, const InFlight& entry, const State& state);
  void report_lds(const Wave& wave, const LdsAccess& access, const LdsOperation& operation,
                  const std::string& who, const std::string& missing);
  // "+0x000c (ds_read_b32 v1, v0)"
  std::string at(uint64_t pc) const {
    return fmt::format("{} ({})", offset_text(context_, pc), context_.program->text(pc));
  }
  void report(const Wave& wave, const std::string& what);

  WaitCheck& check_;
  const isa::GroupContext& context_;
  const std::string place_;
  std::vector<State> waves_;
  std::vector<Unwaited> unwaited_;  // since the last barrier
  std::vector<Unwaited> arriving_;  // of the waves that have come to the next one
};

void WaitCheck::Group::control(const Wave& wave, const Instruction& instruction, State& state) {
  switch (role_of(instruction)) {
    case Role::kWait:
    case Role::kEnd:
      state.counters.follow(wave, instruction);
      state.lds.settle(state.counters);
      break;
    case Role::kBarrier:
      arrive(wave, state);
      break;
    default:
      break;
  }
}

void WaitCheck::Group::arrive(const Wave& wave, State& state) {
  if (waves_.size() == 1) return;
  for (const LdsOperation& operation : state.lds.operations()) {
    InFlight entry = in_flight(operation.pc, kEveryLane);
    entry.add(operation.ticket);
    if (state.counters.outstanding(operation.ticket))
      arriving_.push_back({wave.index_in_group, operation, missing_wait(state.counters, entry)});
  }
}

void WaitCheck::Group::look_at(const Wave& wave, const Instruction& instruction, const Kinds& kinds,
                               State& state) {
  if (may_access_lds(instruction)) check_lds(wave, instruction, kinds, state);
  Effects effects;
  find_effects(wave, instruction, effects);
  if (state.counters.any_outstanding()) check_registers(wave, instruction, effects, kinds, state);
  issue(wave, instruction, effects, kinds, state);
}

void WaitCheck::Group::check_registers(const Wave& wave, const Instruction& instruction,
                                       const Effects& effects, const Kinds& kinds, State& state) {
  WaitCounters& counters = state.counters;
  const uint64_t lanes = lanes_of(wave, instruction);
  const auto find = [&](RegistersInFlight& registers, const RegisterRange& range, const char* use,
                        const char* by) {
    const uint64_t touched = range.file == RegisterFile::kScalar ? kEveryLane : lanes;
    registers.for_each(range, touched, counters, [&](unsigned index, const InFlight& entry) {
      if (&registers == &state.written && *use == 'w' && returns_behind(kinds, entry, counters))
        return;
      report_register(wave, use, range.file, index, by, entry, state);
      for (const Ticket& ticket : entry.tickets)
        if (counters.outstanding(ticket)) counters.wait_for(ticket);
    });
  };
  for (const RegisterRange& range : effects.read())
    find(state.written, range, "reads", "is loaded");
  for (const RegisterRange& range : effects.written()) {
    find(state.written, range, "writes", "is loaded");
    find(state.locked, range, "writes", "is read");
  }
}

// LDS operations of one wave are executed in order, those of loads from memory to LDS too, but not
// the ones with the others (LLVM, pull request 142018). Operands in LDS (src_lds_direct) are
// checked against such loads only: no document says how they are ordered with LDS instructions.
void WaitCheck::Group::check_lds(const Wave& wave, const Instruction& instruction,
                                 const Kinds& kinds, State& state) {
  const Kind own = kinds.list().empty() ? Kind::kLds : kinds.list().front();
  const auto other_path = [&](const LdsOperation& operation) {
    return !one_path_to_lds(operation.ticket.kind, own) &&
           state.counters.outstanding(operation.ticket);
  };
  const auto operations = state.lds.operations();
  const bool mixed = std::any_of(operations.begin(), operations.end(), other_path);
  if (!mixed && unwaited_.empty()) return;
  for_each_lds_access(wave, instruction, [&](const LdsAccess& access) {
    for (const LdsOperation& operation : operations) {
      if (!other_path(operation) || !operation.conflicts(access)) continue;
      InFlight entry = in_flight(operation.pc, kEveryLane);
      entry.add(operation.ticket);
      report_lds(wave, access, operation, "its wave",
                 missing_wait(state.counters, entry) + " between");
      state.counters.wait_for(operation.ticket);
    }
    const auto found = std::find_if(unwaited_.begin(), unwaited_.end(), [&](const Unwaited& other) {
      return other.wave != wave.index_in_group && other.operation.conflicts(access);
    });
    if (found == unwaited_.end()) return;
    report_lds(wave, access, found->operation, fmt::format("wave {}", found->wave),
               found->missing + " before the barrier between");
    unwaited_.erase(found);
  });
}

void WaitCheck::Group::issue(const Wave& wave, const Instruction& instruction,
                             const Effects& effects, const Kinds& kinds, State& state) {
  InFlight writing = in_flight(wave.pc, wave.exec());
  bool returns = false;
  for (const Kind kind : kinds.list()) {
    const Ticket ticket = state.counters.issue(kind);
    if (kind == Kind::kExport) {
      // Nothing says that a GDS instruction does not look at inactive lanes' data.
      InFlight reading = in_flight(wave.pc, kEveryLane);
      reading.add(ticket);
      for (const RegisterRange& range : effects.read())
        if (range.file != RegisterFile::kScalar) state.locked.add(range, state.counters, reading);
      continue;
    }
    writing.add(ticket);
    returns = true;
    const bool in_lds = kind == Kind::kLds || kind == Kind::kFlatLds || loads_to_lds(instruction);
    if (in_lds) state.lds.add(wave, instruction, ticket);
  }
  if (!returns) return;
  for (const RegisterRange& range : effects.written()) {
    InFlight entry = writing;
    if (range.file == RegisterFile::kScalar) entry.lanes = kEveryLane;
    state.written.add(range, state.counters, entry);
  }
}

void WaitCheck::Group::report_register(const Wave& wave, const char* use, RegisterFile file,
                                       unsigned index, const char* by, const InFlight& entry,
                                       const State& state) {
  if (!check_.is_new(context_.dispatch->kernel_object, entry.pc, wave.pc)) return;
  report(wave, fmt::format(" {} {}, which {} by {}, without {} between{}", use,
                           register_name(file, index), by, at(entry.pc),
                           missing_wait(state.counters, entry), why_zero(entry.tickets[0].kind)));
}

void WaitCheck::Group::report_lds(const Wave& wave, const LdsAccess& access,
                                  const LdsOperation& operation, const std::string& who,
                                  const std::string& missing) {
  if (!check_.is_new(context_.dispatch->kernel_object, operation.pc, wave.pc)) return;
  report(wave,
         fmt::format(", lane {} {} {} byte{} at LDS offset {}, which {} {} at {}, without {}{}",
                     access.lane, verb(access.use), access.bytes, access.bytes == 1 ? "" : "s",
                     access.offset, who, verb(operation.use), at(operation.pc), missing,
                     why_zero(operation.ticket.kind)));
}

void WaitCheck::Group::report(const Wave& wave, const std::string& what) {
  check_.report_(
      fmt::format("halyard vgpu: check: missing s_waitcnt in {} on {}\n"
                  "  work-group {}, wave {}{}\n"
                  "  pc {}: {}\n",
                  kernel_text(check_.names_, context_.dispatch->kernel_object),
                  context_.target->processor, place_, wave.index_in_group, what,
                  offset_text(context_, wave.pc), context_.program->text(wave.pc)));
}

std::unique_ptr<isa::GroupObserver> WaitCheck::watch(const isa::WorkGroup& group,
                                                     const isa::GroupContext& context) {
  return std::make_unique<Group>(*this, group, context);
}

bool WaitCheck::is_new(uint64_t kernel_object, uint64_t first_pc, uint64_t second_pc) {
  const std::lock_guard lock(mutex_);
  return reported_.emplace(kernel_object, first_pc, second_pc).second;
}

}  // namespace halyard::vgpu::observe
