#include "vgpu/observe/lds_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <vector>

#include "vgpu/isa/target.h"
#include "vgpu/observe/lds_access.h"

namespace halyard::vgpu::observe {
namespace {}  // namespace

class LdsCheck::Group final : public isa::GroupObserver {
 public:
  Group(LdsCheck& check, const isa::WorkGroup& group, const isa::GroupContext& context)
      : check_(check),
        context_(context),
        place_(group_text(group)),
        bytes_(context.dispatch->group_segment_size) {}

  void before(const isa::Wave& wave, const isa::Instruction& instruction) override {
    for_each_lds_access(wave, instruction, [&](const LdsAccess& access) { look_at(wave, access); });
  }
  void after(const isa::Wave&, const isa::Instruction&, uint64_t, isa::Outcome) override {}
  void barrier() override { ++phase_; }

 private:
  // What became of a byte of LDS. All but `written` counts since the last barrier only.
  struct Byte {
    uint32_t phase = 0;
    uint16_t readers = 0;  // waves, one bit each; a work-group has at most 16
    uint16_t writers = 0;
    uint16_t updaters = 0;  // with atomics
    bool written = false;
    uint8_t user = 0;      // the last wave to change it, or the first to read it if none did
    uint64_t user_pc = 0;  // and where
  };

  void look_at(const isa::Wave& wave, const LdsAccess& access);
  static uint16_t rivals(const Byte& byte, LdsUse use, uint16_t self);
  std::string describe(const Byte& byte, uint16_t rivals) const;
  std::string describe_unwritten(const LdsAccess& access) const;
  // `what` makes the text, which is needed only if the place is new.
  void report(const isa::Wave& wave, const LdsAccess& access, Mistake mistake,
              const std::function<std::string()>& what);

  LdsCheck& check_;
  const isa::GroupContext& context_;
  const std::string place_;
  std::vector<Byte> bytes_;
  uint32_t phase_ = 1;
};

// The other waves whose use of the byte since the last barrier does not go with this one.
uint16_t LdsCheck::Group::rivals(const Byte& byte, LdsUse use, uint16_t self) {
  unsigned waves = byte.writers;
  if (use != LdsUse::kAtomic) waves |= byte.updaters;
  if (use != LdsUse::kRead) waves |= byte.readers;
  return static_cast<uint16_t>(waves & ~unsigned{self});
}

std::string LdsCheck::Group::describe(const Byte& byte, uint16_t rivals) const {
  const bool knows_where = (rivals >> byte.user & 1) != 0;
  const unsigned wave = knows_where ? byte.user : static_cast<unsigned>(std::countr_zero(rivals));
  std::string text = fmt::format("which wave {} has used", wave);
  if (knows_where) {
    text += fmt::format(" at {} ({})", offset_text(context_, byte.user_pc),
                        context_.program->text(byte.user_pc));
  }
  return text + " with no barrier between";
}

// A wide read can include unused padding, so the report gives the bytes.
std::string LdsCheck::Group::describe_unwritten(const LdsAccess& access) const {
  const auto first = bytes_.begin() + static_cast<ptrdiff_t>(access.offset);
  const auto last = first + static_cast<ptrdiff_t>(access.bytes);
  const auto unwritten = [](const Byte& byte) { return !byte.written; };
  const auto count = static_cast<uint64_t>(std::count_if(first, last, unwritten));
  const std::string nobody = "no wave has written since the work-group started";
  if (count == access.bytes) return "which " + nobody;
  return fmt::format("{} of which, from {} on, {}", count,
                     std::find_if(first, last, unwritten) - bytes_.begin(), nobody);
}

void LdsCheck::Group::look_at(const isa::Wave& wave, const LdsAccess& access) {
  if (access.offset + access.bytes > bytes_.size()) {
    report(wave, access, Mistake::kOutside, [&] {
      return fmt::format("outside the {} bytes of LDS that the dispatch asks for", bytes_.size());
    });
    return;
  }
  const auto self = static_cast<uint16_t>(1u << wave.index_in_group);
  for (uint64_t at = access.offset; at < access.offset + access.bytes; ++at) {
    Byte& byte = bytes_[at];
    if (byte.phase != phase_) {
      byte.readers = byte.writers = byte.updaters = 0;
      byte.phase = phase_;
    }
    if (access.use != LdsUse::kWrite && !byte.written) {
      report(wave, access, Mistake::kUninitialised, [&] { return describe_unwritten(access); });
    }
    if (const uint16_t others = rivals(byte, access.use, self); others != 0)
      report(wave, access, Mistake::kRace, [&] { return describe(byte, others); });
    const bool changes = access.use != LdsUse::kRead;
    if (changes || (byte.readers | byte.writers | byte.updaters) == 0) {
      byte.user = static_cast<uint8_t>(wave.index_in_group);
      byte.user_pc = wave.pc;
    }
    if (access.use == LdsUse::kRead) byte.readers |= self;
    if (access.use == LdsUse::kWrite) byte.writers |= self;
    if (access.use == LdsUse::kAtomic) byte.updaters |= self;
    byte.written = byte.written || changes;
  }
}

void LdsCheck::Group::report(const isa::Wave& wave, const LdsAccess& access, Mistake mistake,
                             const std::function<std::string()>& what) {
  const uint64_t object = context_.dispatch->kernel_object;
  if (!check_.is_new(object, wave.pc, mistake)) return;
  const char* name = "race on LDS";
  if (mistake == Mistake::kUninitialised) name = "read of uninitialised LDS";
  if (mistake == Mistake::kOutside) name = "access outside LDS";
  check_.report_(
      fmt::format("halyard vgpu: check: {} in {} on {}\n"
                  "  work-group {}, wave {}, lane {} {} {} byte{} at LDS offset {}, {}\n"
                  "  pc {}: {}\n",
                  name, kernel_text(check_.names_, object), context_.target->processor, place_,
                  wave.index_in_group, access.lane, verb(access.use), access.bytes,
                  access.bytes == 1 ? "" : "s", access.offset, what(),
                  offset_text(context_, wave.pc), context_.program->text(wave.pc)));
}

std::unique_ptr<isa::GroupObserver> LdsCheck::watch(const isa::WorkGroup& group,
                                                    const isa::GroupContext& context) {
  return std::make_unique<Group>(*this, group, context);
}

bool LdsCheck::is_new(uint64_t kernel_object, uint64_t pc, Mistake mistake) {
  const std::lock_guard lock(mutex_);
  return reported_.emplace(kernel_object, pc, mistake).second;
}

}  // namespace halyard::vgpu::observe
