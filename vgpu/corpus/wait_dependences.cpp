#include "vgpu/corpus/wait_dependences.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "vgpu/isa/engine.h"
#include "vgpu/isa/memory.h"
#include "vgpu/isa/tests/machine.h"
#include "vgpu/isa/work_group.h"

namespace halyard::vgpu::corpus {
namespace {

using isa::Wave;

constexpr uint64_t kEveryLane = ~uint64_t{0};

// ---- What an instruction is, by its text.

// How it is counted.
enum class Path : uint8_t {
  kNone,
  kVector,  // vmcnt, in order
  kFlat,    // vmcnt and lgkmcnt, in no order with anything
  kScalar,  // lgkmcnt, in no order
  kLds,     // lgkmcnt, in order
};

bool has(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

Path path_of(const LlvmOperands& o) {
  const std::string& n = o.name;
  if (n.starts_with("buffer_wbinvl1")) return Path::kNone;
  if (n.starts_with("buffer_") || n.starts_with("tbuffer_") || n.starts_with("global_") ||
      n.starts_with("scratch_"))
    return Path::kVector;
  if (n.starts_with("flat_")) return Path::kFlat;
  if (n.starts_with("ds_")) return n == "ds_nop" ? Path::kNone : Path::kLds;
  const bool scalar_memory = n.starts_with("s_load") || n.starts_with("s_buffer_") ||
                             n.starts_with("s_store") || n.starts_with("s_scratch_") ||
                             n.starts_with("s_atomic") || n.starts_with("s_dcache") ||
                             n == "s_memtime" || n == "s_memrealtime";
  return scalar_memory ? Path::kScalar : Path::kNone;
}

// Instructions that read or write lanes which EXEC leaves out. (DPP and DS permutations take
// nothing from such lanes: "Vega" 13.3.8, 12.13.)
bool ignores_exec(const LlvmOperands& o) {
  const std::string& n = o.name;
  return n.starts_with("v_readlane") || n.starts_with("v_readfirstlane") ||
         n.starts_with("v_writelane") || n.starts_with("v_mfma") || n.starts_with("v_smfmac") ||
         n.starts_with("v_permlane");
}

// "offset:16" and the like; 0 without it.
int64_t number_behind(const std::string& text, const char* name) {
  const size_t at = text.find(name);
  return at == std::string::npos ? 0
                                 : std::strtoll(text.c_str() + at + std::strlen(name), nullptr, 0);
}

enum class Access : uint8_t { kNone, kRead, kWrite, kAtomic };

Access access_of(const std::string& name) {
  if (has(name, "_load") || has(name, "_read")) return Access::kRead;
  if (has(name, "_store") || has(name, "_write")) return Access::kWrite;
  if (has(name, "permute") || has(name, "swizzle") || has(name, "_wb") || has(name, "_inv"))
    return Access::kNone;
  return Access::kAtomic;
}

unsigned bytes_of(const std::string& name) {
  struct Size {
    const char* end;
    unsigned bytes;
  };
  constexpr Size kSizes[] = {{"x4", 16},   {"x3", 12},       {"x2", 8},     {"b128", 16},
                             {"b96", 12},  {"64", 8},        {"byte", 1},   {"byte_d16", 1},
                             {"short", 2}, {"short_d16", 2}, {"d16_hi", 2}, {"u8", 1},
                             {"i8", 1},    {"b8", 1},        {"u16", 2},    {"i16", 2},
                             {"b16", 2},   {"u8_d16", 1},    {"u16_d16", 2}};
  for (const Size& one : kSizes)
    if (name.ends_with(one.end)) return one.bytes;
  return 4;
}

struct Piece {
  uint64_t begin = 0, end = 0;
};

// ---- What a wave has done.

struct Place {
  std::vector<Piece> lds, memory;
  Access access = Access::kNone;
};

struct Event {
  uint64_t pc = 0;
  uint64_t exec = 0;
  const LlvmOperands* operands = nullptr;
  Path path = Path::kNone;
  uint32_t of_path = 0;    // number among those of its path that return in order
  uint64_t lds_lanes = 0;  // of a FLAT instruction: those whose address is in LDS
  uint32_t barriers = 0;   // that its wave has passed
  Place place;
};

struct Wait {
  uint64_t pc = 0;
  WaitFields fields;
  size_t event = 0;     // that comes behind it
  uint32_t vector = 0;  // counted before it, of the paths that return in order
  uint32_t lds = 0;
};

// Whether the wait says that what `event` does on one path is done: of the operations behind it
// that return in order with it, as many as may be left are enough. Without an order none may.
bool says(const WaitFields& fields, const Wait& wait, const Event& event, Path path, bool in_lds) {
  switch (path) {
    case Path::kVector:
      return fields.vm < WaitFields::kMost[0] && fields.vm <= wait.vector - event.of_path;
    case Path::kFlat:
      return in_lds ? fields.lgkm == 0 : fields.vm == 0;
    case Path::kScalar:
      return fields.lgkm == 0;
    case Path::kLds:
      return fields.lgkm < WaitFields::kMost[2] && fields.lgkm <= wait.lds - event.of_path;
    case Path::kNone:
      break;
  }
  return true;
}

// What will be written into a register.
struct Pending {
  size_t event = 0;
  uint64_t lanes = 0;
};

struct WaveHistory {
  std::vector<Event> events;
  std::vector<Wait> waits;
  std::vector<size_t> arrivals;  // the number of events before each barrier
  uint32_t vector = 0, lds = 0;
  std::map<uint32_t, std::vector<Pending>> pending;  // by file and number
};

// The first wait behind an event.
std::vector<Wait>::const_iterator behind(const WaveHistory& history, size_t event) {
  return std::upper_bound(history.waits.begin(), history.waits.end(), event,
                          [](size_t n, const Wait& wait) { return n < wait.event; });
}

bool overlap(const std::vector<Piece>& a, const std::vector<Piece>& b) {
  return std::any_of(a.begin(), a.end(), [&](const Piece& x) {
    return std::any_of(b.begin(), b.end(),
                       [&](const Piece& y) { return x.begin < y.end && y.begin < x.end; });
  });
}

bool conflict(Access a, Access b) {
  if (a == Access::kNone || b == Access::kNone) return false;
  return a != b || a == Access::kWrite;
}

}  // namespace

WaitFields WaitFields::decode(uint16_t i) {
  return {(i & 15u) | (i >> 14 & 3u) << 4, i >> 4 & 7u, i >> 8 & 15u};
}
uint16_t WaitFields::encode() const {
  return static_cast<uint16_t>((vm & 15) | exp << 4 | lgkm << 8 | (vm >> 4) << 14);
}
std::string WaitFields::text() const {
  std::string all;
  const auto add = [&](const char* name, unsigned value, unsigned most) {
    if (value < most)
      all += std::string(all.empty() ? "" : " ") + name + "(" + std::to_string(value) + ")";
  };
  add("vmcnt", vm, kMost[0]);
  add("expcnt", exp, kMost[1]);
  add("lgkmcnt", lgkm, kMost[2]);
  return all.empty() ? "nothing" : all;
}

class WaitDependences::Group final : public isa::GroupObserver {
 public:
  Group(WaitDependences& owner, uint32_t waves) : owner_(owner), waves_(waves) {}
  ~Group() override { look_across_barriers(); }

  void before(const Wave& wave, const isa::Instruction&) override;
  void after(const Wave&, const isa::Instruction&, uint64_t, isa::Outcome) override {}
  void barrier() override {
    for (WaveHistory& history : waves_) history.arrivals.push_back(history.events.size());
    ++barriers_;
  }

 private:
  void wait(WaveHistory& history, uint64_t pc, const LlvmOperands& operands);
  void find_places(const Wave& wave, Event& event);
  void use(WaveHistory& history, const Event& event, const OperandRegister& one, uint64_t lanes,
           bool writes);
  void need(const WaveHistory& history, const Event& first, size_t first_event, size_t until,
            Path path, bool in_lds, Loss loss, const std::string& what);
  void look_across_barriers();
  void compare(size_t a, size_t b);
  static std::vector<size_t> accesses(const WaveHistory& history);
  static bool covered_twice(const WaveHistory& history, size_t event);

  WaitDependences& owner_;
  std::vector<WaveHistory> waves_;
  uint32_t barriers_ = 0;
};

void WaitDependences::Group::wait(WaveHistory& history, uint64_t pc, const LlvmOperands& operands) {
  // LLVM leaves a counter out of which all may be left.
  WaitFields fields;
  const auto read = [&](const char* name, unsigned& field) {
    if (has(operands.text, name)) field = static_cast<unsigned>(number_behind(operands.text, name));
  };
  read("vmcnt(", fields.vm);
  read("expcnt(", fields.exp);
  read("lgkmcnt(", fields.lgkm);
  history.waits.push_back({pc, fields, history.events.size(), history.vector, history.lds});
  owner_.executed_.insert(pc);
}

// The bytes that each active lane accesses, in LDS and in global memory.
void WaitDependences::Group::find_places(const Wave& wave, Event& event) {
  const LlvmOperands& o = *event.operands;
  event.place.access = access_of(o.name);
  if (event.place.access == Access::kNone) return;
  const unsigned bytes = bytes_of(o.name);
  const auto vgpr = [&](unsigned n, unsigned lane) { return wave.vgpr[n].lane[lane]; };
  // The address comes first in the text, but for loads and what else returns something.
  const bool returns = !o.writes.empty() && o.writes[0].file != OperandRegister::File::kScalar;
  const auto address = [&]() -> std::optional<unsigned> {
    const size_t at = returns ? 1 : 0;
    if (at >= o.operands.size()) return std::nullopt;
    return o.operands[at].number;
  };
  for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
    if ((event.exec >> lane & 1) == 0) continue;
    const auto add = [](std::vector<Piece>& pieces, uint64_t begin, uint64_t count) {
      if (!pieces.empty() && pieces.back().end == begin)
        pieces.back().end += count;
      else
        pieces.push_back({begin, begin + count});
    };
    if (event.path == Path::kLds) {
      if (!address()) continue;  // ds_append and others that M0 addresses
      const uint64_t base = vgpr(*address(), lane);
      const bool two = has(o.name, "read2") || has(o.name, "write2") || has(o.name, "wrxchg2");
      if (!two) {
        add(event.place.lds, base + static_cast<uint64_t>(number_behind(o.text, "offset:")), bytes);
        continue;
      }
      const uint64_t step = bytes * (has(o.name, "st64") ? 64u : 1u);
      for (const char* const name : {"offset0:", "offset1:"})
        add(event.place.lds, base + step * static_cast<uint64_t>(number_behind(o.text, name)),
            bytes);
    } else if (o.name.starts_with("flat_") || o.name.starts_with("global_")) {
      if (!address()) continue;
      const auto offset = static_cast<uint64_t>(number_behind(o.text, "offset:"));
      uint64_t base = vgpr(*address(), lane);
      const auto scalar =
          std::find_if(o.reads.begin(), o.reads.end(), [](const OperandRegister& r) {
            return r.file == OperandRegister::File::kScalar && (r.number < 102 || r.number == 106);
          });
      if (o.name.starts_with("global_") && scalar != o.reads.end())
        base += wave.scalar64(scalar->number);
      else
        base |= uint64_t{vgpr(*address() + 1, lane)} << 32;
      base += offset;
      const uint64_t shared = wave.apertures[0], private_base = wave.apertures[2];
      if (event.path == Path::kFlat && base >> 32 == shared >> 32) {
        event.lds_lanes |= uint64_t{1} << lane;
        add(event.place.lds, base & 0xffffffff, bytes);
      } else if (event.path != Path::kFlat || base >> 32 != private_base >> 32) {
        add(event.place.memory, base, bytes);
      }
    }
  }
}

void WaitDependences::Group::before(const Wave& wave, const isa::Instruction&) {
  WaveHistory& history = waves_[wave.index_in_group];
  const LlvmOperands& operands = owner_.operands_at(wave.pc);
  if (operands.name == "s_waitcnt") return wait(history, wave.pc, operands);
  Event event;
  event.pc = wave.pc;
  event.exec = wave.exec();
  event.operands = &operands;
  event.path = path_of(operands);
  event.barriers = barriers_;
  const bool scalar_alu = operands.name.starts_with("s_");
  // With no active lane an instruction of vectors does nothing to memory and registers.
  if (event.path != Path::kNone && (scalar_alu || event.exec != 0)) find_places(wave, event);

  const uint64_t lanes = ignores_exec(operands) ? kEveryLane : event.exec;
  const unsigned shift =
      wave.gpr_indexing && operands.name.starts_with("v_") ? wave.m0() & 0xff : 0;
  const unsigned indexed = wave.gpr_indexing ? wave.m0() >> 12 & 15 : 0;
  const auto moved = [&](OperandRegister one, unsigned bit) {
    if (one.file == OperandRegister::File::kVector && (indexed >> bit & 1) != 0)
      one.number = static_cast<uint16_t>(one.number + shift);
    return one;
  };
  unsigned source = 0;
  for (const OperandRegister& one : operands.reads) {
    const bool vector = one.file != OperandRegister::File::kScalar;
    use(history, event, moved(one, source), vector ? lanes : kEveryLane, false);
    if (vector) ++source;
  }
  for (const OperandRegister& one : operands.writes)
    use(history, event, moved(one, 3),
        one.file != OperandRegister::File::kScalar ? lanes : kEveryLane, true);

  if (event.path == Path::kVector) event.of_path = ++history.vector;
  if (event.path == Path::kLds) event.of_path = ++history.lds;
  const size_t number = history.events.size();
  if (event.path != Path::kNone) {
    for (const OperandRegister& one : operands.writes) {
      const uint64_t written = one.file != OperandRegister::File::kScalar ? event.exec : kEveryLane;
      if (written == 0) continue;
      auto& pending = history.pending[static_cast<uint32_t>(one.file) << 16 | one.number];
      pending.push_back({number, written});
    }
  }
  history.events.push_back(std::move(event));
}

// The first that reads or writes what is in flight to a register is the strictest: each wait before
// it is also one before those behind it.
void WaitDependences::Group::use(WaveHistory& history, const Event& event,
                                 const OperandRegister& one, uint64_t lanes, bool writes) {
  const auto found = history.pending.find(static_cast<uint32_t>(one.file) << 16 | one.number);
  if (found == history.pending.end()) return;
  for (Pending& pending : found->second) {
    const uint64_t both = pending.lanes & lanes;
    if (both == 0) continue;
    pending.lanes &= ~both;
    const Event& first = history.events[pending.event];
    // One that returns behind it may write the register too.
    const bool in_order = first.path == Path::kVector || first.path == Path::kLds;
    if (writes && in_order && event.path == first.path) continue;
    const char file = one.file == OperandRegister::File::kScalar   ? 's'
                      : one.file == OperandRegister::File::kVector ? 'v'
                                                                   : 'a';
    const std::string what = event.operands->text + (writes ? " writes " : " reads ") + file +
                             std::to_string(one.number) + ", which " + first.operands->text +
                             " will write";
    const uint64_t in_lds = both & first.lds_lanes, in_memory = both & ~first.lds_lanes;
    if (first.path != Path::kFlat || in_memory != 0)
      need(history, first, pending.event, history.events.size(), first.path, false,
           Loss::kRegisters, what);
    if (first.path == Path::kFlat && in_lds != 0)
      need(history, first, pending.event, history.events.size(), first.path, true, Loss::kRegisters,
           what);
  }
  std::erase_if(found->second, [](const Pending& pending) { return pending.lanes == 0; });
}

// Something needs that `first` is done before the event number `until`.
void WaitDependences::Group::need(const WaveHistory& history, const Event& first,
                                  size_t first_event, size_t until, Path path, bool in_lds,
                                  Loss loss, const std::string& what) {
  std::set<uint64_t> sites;
  std::vector<const Wait*> between;
  for (auto wait = behind(history, first_event);
       wait != history.waits.end() && wait->event <= until; ++wait) {
    between.push_back(&*wait);
    if (says(wait->fields, *wait, first, path, in_lds)) sites.insert(wait->pc);
  }
  if (sites.empty()) {
    if (owner_.uncovered_.size() < 10 && loss != Loss::kMemory) owner_.uncovered_.push_back(what);
    return;
  }
  if (sites.size() > 1) return;  // no single one is needed
  const auto mutants = owner_.by_site_.find(*sites.begin());
  if (mutants == owner_.by_site_.end()) return;
  for (const size_t mutant : mutants->second) {
    if (owner_.losses_[mutant] >= loss) continue;
    const WaitFields& fields = owner_.mutants_[mutant].fields;
    const bool still = std::any_of(between.begin(), between.end(), [&](const Wait* wait) {
      return wait->pc == *sites.begin() && says(fields, *wait, first, path, in_lds);
    });
    if (!still) owner_.found(mutant, loss, what);
  }
}

// Two waves' accesses to the same bytes, with a barrier between: the first wave has to have waited
// before it comes to the last barrier between them. (Without a barrier no wait orders them.)
void WaitDependences::Group::look_across_barriers() {
  if (waves_.size() < 2 || barriers_ == 0) return;
  for (size_t a = 0; a < waves_.size(); ++a)
    for (size_t b = 0; b < waves_.size(); ++b)
      if (a != b) compare(a, b);
}

void WaitDependences::Group::compare(size_t a, size_t b) {
  const WaveHistory &one = waves_[a], &other = waves_[b];
  const std::vector<size_t> theirs = accesses(other);
  for (const size_t x : accesses(one)) {
    const Event& first = one.events[x];
    if (first.barriers >= one.arrivals.size() || covered_twice(one, x)) continue;
    // The earliest conflict of each kind is the strictest.
    bool lds = !first.place.lds.empty(), memory = !first.place.memory.empty();
    for (const size_t y : theirs) {
      const Event& second = other.events[y];
      if (second.barriers <= first.barriers) continue;
      if (!lds && !memory) break;
      if (!conflict(first.place.access, second.place.access)) continue;
      const auto look = [&](bool& open, const std::vector<Piece>& mine,
                            const std::vector<Piece>& others, bool in_lds, Loss loss) {
        if (!open || !overlap(mine, others)) return;
        open = false;
        need(one, first, x, one.arrivals[second.barriers - 1], first.path, in_lds, loss,
             second.operands->text + " of another wave comes behind " + first.operands->text +
                 " and a barrier");
      };
      look(lds, first.place.lds, second.place.lds, true, Loss::kLds);
      look(memory, first.place.memory, second.place.memory, false, Loss::kMemory);
    }
  }
}

std::vector<size_t> WaitDependences::Group::accesses(const WaveHistory& history) {
  std::vector<size_t> found;
  for (size_t n = 0; n < history.events.size(); ++n) {
    const Place& place = history.events[n].place;
    if (!place.lds.empty() || !place.memory.empty()) found.push_back(n);
  }
  return found;
}

// Waits of two places cover it before the next barrier: no single one is needed.
bool WaitDependences::Group::covered_twice(const WaveHistory& history, size_t event) {
  const Event& first = history.events[event];
  const size_t until = history.arrivals[first.barriers];
  std::set<uint64_t> in_lds, in_memory;
  for (auto wait = behind(history, event); wait != history.waits.end() && wait->event <= until;
       ++wait) {
    if (says(wait->fields, *wait, first, first.path, true)) in_lds.insert(wait->pc);
    if (says(wait->fields, *wait, first, first.path, false)) in_memory.insert(wait->pc);
  }
  return (first.place.lds.empty() || in_lds.size() > 1) &&
         (first.place.memory.empty() || in_memory.size() > 1);
}

void WaitDependences::set_mutants(std::vector<Mutant> mutants) {
  mutants_ = std::move(mutants);
  by_site_.clear();
  for (size_t n = 0; n < mutants_.size(); ++n) by_site_[mutants_[n].pc].push_back(n);
  losses_.assign(mutants_.size(), Loss::kNone);
  examples_.assign(mutants_.size(), "");
}

void WaitDependences::found(size_t mutant, Loss loss, const std::string& need) {
  losses_[mutant] = loss;
  examples_[mutant] = need;
}

const LlvmOperands& WaitDependences::operands_at(uint64_t pc) {
  const auto known = known_.find(pc);
  if (known != known_.end()) return known->second;
  // CodeObject puts code where its GPU address is the host's; its segments end with s_code_end or
  // padding, longer than an instruction.
  constexpr size_t kMostBytes = 16;  // a matrix instruction behind its scales
  const auto* const bytes = reinterpret_cast<const uint8_t*>(pc);
  return known_.emplace(pc, reader_.read(std::span(bytes, kMostBytes), pc)).first->second;
}

std::unique_ptr<isa::GroupObserver> WaitDependences::watch(const isa::WorkGroup& group,
                                                           const isa::GroupContext&) {
  return std::make_unique<Group>(*this, group.wave_count);
}

}  // namespace halyard::vgpu::corpus
