// The registers of one wave that instructions in flight are about: that they will still write, say.
#pragma once

#include <cstdint>
#include <memory>

#include "vgpu/observe/effects.h"
#include "vgpu/observe/wait_counters.h"

namespace halyard::vgpu::observe {

// An instruction in flight. FLAT and GDS ones may have two tickets; else the second is nothing.
// (Without initial values, so that a wave's table costs nothing until it is filled.)
struct InFlight {
  uint64_t pc;
  Ticket tickets[2];
};

class RegistersInFlight {
 public:
  void add(const RegisterRange& range, const InFlight& by);

  // Calls visit(index, InFlight) for each register of the range that an instruction in flight is
  // still about. (It may change the counters.)
  template <class Visit>
  void for_each(const RegisterRange& range, const WaitCounters& counters, Visit&& visit);

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

inline void RegistersInFlight::add(const RegisterRange& range, const InFlight& by) {
  if (!entries_) entries_ = std::make_unique_for_overwrite<InFlight[]>(kRegisterFiles * kVectors);
  for (unsigned i = range.first; i < unsigned{range.first} + range.count && i < kVectors; ++i) {
    marked_[static_cast<unsigned>(range.file)][i / 64] |= uint64_t{1} << i % 64;
    entries_[place(range.file, i)] = by;
  }
}

template <class Visit>
void RegistersInFlight::for_each(const RegisterRange& range, const WaitCounters& counters,
                                 Visit&& visit) {
  uint64_t* const marked = marked_[static_cast<unsigned>(range.file)];
  for (unsigned i = range.first; i < unsigned{range.first} + range.count && i < kVectors; ++i) {
    uint64_t& word = marked[i / 64];
    const uint64_t bit = uint64_t{1} << i % 64;
    if ((word & bit) == 0) continue;
    const InFlight& entry = entries_[place(range.file, i)];
    if (!counters.outstanding(entry.tickets[0]) && !counters.outstanding(entry.tickets[1])) {
      word &= ~bit;
    } else {
      visit(i, entry);
    }
  }
}

}  // namespace halyard::vgpu::observe
