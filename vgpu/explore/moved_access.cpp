#include "vgpu/explore/moved_access.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "vgpu/coherence/accesses.h"
#include "vgpu/isa/program.h"
#include "vgpu/isa/work_group.h"
#include "vgpu/observe/lds_access.h"

namespace halyard::vgpu::explore {
namespace {

constexpr uint64_t kLineBytes = 64;

void read_lds(const isa::Wave& wave, const isa::Instruction& instruction, Access& access) {
  observe::for_each_lds_access(wave, instruction, [&](const observe::LdsAccess& lane) {
    access.is_lds = true;
    access.writes = access.writes || lane.use != observe::LdsUse::kRead;
    access.verb = observe::verb(lane.use);
    for (unsigned n = 0; n < lane.bytes; ++n) {
      const uint64_t byte = lane.offset + n;
      const uint64_t begin = byte / kLineBytes * kLineBytes;
      const auto line = std::find_if(access.lines.begin(), access.lines.end(),
                                     [&](const Access::Line& l) { return l.begin == begin; });
      const uint64_t bit = uint64_t{1} << (byte % kLineBytes);
      if (line == access.lines.end()) {
        access.lines.push_back({begin, bit});
      } else {
        line->mask |= bit;
      }
    }
  });
}

std::string place_text(const isa::GroupContext& dispatch, const isa::WorkGroup& group,
                       uint32_t wave, uint64_t pc) {
  return fmt::format("work-group {}, wave {} at {}: {}", observe::group_text(group), wave,
                     observe::offset_text(dispatch, pc), dispatch.program->text(pc));
}

}  // namespace

std::optional<uint64_t> Access::conflict(const Access& other) const {
  if (is_lds != other.is_lds || (!writes && !other.writes)) return std::nullopt;
  for (const Line& line : lines) {
    for (const Line& others : other.lines) {
      const uint64_t both = line.begin == others.begin ? line.mask & others.mask : 0;
      if (both != 0) return line.begin + static_cast<uint64_t>(std::countr_zero(both));
    }
  }
  return std::nullopt;
}

void read_access(const isa::Wave& wave, const isa::Instruction& instruction, Access& access) {
  access = {};
  read_lds(wave, instruction, access);
  if (!access.is_none()) return;
  const coherence::Effect& effect = coherence::effect_of(instruction);
  if (effect.kind != coherence::Effect::Kind::kVector &&
      effect.kind != coherence::Effect::Kind::kScalar)
    return;
  coherence::Accesses accesses;
  accesses.read(wave, instruction, effect);
  access.writes = effect.use != coherence::Use::kLoad;
  access.verb = effect.use == coherence::Use::kLoad    ? "reads"
                : effect.use == coherence::Use::kStore ? "writes"
                                                       : "updates";
  for (const coherence::LineAccess& line : accesses.lines())
    access.lines.push_back({line.line, line.mask});
}

class MovedAccess::Group final : public isa::GroupObserver {
 public:
  Group(MovedAccess& moved, const isa::WorkGroup& group, const isa::GroupContext& context)
      : moved_(moved), group_(group), context_(context) {}

  void before(const isa::Wave& wave, const isa::Instruction& instruction) override {
    pc_ = wave.pc;
    read_access(wave, instruction, last_);
    if (last_.is_none() || !moved_.is_looking(context_)) return;
    moved_.look_at(context_, group_, wave, pc_, last_);
  }
  void after(const isa::Wave&, const isa::Instruction&, uint64_t, isa::Outcome) override {}
  void barrier() override { moved_.barrier(context_, group_); }
  void order_ends(const isa::Wave& wave) override {
    moved_.order_ends({.dispatch = &context_,
                       .group = {group_.id[0], group_.id[1], group_.id[2]},
                       .wave = wave.index_in_group,
                       .access = last_,
                       .is_behind_barrier = false,
                       .text = place_text(context_, group_, wave.index_in_group, pc_)});
  }

 private:
  MovedAccess& moved_;
  const isa::WorkGroup& group_;
  const isa::GroupContext& context_;
  uint64_t pc_ = 0;
  Access last_;  // of the group's last instruction
};

std::unique_ptr<isa::GroupObserver> MovedAccess::watch(const isa::WorkGroup& group,
                                                       const isa::GroupContext& context) {
  return std::make_unique<Group>(*this, group, context);
}

void MovedAccess::order_ends(Place place) {
  const std::lock_guard lock(mutex_);
  if (is_told_ || moved_ || place.access.is_none()) return;
  moved_ = std::move(place);
}

bool MovedAccess::is_looking(const isa::GroupContext& dispatch) {
  const std::lock_guard lock(mutex_);
  return moved_ && moved_->dispatch == &dispatch;
}

void MovedAccess::look_at(const isa::GroupContext& dispatch, const isa::WorkGroup& group,
                          const isa::Wave& wave, uint64_t pc, const Access& access) {
  std::string text;
  {
    const std::lock_guard lock(mutex_);
    if (!moved_ || moved_->dispatch != &dispatch) return;
    const bool is_same_group = std::equal(moved_->group.begin(), moved_->group.end(), group.id);
    // Behind a barrier, the work-group's waves come after the instruction in both runs.
    if (is_same_group && (moved_->wave == wave.index_in_group || moved_->is_behind_barrier)) return;
    if (access.is_lds && !is_same_group) return;
    const std::optional<uint64_t> byte = moved_->access.conflict(access);
    if (!byte) return;
    text = fmt::format(
        "{}, in this order:\n"
        "  {}\n"
        "  {}\n"
        "  The first one {} and the second one {} {}.\n",
        observe::kernel_text(names_, dispatch.dispatch->kernel_object), moved_->text,
        place_text(dispatch, group, wave.index_in_group, pc), moved_->access.verb, access.verb,
        access.is_lds ? fmt::format("LDS offset {}", *byte)
                      : fmt::format("the byte at {:#x}", *byte));
    moved_.reset();
    is_told_ = true;
  }
  report_(text);
}

void MovedAccess::barrier(const isa::GroupContext& dispatch, const isa::WorkGroup& group) {
  const std::lock_guard lock(mutex_);
  if (!moved_ || moved_->dispatch != &dispatch) return;
  if (std::equal(moved_->group.begin(), moved_->group.end(), group.id))
    moved_->is_behind_barrier = true;
}

void MovedAccess::end(const isa::GroupContext& context, const isa::DispatchResult&) {
  const std::lock_guard lock(mutex_);
  if (moved_ && moved_->dispatch == &context) moved_.reset();
}

}  // namespace halyard::vgpu::explore
