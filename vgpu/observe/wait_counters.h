// The counters that s_waitcnt waits for, as far as a program can rely on them: what a wait proves.
//
// The rules are those of the ISA documents ("Vega", "Vega 7nm", "MI100", "MI200"), 4.4 "Data
// Dependency Resolution", 7.3 "Dependency Checking" (SMEM) and 9.2 (FLAT; 10.2 in the later ones):
//
//   - vmcnt counts memory instructions of vectors, loads and stores alike; they return in the order
//     in which they were issued.
//   - lgkmcnt counts LDS, GDS, scalar memory and messages. Those of one kind return in order, of
//     different kinds in any; scalar memory returns in any order, so that only 0 says anything.
//   - A FLAT instruction counts in both. It is executed as one of memory and one of LDS, and
//   returns
//     in no order with anything: only 0 says anything.
//   - expcnt counts GDS instructions whose VGPRs have not been read yet.
//
// So a wait for n proves that an instruction of an ordered kind has returned if n or more of its
// kind were issued after it; if it had not, they would not have either, which makes more than n.
// (LLVM's SIInsertWaitcnts is stricter where kinds are mixed, and says that it need not be.)
// The data of a vector store is no matter of a counter on gfx9: the documents' expcnt is for GDS,
// and LLVM (vmemWriteNeedsExpWaitcnt) wants it on older processors only.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "vgpu/isa/wait_counts.h"
#include "vgpu/isa/wave.h"

namespace halyard::vgpu::observe {

enum class Counter : uint8_t { kVm, kLgkm, kExp };

// What s_waitcnt waits for.
struct WaitCounts {
  static constexpr unsigned kMost[] = {isa::WaitCounts::kMostVm, isa::WaitCounts::kMostLgkm,
                                       isa::WaitCounts::kMostExp};  // by Counter

  static WaitCounts decode(uint16_t simm16) {
    const auto counts = isa::WaitCounts::decode(simm16);
    return {{counts.vm, counts.lgkm, counts.exp}};
  }
  static WaitCounts nothing_left() { return {{0, 0, 0}}; }
  unsigned of(Counter counter) const { return count[static_cast<unsigned>(counter)]; }

  unsigned count[3];
};

// Kinds of instructions that share a counter. An instruction may be of two: FLAT of kFlatMemory and
// kFlatLds, GDS of kGds and kExport.
enum class Kind : uint8_t {
  kVector,      // MUBUF, MTBUF, and FLAT's global and scratch forms
  kFlatMemory,  // FLAT proper
  kLds,
  kFlatLds,
  kGds,
  kScalar,
  kMessage,
  kExport,
};
inline constexpr unsigned kKinds = 8;

constexpr Counter counter_of(Kind kind) {
  if (kind == Kind::kVector || kind == Kind::kFlatMemory) return Counter::kVm;
  return kind == Kind::kExport ? Counter::kExp : Counter::kLgkm;
}

// Whether instructions of the kind return in the order in which they were issued.
constexpr bool in_order(Kind kind) {
  return kind != Kind::kFlatMemory && kind != Kind::kFlatLds && kind != Kind::kScalar;
}

// The kinds of one instruction.
class Kinds {
 public:
  void add(Kind kind) { kinds_[count_++] = kind; }
  std::span<const Kind> list() const& { return {kinds_, count_}; }
  std::span<const Kind> list() const&& = delete;  // it points into this

 private:
  Kind kinds_[2] = {};
  uint8_t count_ = 0;
};

// Of an instruction that `wave` is about to execute; none if no counter counts it. A FLAT
// instruction is of kFlatMemory if a lane's address is in memory, of kFlatLds if one is in LDS: the
// counter that belongs to where the data comes from is the one that tells when it has come. (ROCR's
// copy kernels rely on that: their FLAT loads, of memory only, wait for vmcnt alone.)
Kinds kinds_of(const isa::Wave& wave, const isa::Instruction& instruction);

// Something that was issued: the number-th of its kind, counted from 1. Ticket{} is nothing.
struct Ticket {
  Kind kind;
  uint32_t number;
};

// One wave's.
class WaitCounters {
 public:
  // What an instruction that `wave` is about to execute does: waits, or is issued. For observers
  // that want the state of the counters and no tickets.
  void follow(const isa::Wave& wave, const isa::Instruction& instruction);

  // `stores`: to memory, and counted by vmcnt.
  Ticket issue(Kind kind, bool stores = false);

  void wait(const WaitCounts& counts);
  // As if the wait that this one needs had been there.
  void wait_for(Ticket ticket);

  bool any_outstanding() const { return open_ != 0; }
  bool outstanding(Ticket ticket) const { return ticket.number > at(ticket.kind).returned; }

  // The highest count that proves that it has returned.
  unsigned enough(Ticket ticket) const;

  // How many stores to memory (atomics included) no wait has proven to be done yet. At most as many
  // as vmcnt can count.
  unsigned outstanding_stores() const;

 private:
  struct Issued {
    uint32_t issued = 0;    // the number of the last one
    uint32_t returned = 0;  // all up to this one are proven to have returned
  };
  // The numbers of the last stores of a kind.
  struct Stores {
    static constexpr unsigned kKept = WaitCounts::kMost[0];
    std::array<uint32_t, kKept> number{};
    unsigned next = 0;
  };

  const Issued& at(Kind kind) const { return kinds_[static_cast<unsigned>(kind)]; }
  void returned(Kind kind, uint32_t number);

  Issued kinds_[kKinds];
  Stores stores_[2];   // of kVector, of kFlatMemory
  uint32_t open_ = 0;  // a bit for each kind that has any outstanding
};

}  // namespace halyard::vgpu::observe
