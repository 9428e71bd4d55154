#include "vgpu/observe/wait_counters.h"

#include <algorithm>
#include <bit>

#include "vgpu/observe/effects.h"
#include "vgpu/observe/lds_access.h"

namespace halyard::vgpu::observe {
namespace {

using isa::Format;

Kinds kinds_of_flat(const isa::Wave& wave, const isa::Instruction& instruction) {
  int in_lds = 0;
  for_each_lds_access(wave, instruction, [&](const LdsAccess&) { ++in_lds; });
  Kinds kinds;
  // Without an active lane it returns nothing, whichever it is.
  if (in_lds == 0 || in_lds < std::popcount(wave.exec())) kinds.add(Kind::kFlatMemory);
  if (in_lds != 0) kinds.add(Kind::kFlatLds);
  return kinds;
}

bool stores(const isa::Instruction& instruction) {
  const Role role = role_of(instruction);
  return role == Role::kStore || role == Role::kAtomic;
}

}  // namespace

Kinds kinds_of(const isa::Wave& wave, const isa::Instruction& instruction) {
  Kinds kinds;
  if (instruction.op == isa::Op::none) return kinds;
  switch (instruction.format) {
    case Format::kSmem:
      kinds.add(Kind::kScalar);
      break;
    case Format::kDs:
      if (role_of(instruction) == Role::kNone) break;
      kinds.add(instruction.gds ? Kind::kGds : Kind::kLds);
      if (instruction.gds) kinds.add(Kind::kExport);
      break;
    case Format::kFlat:
      if (instruction.segment == 0) return kinds_of_flat(wave, instruction);
      kinds.add(Kind::kVector);
      break;
    case Format::kMubuf:
    case Format::kMtbuf:
      // LLVM does not count invalidations of the L1 either, because no code waits for them.
      if (role_of(instruction) != Role::kCacheInvalidate) kinds.add(Kind::kVector);
      break;
    case Format::kSopp:
      if (role_of(instruction) == Role::kMessage) kinds.add(Kind::kMessage);
      break;
    default:
      break;
  }
  return kinds;
}

void WaitCounters::follow(const isa::Wave& wave, const isa::Instruction& instruction) {
  if (instruction.format == Format::kSopp) {
    const Role role = role_of(instruction);
    if (role == Role::kWait) wait(WaitCounts::decode(static_cast<uint16_t>(instruction.offset)));
    // The hardware waits for everything before it ends a wave (Vega ISA 12.5, S_ENDPGM), but not
    // at a barrier.
    if (role == Role::kEnd) wait(WaitCounts::nothing_left());
  }
  const Kinds kinds = kinds_of(wave, instruction);
  for (const Kind kind : kinds.list()) issue(kind, stores(instruction));
}

Ticket WaitCounters::issue(Kind kind, bool stores) {
  const auto index = static_cast<unsigned>(kind);
  const uint32_t number = ++kinds_[index].issued;
  open_ |= 1u << index;
  if (stores && counter_of(kind) == Counter::kVm) {
    Stores& of_kind = stores_[kind == Kind::kVector ? 0 : 1];
    of_kind.number[of_kind.next] = number;
    of_kind.next = (of_kind.next + 1) % Stores::kKept;
  }
  return {kind, number};
}

void WaitCounters::returned(Kind kind, uint32_t number) {
  const auto index = static_cast<unsigned>(kind);
  Issued& of_kind = kinds_[index];
  of_kind.returned = std::max(of_kind.returned, number);
  if (of_kind.returned == of_kind.issued) open_ &= ~(1u << index);
}

void WaitCounters::wait(const WaitCounts& counts) {
  if (open_ == 0) return;
  for (unsigned index = 0; index < kKinds; ++index) {
    const auto kind = static_cast<Kind>(index);
    const unsigned left = counts.of(counter_of(kind));
    if (left == WaitCounts::kMost[static_cast<unsigned>(counter_of(kind))]) continue;
    const uint32_t issued = kinds_[index].issued;
    if (in_order(kind)) {
      if (issued > left) returned(kind, issued - left);
    } else if (left == 0) {
      returned(kind, issued);
    }
  }
}

void WaitCounters::wait_for(Ticket ticket) {
  WaitCounts counts{{WaitCounts::kMost[0], WaitCounts::kMost[1], WaitCounts::kMost[2]}};
  counts.count[static_cast<unsigned>(counter_of(ticket.kind))] = enough(ticket);
  wait(counts);
}

unsigned WaitCounters::enough(Ticket ticket) const {
  if (!in_order(ticket.kind)) return 0;
  const unsigned most = WaitCounts::kMost[static_cast<unsigned>(counter_of(ticket.kind))];
  return std::min(at(ticket.kind).issued - ticket.number, most - 1);
}

unsigned WaitCounters::outstanding_stores() const {
  unsigned count = 0;
  for (const Kind kind : {Kind::kVector, Kind::kFlatMemory}) {
    for (const uint32_t number : stores_[kind == Kind::kVector ? 0 : 1].number)
      count += outstanding({kind, number}) ? 1 : 0;
  }
  return std::min(count, WaitCounts::kMost[0]);
}

}  // namespace halyard::vgpu::observe
