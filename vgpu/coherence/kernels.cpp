#include "vgpu/coherence/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "vgpu/coherence/accesses.h"
#include "vgpu/host_guard.h"
#include "vgpu/isa/kernel.h"
#include "vgpu/isa/place_text.h"
#include "vgpu/isa/program.h"
#include "vgpu/isa/target.h"
#include "vgpu/isa/wait_counts.h"
#include "vgpu/shared_memory_access.h"

namespace halyard::vgpu::coherence {
namespace {

// The scope of SC1 and SC0 (LLVM AMDGPUUsage, "Memory Model GFX942"): 2 is the agent's, 3 the
// system's; narrower ones are not the caches' matter here. Of an atomic SC1 alone says it: SC0 asks
// for a result.
Scope scope_of(const isa::Target& target, const isa::Instruction& i, Use use) {
  if (!target.scope_bits) return Scope::kNone;
  if (!i.sc1) return Scope::kNone;
  const bool sc0 = i.glc;
  return sc0 || use == Use::kAtomic ? Scope::kSystem : Scope::kAgent;
}

// The scope of a cache instruction: where there are no bits for it, it is for the whole cache.
Scope scope_of_cache(const isa::Target& target, const isa::Instruction& i) {
  return target.scope_bits ? scope_of(target, i, Use::kLoad) : Scope::kSystem;
}

// A work-group's scope (SC0 alone) is a matter of the L1 only if waves of a work-group can be on
// several compute units, as TG_SPLIT of the kernel's descriptor says (CDNA 3 ISA, tables 49 and
// 52).
bool reaches_split_groups(const isa::GroupContext& context, const isa::Instruction& i) {
  constexpr uint32_t kTgSplit = 1u << 16;  // of rsrc3
  return context.target->scope_bits && i.glc && (context.kernel->rsrc3 & kTgSplit) != 0;
}

}  // namespace

class Kernels::Group final : public isa::GroupObserver {
 public:
  Group(Kernels& kernels, const isa::WorkGroup& group, const isa::GroupContext& context,
        WorkId work, uint32_t gpu)
      : kernels_(kernels), model_(kernels.model_), group_(group), context_(context) {
    view_.gpu = gpu;
    view_.l2 = model_.l2_of(gpu, group.xcc);
    view_.work = work;
    model_.enter(view_, group.wave_count);
  }
  ~Group() override {
    // A fault of the host's in the middle of an access has left it locked.
    if (!lock_) lock_.emplace(model_);
    model_.leave(view_);
  }

  void before(const isa::Wave& wave, const isa::Instruction& instruction) override;
  void after(const isa::Wave& wave, const isa::Instruction& instruction, uint64_t pc,
             isa::Outcome outcome) override;
  void barrier() override {}

 private:
  friend class Names;

  // What an instruction that has not faulted means to the model.
  void done(const isa::Wave& wave, const isa::Instruction& instruction, uint64_t pc,
            const Effect& effect);
  VectorAccess vector_access(const isa::Wave& wave, const isa::Instruction& instruction,
                             const Effect& effect);
  AuthorId author_of(uint64_t pc, const isa::Instruction& instruction, Use use);
  void check_code(const isa::Wave& wave);

  Kernels& kernels_;
  Model& model_;
  const isa::WorkGroup& group_;
  const isa::GroupContext& context_;
  GroupView view_;
  // Held from before a memory instruction until behind it.
  std::optional<Model::Lock> lock_;
  Accesses accesses_;
  std::vector<std::pair<uint64_t, AuthorId>> authors_;  // by pc
  std::vector<uint64_t> code_pages_;                    // that have been looked at
  uint64_t code_page_ = 1;
};

// An instruction's access, as findings name it.
class Kernels::Names final : public AccessNames {
 public:
  Names(const Group& group, const isa::Wave& wave, const isa::Instruction& instruction, Use use)
      : group_(group), wave_(wave), instruction_(instruction), use_(use) {}

  AccessText describe(uint64_t line, uint64_t mask) const override {
    const isa::WorkGroup& at = group_.group_;
    const isa::GroupContext& context = group_.context_;
    const Accesses::Lane access = group_.accesses_.find(line, mask);
    const std::string lane = access.lane < 0 ? "" : fmt::format(", lane {}", access.lane);
    const Work* const work = group_.model_.history().work(group_.view_.work);
    return {fmt::format("{} on {}", work != nullptr ? work->name : "a kernel",
                        context.target->processor),
            fmt::format("work-group ({}, {}, {}), wave {}{} {} {} byte{} at 0x{:x}", at.id[0],
                        at.id[1], at.id[2], wave_.index_in_group, lane, verb(use_), access.bytes,
                        access.bytes == 1 ? "" : "s", access.address),
            fmt::format("pc {}: {}", isa::offset_text(context, wave_.pc),
                        group_.kernels_.text(context, wave_.pc, instruction_.extra->encoding))};
  }
  uint64_t place() const override {
    const Work* const work = group_.model_.history().work(group_.view_.work);
    const uint64_t kernel = work != nullptr ? std::hash<std::string>()(work->name) : 0;
    return kernel + (wave_.pc - group_.context_.kernel->entry);
  }

 private:
  const Group& group_;
  const isa::Wave& wave_;
  const isa::Instruction& instruction_;
  const Use use_;
};

AuthorId Kernels::Group::author_of(uint64_t pc, const isa::Instruction& instruction, Use use) {
  for (const auto& [known, author] : authors_) {
    if (known == pc) return author;
  }
  const std::string place = fmt::format("at {} ({})", isa::offset_text(context_, pc),
                                        kernels_.text(context_, pc, instruction.extra->encoding));
  const AuthorId author = model_.history().author(view_.work, pc, place, use == Use::kAtomic);
  authors_.emplace_back(pc, author);
  return author;
}

VectorAccess Kernels::Group::vector_access(const isa::Wave& wave,
                                           const isa::Instruction& instruction,
                                           const Effect& effect) {
  VectorAccess access;
  access.use = effect.use;
  access.scope = scope_of(*context_.target, instruction, effect.use);
  const bool is_marked =
      context_.target->scope_bits ? access.scope != Scope::kNone : instruction.glc;
  access.synchronises = effect.use == Use::kAtomic || is_marked;
  // A nontemporal load misses the L1 (CDNA 3 ISA, table 49), and is none that waves synchronize by.
  const bool is_nontemporal = context_.target->scope_bits && instruction.slc;
  access.past_l1 =
      access.synchronises || is_nontemporal || reaches_split_groups(context_, instruction);
  access.wave = wave.index_in_group;
  access.lines = &accesses_.lines();
  return access;
}

// The instruction cache keeps fetched code until it is invalidated.
void Kernels::Group::check_code(const isa::Wave& wave) {
  const uint64_t page = wave.pc / kPageBytes * kPageBytes;
  if (page == code_page_) return;
  code_page_ = page;
  if (std::find(code_pages_.begin(), code_pages_.end(), page) != code_pages_.end()) return;
  code_pages_.push_back(page);
  // Read before the model is locked: the host may have taken the memory away.
  const isa::MemoryRange range = context_.memory->find(wave.pc);
  const uint64_t here = page + range.to_host;
  std::array<uint8_t, kPageBytes> code;
  if (!read_host(code.data(), memory_at(here), kPageBytes)) return;
  const Model::Lock lock(model_);
  const SharedMemoryAccess host_sees;
  const auto changed = model_.fetch_code(view_.gpu, here, code.data());
  if (!changed) return;
  const Work* const work = model_.history().work(view_.work);
  const std::string name = work != nullptr ? work->name : "a kernel";
  if (!model_.findings().is_new(Mistake::kCode, std::hash<std::string>()(name), page)) return;
  model_.findings().tell(
      {.mistake = Mistake::kCode,
       .where = fmt::format("{} on {}", name, context_.target->processor),
       .access = fmt::format("work-group ({}, {}, {}), wave {} runs code at 0x{:x}, whose page has "
                             "changed at 0x{:x} since the instruction cache may have fetched it",
                             group_.id[0], group_.id[1], group_.id[2], wave.index_in_group, wave.pc,
                             changed->address),
       .history = "written by " + changed->writer,
       .cure = "an invalidation of the instruction cache behind the write (PM4 ACQUIRE_MEM in a "
               "vendor packet, or s_icache_inv)",
       .place = fmt::format("pc {}", isa::offset_text(context_, wave.pc))});
}

void Kernels::Group::before(const isa::Wave& wave, const isa::Instruction& instruction) {
  check_code(wave);
  const Effect& effect = effect_of(instruction);
  if (effect.kind != Effect::Kind::kVector && effect.kind != Effect::Kind::kScalar) return;
  accesses_.read(wave, instruction, effect);
  lock_.emplace(model_);
  const SharedMemoryAccess host_sees;
  const Names names(*this, wave, instruction, effect.use);
  if (effect.kind == Effect::Kind::kScalar) {
    model_.before_scalar(view_, effect.use, accesses_.lines(), names);
  } else {
    model_.before(view_, vector_access(wave, instruction, effect), names);
  }
}

void Kernels::Group::after(const isa::Wave& wave, const isa::Instruction& instruction, uint64_t pc,
                           isa::Outcome outcome) {
  const Effect& effect = effect_of(instruction);
  if (effect.kind == Effect::Kind::kNone) return;
  if (!lock_) lock_.emplace(model_);
  kernels_.packets_.look_behind(view_.work);
  if (outcome != isa::Outcome::kFault) done(wave, instruction, pc, effect);
  lock_.reset();
}

void Kernels::Group::done(const isa::Wave& wave, const isa::Instruction& instruction, uint64_t pc,
                          const Effect& effect) {
  const SharedMemoryAccess host_sees;
  switch (effect.kind) {
    case Effect::Kind::kNone:
      return;
    case Effect::Kind::kVector: {
      VectorAccess access = vector_access(wave, instruction, effect);
      if (effect.use != Use::kLoad) access.author = author_of(pc, instruction, effect.use);
      return model_.after(view_, access);
    }
    case Effect::Kind::kScalar:
      if (effect.use == Use::kLoad) return;
      return model_.after_scalar(view_, effect.use, author_of(pc, instruction, effect.use),
                                 accesses_.lines());
    case Effect::Kind::kWait:
      return model_.wait(view_, wave.index_in_group,
                         isa::WaitCounts::decode(static_cast<uint32_t>(instruction.offset)).vm);
    case Effect::Kind::kInvalidateL1:
      return Model::invalidate_l1(view_);
    case Effect::Kind::kInvalidateScoped: {
      const Scope scope = scope_of_cache(*context_.target, instruction);
      if (scope == Scope::kNone && !reaches_split_groups(context_, instruction)) return;
      Model::invalidate_l1(view_);
      return model_.invalidate_l2(view_, scope);
    }
    case Effect::Kind::kInvalidateL2:
      return model_.invalidate_l2(view_);
    case Effect::Kind::kWriteBackL2:
      return model_.write_back_l2(view_, scope_of_cache(*context_.target, instruction));
    case Effect::Kind::kInvalidateScalar:
      return model_.invalidate_scalar(view_.gpu);
    case Effect::Kind::kWriteBackScalar:
      return model_.write_back_scalar(view_.gpu);
    case Effect::Kind::kInvalidateCode:
      return model_.invalidate_code(view_.gpu);
  }
}

const std::string& Kernels::text(const isa::GroupContext& context, uint64_t pc, uint64_t encoding) {
  Text& known = texts_[pc];
  if (known.text.empty() || known.encoding != encoding)
    known = {encoding, context.program->text(pc)};
  return known.text;
}

void Kernels::begin(const isa::GroupContext& context) {
  const Model::Lock lock(model_);
  running_[&context] = Packets::current();
}

void Kernels::end(const isa::GroupContext& context, const isa::DispatchResult&) {
  const Model::Lock lock(model_);
  running_.erase(&context);
}

std::unique_ptr<isa::GroupObserver> Kernels::watch(const isa::WorkGroup& group,
                                                   const isa::GroupContext& context) {
  const Model::Lock lock(model_);
  const auto running = running_.find(&context);
  if (running == running_.end() || running->second == 0) return nullptr;
  const Work* const work = model_.history().work(running->second);
  if (work == nullptr) return nullptr;
  return std::make_unique<Group>(*this, group, context, running->second, work->node - 1);
}

}  // namespace halyard::vgpu::coherence
