#include "vgpu/races/race_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "vgpu/host_guard.h"
#include "vgpu/isa/buffer_resource.h"
#include "vgpu/isa/program.h"
#include "vgpu/isa/target.h"
#include "vgpu/observe/effects.h"
#include "vgpu/observe/lds_access.h"
#include "vgpu/races/waves.h"

namespace halyard::vgpu::races {
namespace {

using coherence::Effect;
using coherence::LineAccess;
using coherence::Use;
using isa::Instruction;
using isa::Wave;

constexpr uint64_t kAllBytes = ~uint64_t{0};
constexpr unsigned kLineBytes = 64;
constexpr unsigned kDwords = 16;

const char* participle(Use use) {
  switch (use) {
    case Use::kLoad:
      return "read";
    case Use::kStore:
      return "written";
    case Use::kAtomic:
      return "updated";
  }
  return "used";
}

const char* text_of(Conflict conflict) {
  switch (conflict) {
    case Conflict::kEqual:
      return "note: equal values in global memory without an order";
    case Conflict::kMixed:
      return "note: atomic and plain accesses in global memory without an order";
    default:
      return "race in global memory";
  }
}

// Whether the encoding of a load or store says that it is an atomic one (LLVM, AMDGPUUsage, memory
// models of gfx6 to gfx9, gfx90a and gfx942). On gfx9 loads of agent scope have GLC, nontemporal
// ones SLC too, and stores are all alike; scope bits (SC0, SC1) are those of loads and stores.
bool is_marked(const Instruction& instruction, const isa::Target& target, const Effect& effect) {
  if (effect.kind != Effect::Kind::kVector || effect.use == Use::kAtomic) return false;
  if (target.scope_bits) return instruction.glc || instruction.sc1;
  return effect.use == Use::kLoad && instruction.glc && !instruction.slc;
}

using Bytes64 = std::array<uint8_t, kLineBytes>;

// Private memory: a work-group gets what an earlier one has left.
bool is_private(const Wave& wave, const Instruction& instruction) {
  const bool is_buffer =
      instruction.format == isa::Format::kMubuf || instruction.format == isa::Format::kMtbuf;
  return is_buffer && isa::BufferResource::read(wave, instruction.src[1]).is_private_segment();
}

// The bytes in which two lines differ.
uint64_t differences(const Bytes64& before, const Bytes64& after) {
  if (before == after) return 0;
  uint64_t mask = 0;
  for (unsigned n = 0; n < kLineBytes; ++n) mask |= uint64_t{before[n] != after[n]} << n;
  return mask;
}

// Of the bytes of a cell: a line's, a dword's, or one.
uint32_t hash_of(const Bytes64& line, uint64_t cell) {
  constexpr uint64_t kFactor = 0x9e3779b97f4a7c15;
  uint64_t hash = 0;
  uint64_t words[kLineBytes / 8];
  if (cell == kAllBytes) {
    std::memcpy(words, line.data(), kLineBytes);
    for (const uint64_t word : words) hash = (hash ^ word) * kFactor ^ hash >> 29;
  } else {
    const auto first = static_cast<size_t>(std::countr_zero(cell));
    const auto count = static_cast<size_t>(std::popcount(cell));
    std::memcpy(words, line.data() + first, count);
    std::memset(reinterpret_cast<uint8_t*>(words) + count, 0, 8 - count);
    hash = words[0] * kFactor;
  }
  return static_cast<uint32_t>(hash >> 32);
}

// The dwords that have a byte of `mask`.
uint64_t whole_dwords(uint64_t mask) {
  constexpr uint64_t kLow = 0x1111111111111111;
  mask |= mask >> 1;
  mask |= mask >> 2;
  return (mask & kLow) * 15;
}

template <class Visit>
void for_each_dword(const LineAccess& at, Visit&& visit) {
  for (unsigned n = 0; n < kDwords; ++n) {
    if ((at.mask >> n * 4 & 15) != 0) visit(at.line + n * 4);
  }
}

}  // namespace

class RaceCheck::Group final : public isa::GroupObserver {
 public:
  Group(RaceCheck& check, Dispatch& dispatch, const isa::WorkGroup& group, uint32_t number)
      : check_(check),
        dispatch_(dispatch),
        context_(dispatch.context()),
        group_(group),
        waves_(number, group.wave_count) {}
  // A fault of the host's in the middle of an access has left its shards locked.
  ~Group() override { unlock(); }

  void before(const Wave& wave, const Instruction& instruction) override;
  void after(const Wave& wave, const Instruction& instruction, uint64_t pc,
             isa::Outcome outcome) override;
  void barrier() override {
    waves_.barrier();
    if (waves_.is_full()) stop("a work-group has too many barriers");
  }

 private:
  // The instruction that is being executed.
  struct Now {
    const Wave& wave;
    const Instruction& instruction;
    const Effect& effect;
    uint64_t pc;
    SiteId site;
    bool is_marked;
    bool is_atomic() const { return is_marked || effect.use == Use::kAtomic; }
    // Whether it reads what atomics tell.
    bool acquires() const {
      return effect.use == Use::kAtomic ? instruction.glc : is_marked && effect.use == Use::kLoad;
    }
    bool releases() const { return is_atomic() && effect.use != Use::kLoad; }
  };

  void lock();
  void unlock() { dispatch_.shadow().unlock(std::exchange(locked_, 0)); }
  void stop(const char* why) {
    dispatch_.lose(why, true);
    is_stopped_ = true;
  }

  void note_lds(const Wave& wave, const Instruction& instruction, const Effect& effect);
  void lds_atomics(const Wave& wave, const Instruction& instruction);
  void keep_bytes();
  SiteId site_of(uint64_t pc, Use use, bool is_marked);
  void look(const Now& now);
  void acquire(const Now& now);
  void release(const Now& now);
  void use(const Now& now, size_t line, const Order& order);
  void found(const Now& now, Conflict conflict, const Access& earlier, uint64_t line,
             uint64_t mask);
  std::string name_of(WaveId other) const;

  RaceCheck& check_;
  Dispatch& dispatch_;
  const isa::GroupContext& context_;
  const isa::WorkGroup& group_;
  Waves waves_;
  coherence::Accesses accesses_;
  Shadow::Shards locked_ = 0;
  bool is_stopped_ = false;
  bool is_lds_atomic_ = false;
  std::vector<uint64_t> lds_offsets_;               // of the instruction that is executed
  std::vector<Bytes64> bytes_;                      // of the lines, before it writes
  std::vector<Known> published_;                    // by wave
  std::vector<std::pair<uint64_t, SiteId>> sites_;  // direct-mapped, by pc
  std::vector<uint64_t> found_;                     // pairs of sites and a conflict
};

void RaceCheck::Group::lock() {
  Shadow::Shards shards = 0;
  for (const LineAccess& at : accesses_.lines()) shards |= Shadow::shard_of(at.line);
  dispatch_.shadow().lock(shards);
  locked_ = shards;
}

void RaceCheck::Group::before(const Wave& wave, const Instruction& instruction) {
  if (is_stopped_ || dispatch_.is_lost()) return;
  const Effect& effect = coherence::effect_of(instruction);
  is_lds_atomic_ = false;
  const bool is_memory =
      effect.kind == Effect::Kind::kVector || effect.kind == Effect::Kind::kScalar;
  if (instruction.format == isa::Format::kDs || (is_memory && effect.use == Use::kAtomic))
    note_lds(wave, instruction, effect);
  if (!is_memory || is_private(wave, instruction)) return;
  accesses_.read(wave, instruction, effect);
  if (accesses_.lines().empty()) return;
  lock();
  if (effect.use == Use::kStore && !is_marked(instruction, *context_.target, effect)) keep_bytes();
}

// LDS atomics order waves too.
void RaceCheck::Group::note_lds(const Wave& wave, const Instruction& instruction,
                                const Effect& effect) {
  const bool in_lds = instruction.format == isa::Format::kDs;
  if (in_lds && observe::role_of(instruction) != observe::Role::kAtomic) return;
  if (!in_lds && (instruction.format != isa::Format::kFlat || instruction.segment != 0)) return;
  static_cast<void>(effect);
  lds_offsets_.clear();
  observe::for_each_lds_access(wave, instruction, [&](const observe::LdsAccess& access) {
    lds_offsets_.push_back(access.offset);
  });
  is_lds_atomic_ = !lds_offsets_.empty();
}

void RaceCheck::Group::lds_atomics(const Wave& wave, const Instruction& instruction) {
  const uint32_t self = wave.index_in_group;
  const bool returns = instruction.dst.kind != isa::OperandKind::kNone;
  if (returns) {
    for (const uint64_t offset : lds_offsets_) {
      if (const Known* const known = waves_.find_lds(offset)) waves_.acquire(self, *known);
    }
  }
  const Known told = waves_.release(self);
  for (const uint64_t offset : lds_offsets_) {
    Known& known = waves_.lds(offset);
    known = joined(known, told);
  }
}

// A store's lines as they were: whether it changes them is known behind it.
void RaceCheck::Group::keep_bytes() {
  const auto& lines = accesses_.lines();
  bytes_.resize(lines.size());
  for (size_t n = 0; n < lines.size(); ++n) {
    // Where the host has none the instruction fails, too.
    if (!read_host(bytes_[n].data(), coherence::memory_at(lines[n].line), kLineBytes))
      bytes_[n].fill(0);
  }
}

void RaceCheck::Group::after(const Wave& wave, const Instruction& instruction, uint64_t pc,
                             isa::Outcome outcome) {
  if (locked_ == 0 && !is_lds_atomic_) return;
  if (outcome != isa::Outcome::kFault) {
    if (std::exchange(is_lds_atomic_, false)) lds_atomics(wave, instruction);
    if (locked_ != 0) {
      const Effect& effect = coherence::effect_of(instruction);
      const bool marked = is_marked(instruction, *context_.target, effect);
      const SiteId site = site_of(pc, effect.use, marked);
      if (site != 0) look({wave, instruction, effect, pc, site, marked});
    }
  }
  unlock();
}

SiteId RaceCheck::Group::site_of(uint64_t pc, Use use, bool is_marked) {
  constexpr size_t kPlaces = 64;
  if (sites_.empty()) sites_.resize(kPlaces);
  auto& [known, site] = sites_[pc / 4 % kPlaces];
  if (known != pc || site == 0) {
    known = pc;
    site = dispatch_.site(pc, use, is_marked);
    if (site == 0) stop("it has too many instructions that access memory");
  }
  return site;
}

void RaceCheck::Group::look(const Now& now) {
  const uint32_t self = now.wave.index_in_group;
  if (now.acquires()) acquire(now);
  if (now.effect.use == Use::kStore && !now.is_atomic() && waves_.known(self)) {
    if (published_.empty()) published_.resize(group_.wave_count);
    if (published_[self] != waves_.known(self)) {
      published_[self] = waves_.known(self);
      dispatch_.publish(waves_.id(self), published_[self]);
    }
  }
  const Order order = waves_.order(self);
  for (size_t n = 0; n < accesses_.lines().size(); ++n) use(now, n, order);
  waves_.accessed();
  if (now.releases()) release(now);
}

// What the wave learns by the values that it has read.
void RaceCheck::Group::acquire(const Now& now) {
  const uint32_t self = now.wave.index_in_group;
  const bool knew_everything = waves_.known(self) && waves_.known(self)->is_everything();
  for (const LineAccess& at : accesses_.lines()) {
    for_each_dword(at, [&](uint64_t dword) {
      const Known* const told = dispatch_.shadow().find_released(dword);
      if (told != nullptr) waves_.acquire(self, *told);
    });
    Line* const line = dispatch_.shadow().line(at.line, at.mask);
    if (line == nullptr) continue;
    line->for_each_cell(at.mask, [&](const Cell& cell, uint64_t) {
      const Access& store = cell.last_write();
      if (!store || store.is_atomic() || waves_.order(self).is_behind(store)) return;
      const Known known = dispatch_.published(store.wave());
      auto clock = known ? std::make_shared<Clock>(*known) : std::make_shared<Clock>();
      clock->add_group(store.wave().group, store.time() - 1);
      clock->add_wave(store.wave(), store.time());
      waves_.acquire(self, clock);
    });
  }
  const Known& knows = waves_.known(self);
  if (!knew_everything && knows && knows->is_everything())
    dispatch_.lose("its waves pass on too much by atomics", false);
}

void RaceCheck::Group::release(const Now& now) {
  const Known told = waves_.release(now.wave.index_in_group);
  for (const LineAccess& at : accesses_.lines()) {
    for_each_dword(at, [&](uint64_t dword) {
      Known* const known = dispatch_.shadow().released(dword);
      if (known == nullptr) return stop("what its atomics tell needs too much memory");
      *known = joined(*known, told);
    });
  }
  if (waves_.is_full()) stop("a work-group has too many atomics");
}

void RaceCheck::Group::use(const Now& now, size_t number, const Order& order) {
  // A marked load tells nobody, and what it reads it has acquired.
  if (now.effect.use == Use::kLoad && now.is_marked) return;
  const LineAccess& at = accesses_.lines()[number];
  const bool writes = now.effect.use == Use::kStore && !now.is_atomic();
  uint64_t division = at.mask;
  uint64_t changed = 0;
  Bytes64 after;
  if (writes) {
    const SharedMemoryAccess host_sees;
    std::memcpy(after.data(), coherence::memory_at(at.line), kLineBytes);
    changed = at.mask & differences(bytes_[number], after);
    // One cell for the line is enough if all of it has changed, or nothing.
    const uint64_t dwords = whole_dwords(changed);
    if (at.mask == kAllBytes && dwords != 0) division = dwords;
  }
  Line* const line = dispatch_.shadow().line(at.line, division);
  if (line == nullptr) return;
  const Access access(order.wave, waves_.now(), now.site, now.is_atomic());
  line->for_each_cell(at.mask, [&](Cell& cell, uint64_t bytes) {
    const auto tell = [&](Conflict conflict, const Access& earlier) {
      found(now, conflict, earlier, at.line, bytes);
    };
    if (writes) {
      const Bytes values{(changed & bytes) != 0, hash_of(bytes_[number], bytes),
                         hash_of(after, bytes)};
      cell.write(order, access, values, tell);
    } else if (now.is_atomic()) {
      cell.update(order, access, tell);
    } else {
      cell.read(order, access, tell);
    }
  });
}

std::string RaceCheck::Group::name_of(WaveId other) const {
  if (other.group == waves_.id(0).group)
    return fmt::format("wave {} of the same work-group", other.index);
  const uint32_t* const groups = context_.groups;
  const uint32_t* const first = context_.dispatch->first_group;
  return fmt::format("work-group ({}, {}, {}), wave {}", first[0] + other.group % groups[0],
                     first[1] + other.group / groups[0] % groups[1],
                     first[2] + other.group / groups[0] / groups[1], other.index);
}

void RaceCheck::Group::found(const Now& now, Conflict conflict, const Access& earlier,
                             uint64_t line, uint64_t mask) {
  const bool scopes_tell = context_.target->scope_bits && conflict == Conflict::kMixed;
  if (conflict != Conflict::kRace && !scopes_tell && !check_.options_.notes) return;
  const uint64_t pair = (uint64_t{earlier.site()} << Access::kSiteBits | now.site) * 4 +
                        static_cast<uint64_t>(conflict);
  if (std::find(found_.begin(), found_.end(), pair) != found_.end()) return;
  found_.push_back(pair);
  const Site& other = dispatch_.site(earlier.site());
  // A store that is no atomic one, where the encoding tells.
  const bool has_plain_store = (now.effect.use == Use::kStore && !now.is_marked) ||
                               (other.use == Use::kStore && !other.is_marked);
  if (scopes_tell && has_plain_store) conflict = Conflict::kRace;
  if (conflict != Conflict::kRace && !check_.options_.notes) return;
  const uint64_t object = context_.dispatch->kernel_object;
  if (!check_.is_new(object, now.pc, other.pc, conflict)) return;
  const coherence::Accesses::Lane lane = accesses_.find(line, mask);
  const uint64_t address = context_.memory->address_of_fault(lane.address);
  char place[256] = "";
  if (check_.options_.describe) {
    check_.options_.describe(address, place, sizeof place);
  } else {
    context_.memory->describe(address, place, sizeof place);
  }
  check_.options_.report(fmt::format(
      "halyard vgpu: check: {} in {} on {}\n"
      "  work-group {}, wave {}{} {} {} byte{} at {:#x}, which {} has {}, with no barrier and no "
      "atomic between\n"
      "  address {:#x}: {}\n"
      "  pc {}: {}\n"
      "  the other's pc {}: {}\n",
      text_of(conflict), observe::kernel_text(check_.options_.names, object),
      context_.target->processor, observe::group_text(group_), now.wave.index_in_group,
      lane.lane < 0 ? "" : fmt::format(", lane {}", lane.lane), verb(now.effect.use), lane.bytes,
      lane.bytes == 1 ? "" : "s", address, name_of(earlier.wave()), participle(other.use), address,
      place, observe::offset_text(context_, now.pc), dispatch_.site(now.site).text,
      observe::offset_text(context_, other.pc), other.text));
}

bool RaceCheck::is_new(uint64_t kernel_object, uint64_t one_pc, uint64_t other_pc,
                       Conflict conflict) {
  const std::lock_guard lock(mutex_);
  return reported_
      .emplace(kernel_object, std::min(one_pc, other_pc), std::max(one_pc, other_pc), conflict)
      .second;
}

void RaceCheck::begin(const isa::GroupContext& context) {
  const std::lock_guard lock(mutex_);
  running_[&context] = std::make_unique<Dispatch>(context, budget_);
}

void RaceCheck::end(const isa::GroupContext& context, const isa::DispatchResult&) {
  std::unique_ptr<Dispatch> dispatch;
  {
    const std::lock_guard lock(mutex_);
    const auto found = running_.find(&context);
    if (found == running_.end()) return;
    dispatch = std::move(found->second);
    running_.erase(found);
  }
  if (dispatch->shadow().is_cut()) {
    dispatch->lose(fmt::format("it uses more memory than the check can follow in {} MiB",
                               budget_.most() >> 20),
                   false);
  }
  const std::string losses = dispatch->losses();
  if (losses.empty()) return;
  const uint64_t object = context.dispatch->kernel_object;
  {
    const std::lock_guard lock(mutex_);
    if (!warned_.emplace(object, losses).second) return;
  }
  options_.warn(fmt::format(
      "halyard vgpu: The check of races has not seen all of {} on {}, because {}. It may have "
      "missed races there.",
      observe::kernel_text(options_.names, object), context.target->processor, losses));
}

std::unique_ptr<isa::GroupObserver> RaceCheck::watch(const isa::WorkGroup& group,
                                                     const isa::GroupContext& context) {
  const uint64_t groups = uint64_t{context.groups[0]} * context.groups[1] * context.groups[2];
  if (groups == 1 && group.wave_count == 1) return nullptr;
  Dispatch* dispatch = nullptr;
  {
    const std::lock_guard lock(mutex_);
    const auto found = running_.find(&context);
    if (found == running_.end()) return nullptr;
    dispatch = found->second.get();
  }
  const uint32_t* const first = context.dispatch->first_group;
  const uint64_t number =
      (uint64_t{group.id[2] - first[2]} * context.groups[1] + (group.id[1] - first[1])) *
          context.groups[0] +
      (group.id[0] - first[0]);
  if (number >= Access::kGroups) {
    dispatch->lose(fmt::format("it has more than {} work-groups", Access::kGroups), false);
    return nullptr;
  }
  return std::make_unique<Group>(*this, *dispatch, group, static_cast<uint32_t>(number));
}

}  // namespace halyard::vgpu::races
