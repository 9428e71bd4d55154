// The registers of one wave that instructions in flight are about: that they will still write, say.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>

#include "vgpu/observe/effects.h"
#include "vgpu/observe/wait_counters.h"

namespace halyard::vgpu::observe {

// An instruction in flight, and older ones about other lanes of the same register. FLAT and GDS
// ones have two tickets; what is not used is nothing. (Without initial values, so that a wave's
// table costs nothing until it is filled.)
struct InFlight {
  // Kinds that may be in flight to one vector register: vectors, LDS, GDS, both of FLAT.
  static constexpr unsigned kTickets = 5;

  uint64_t pc;
  uint64_t lanes;  // of a vector register, those that it is about; of a scalar, all
  Ticket tickets[kTickets];

  void add(Ticket ticket);
  bool is_over(const WaitCounters& counters) const;
  // What comes back last, if it is of this kind and nothing of another one is outstanding.
  bool is_only(Kind kind, const WaitCounters& counters) const;
};

class RegistersInFlight {
 public:
  void add(const RegisterRange& range, const WaitCounters& counters, const InFlight& by);

  // Calls visit(index, InFlight) for each register of the range that an instruction in flight is
  // still about in one of `lanes`. (It may change the counters.)
  template <class Visit>
  void for_each(const RegisterRange& range, uint64_t lanes, const WaitCounters& counters,
                Visit&& visit);

 private:
  static constexpr unsigned kVectors = 256;
  static constexpr unsigned kWords = kVectors / 64;

  static unsigned place(RegisterFile file, unsigned index) {
    return static_cast<unsigned>(file) * kVectors + index;
  }

  // A bit for each register that has an entry, which may have returned since.
  uint64_t marked_[kRegisterFiles][kWords] = {};
  std::unique_ptr<InFlight[]> entries_;  // by place(); made when it is needed
};

// Of one kind the newest counts: it comes back no earlier than the others, or only a wait for all
// says anything.
inline void InFlight::add(Ticket ticket) {
  for (Ticket& one : tickets) {
    if (one.number != 0 && one.kind != ticket.kind) continue;
    one = ticket;
    return;
  }
}

inline bool InFlight::is_over(const WaitCounters& counters) const {
  return std::none_of(std::begin(tickets), std::end(tickets),
                      [&](Ticket one) { return counters.outstanding(one); });
}

inline bool InFlight::is_only(Kind kind, const WaitCounters& counters) const {
  return std::none_of(std::begin(tickets), std::end(tickets),
                      [&](Ticket one) { return one.kind != kind && counters.outstanding(one); });
}

inline void RegistersInFlight::add(const RegisterRange& range, const WaitCounters& counters,
                                   const InFlight& by) {
  if (!entries_) entries_ = std::make_unique_for_overwrite<InFlight[]>(kRegisterFiles * kVectors);
  for (unsigned i = range.first; i < unsigned{range.first} + range.count && i < kVectors; ++i) {
    uint64_t& word = marked_[static_cast<unsigned>(range.file)][i / 64];
    const uint64_t bit = uint64_t{1} << i % 64;
    InFlight& entry = entries_[place(range.file, i)];
    const bool joins = (word & bit) != 0 && !entry.is_over(counters);
    const InFlight older = joins ? entry : by;
    word |= bit;
    entry = by;
    entry.lanes |= older.lanes;
    // Those of `by` come first, and are the newer ones of their kinds.
    for (const Ticket one : older.tickets) {
      const bool newer =
          std::any_of(std::begin(by.tickets), std::end(by.tickets),
                      [&](Ticket mine) { return mine.number != 0 && mine.kind == one.kind; });
      if (!newer && counters.outstanding(one)) entry.add(one);
    }
  }
}

template <class Visit>
void RegistersInFlight::for_each(const RegisterRange& range, uint64_t lanes,
                                 const WaitCounters& counters, Visit&& visit) {
  uint64_t* const marked = marked_[static_cast<unsigned>(range.file)];
  for (unsigned i = range.first; i < unsigned{range.first} + range.count && i < kVectors; ++i) {
    uint64_t& word = marked[i / 64];
    const uint64_t bit = uint64_t{1} << i % 64;
    if ((word & bit) == 0) continue;
    const InFlight& entry = entries_[place(range.file, i)];
    if (entry.is_over(counters)) {
      word &= ~bit;
    } else if ((entry.lanes & lanes) != 0) {
      visit(i, entry);
    }
  }
}

}  // namespace halyard::vgpu::observe
