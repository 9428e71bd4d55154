#include "vgpu/observe/lds_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <functional>
#include <vector>

#include "vgpu/isa/target.h"
#include "vgpu/observe/lds_access.h"
#include "vgpu/observe/lds_bytes.h"

namespace halyard::vgpu::observe {
namespace {

// Behind what a compute unit has of LDS, a read returns 0 (Vega ISA 11, "out of range"). Tensile
// selects such an offset (0xf00000) for the lanes whose operands are to be 0. From 2 GiB on it is a
// negative offset, which is a mistake.
constexpr uint64_t kNegative = uint64_t{1} << 31;

constexpr unsigned kMostBytes = 16;  // of one lane's access

}  // namespace

class LdsCheck::Group final : public isa::GroupObserver {
 public:
  Group(LdsCheck& check, const isa::WorkGroup& group, const isa::GroupContext& context)
      : check_(check),
        context_(context),
        place_(group_text(group)),
        bytes_(context.dispatch->group_segment_size) {}

  void before(const isa::Wave& wave, const isa::Instruction& instruction) override;
  void after(const isa::Wave& wave, const isa::Instruction& instruction, uint64_t pc,
             isa::Outcome outcome) override;
  void barrier() override { ++phase_; }

 private:
  // An access of the instruction that is being executed, with what was there.
  struct Write {
    LdsAccess access;
    std::array<uint8_t, kMostBytes> before;
  };

  void look_at(const isa::Wave& wave, const LdsAccess& access);
  // `changed`: the bytes that the access has changed, one bit each.
  void use(uint32_t wave, uint64_t pc, const LdsAccess& access, uint32_t changed);
  std::string describe(const LdsByte::Verdict& verdict) const;
  std::string describe_unwritten(const LdsAccess& access) const;
  // `what` makes the text, which is needed only if the place is new.
  void report(uint32_t wave, uint64_t pc, const LdsAccess& access, Kind kind,
              const std::function<std::string()>& what);

  LdsCheck& check_;
  const isa::GroupContext& context_;
  const std::string place_;
  std::vector<LdsByte> bytes_;
  std::vector<Write> writes_;
  uint32_t phase_ = 1;
};

std::string LdsCheck::Group::describe(const LdsByte::Verdict& verdict) const {
  const bool knows_where = (verdict.rivals >> verdict.user & 1) != 0;
  const unsigned wave =
      knows_where ? verdict.user : static_cast<unsigned>(std::countr_zero(verdict.rivals));
  std::string text = fmt::format("which wave {} has used", wave);
  if (knows_where) {
    text += fmt::format(" at {} ({})", offset_text(context_, verdict.user_pc),
                        context_.program->text(verdict.user_pc));
  }
  return text + " with no barrier between";
}

// A wide read can include unused padding, so the report gives the bytes.
std::string LdsCheck::Group::describe_unwritten(const LdsAccess& access) const {
  const auto first = bytes_.begin() + static_cast<ptrdiff_t>(access.offset);
  const auto last = first + static_cast<ptrdiff_t>(access.bytes);
  const auto unwritten = [](const LdsByte& byte) { return !byte.is_written(); };
  const auto count = static_cast<uint64_t>(std::count_if(first, last, unwritten));
  const std::string nobody = "no wave has written since the work-group started";
  if (count == access.bytes) return "which " + nobody;
  return fmt::format("{} of which, from {} on, {}", count,
                     std::find_if(first, last, unwritten) - bytes_.begin(), nobody);
}

void LdsCheck::Group::before(const isa::Wave& wave, const isa::Instruction& instruction) {
  writes_.clear();
  for_each_lds_access(wave, instruction, [&](const LdsAccess& access) { look_at(wave, access); });
}

void LdsCheck::Group::look_at(const isa::Wave& wave, const LdsAccess& access) {
  if (access.offset + access.bytes > bytes_.size()) {
    const bool on_purpose = access.use == LdsUse::kRead &&
                            access.offset >= wave.target->lds_bytes && access.offset < kNegative;
    const Kind kind = on_purpose ? Kind::kOutOfAnyLds : Kind::kOutside;
    return report(wave.index_in_group, wave.pc, access, kind, [&] {
      return fmt::format("outside the {} bytes of LDS that the dispatch asks for{}", bytes_.size(),
                         on_purpose ? ", which returns 0" : "");
    });
  }
  if (access.use != LdsUse::kWrite) return use(wave.index_in_group, wave.pc, access, 0);
  // Which bytes it changes is known behind it.
  Write& write = writes_.emplace_back();
  write.access = access;
  std::memcpy(write.before.data(), wave.lds + access.offset, access.bytes);
}

void LdsCheck::Group::after(const isa::Wave& wave, const isa::Instruction& /*instruction*/,
                            uint64_t pc, isa::Outcome outcome) {
  if (outcome == isa::Outcome::kFault) return;
  for (const Write& write : writes_) {
    const uint8_t* const now = wave.lds + write.access.offset;
    uint32_t changed = 0;
    for (unsigned n = 0; n < write.access.bytes; ++n)
      changed |= uint32_t{now[n] != write.before[n]} << n;
    use(wave.index_in_group, pc, write.access, changed);
  }
}

void LdsCheck::Group::use(uint32_t wave, uint64_t pc, const LdsAccess& access, uint32_t changed) {
  for (unsigned n = 0; n < access.bytes; ++n) {
    LdsByte& byte = bytes_[access.offset + n];
    if (access.use != LdsUse::kWrite && !byte.is_written())
      report(wave, pc, access, Kind::kUninitialised, [&] { return describe_unwritten(access); });
    const LdsByte::Verdict verdict =
        byte.use(wave, access.use, phase_, (changed >> n & 1) != 0, pc);
    if (verdict.order == LdsByte::Order::kNone) continue;
    const Kind kind = verdict.order == LdsByte::Order::kMatters ? Kind::kRace : Kind::kEqualUses;
    report(wave, pc, access, kind, [&] { return describe(verdict); });
  }
}

void LdsCheck::Group::report(uint32_t wave, uint64_t pc, const LdsAccess& access, Kind kind,
                             const std::function<std::string()>& what) {
  if (is_note(kind) && !check_.notes_) return;
  const uint64_t object = context_.dispatch->kernel_object;
  if (!check_.is_new(object, pc, kind)) return;
  check_.report_(
      fmt::format("halyard vgpu: check: {}{} in {} on {}\n"
                  "  work-group {}, wave {}, lane {} {} {} byte{} at LDS offset {}, {}\n"
                  "  pc {}: {}\n",
                  is_note(kind) ? "note: " : "", text_of(kind), kernel_text(check_.names_, object),
                  context_.target->processor, place_, wave, access.lane, verb(access.use),
                  access.bytes, access.bytes == 1 ? "" : "s", access.offset, what(),
                  offset_text(context_, pc), context_.program->text(pc)));
}

const char* LdsCheck::text_of(Kind kind) {
  switch (kind) {
    case Kind::kUninitialised:
      return "read of uninitialised LDS";
    case Kind::kOutside:
      return "access outside LDS";
    case Kind::kRace:
      return "race on LDS";
    case Kind::kEqualUses:
      return "equal values on LDS without a barrier";
    case Kind::kOutOfAnyLds:
      return "read beyond any LDS";
  }
  return "mistake";
}

std::unique_ptr<isa::GroupObserver> LdsCheck::watch(const isa::WorkGroup& group,
                                                    const isa::GroupContext& context) {
  return std::make_unique<Group>(*this, group, context);
}

bool LdsCheck::is_new(uint64_t kernel_object, uint64_t pc, Kind kind) {
  const std::lock_guard lock(mutex_);
  return reported_.emplace(kernel_object, pc, kind).second;
}

}  // namespace halyard::vgpu::observe
