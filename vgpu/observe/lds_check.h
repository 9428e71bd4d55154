// Finds three mistakes with LDS that hardware does not report:
//
// - a read of bytes that the work-group has not written;
// - an access outside the LDS of the dispatch;
// - a race: waves of one work-group use the same bytes with no barrier between them, at least one
//   of them writes, and the result depends on their order (lds_bytes.h).
//
// Two habits of code generators are notes, and reported only if they are asked for: waves that
// write the same value to the same bytes, and reads that are out of range on purpose, for their 0.
//
// Each is reported once for an instruction of a kernel, and the kernel continues. Waves that
// synchronise by other means than s_barrier (a flag in LDS on which one of them spins) look like a
// race.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "vgpu/observe/kernel_names.h"

namespace halyard::vgpu::observe {

class LdsCheck final : public isa::Observer {
 public:
  // Gets each finding as one block of text. Called on any thread.
  using Report = std::function<void(std::string_view)>;

  LdsCheck(KernelNames names, Report report, bool notes = false)
      : names_(std::move(names)), report_(std::move(report)), notes_(notes) {}

  void begin(const isa::GroupContext&) override {}
  void end(const isa::GroupContext&, const isa::DispatchResult&) override {}
  std::unique_ptr<isa::GroupObserver> watch(const isa::WorkGroup& group,
                                            const isa::GroupContext& context) override;

 private:
  class Group;
  enum class Kind : uint8_t { kUninitialised, kOutside, kRace, kEqualUses, kOutOfAnyLds };
  static const char* text_of(Kind kind);
  static bool is_note(Kind kind) { return kind == Kind::kEqualUses || kind == Kind::kOutOfAnyLds; }

  // False if this was reported before.
  bool is_new(uint64_t kernel_object, uint64_t pc, Kind kind);

  KernelNames names_;
  Report report_;
  const bool notes_;
  std::mutex mutex_;
  std::set<std::tuple<uint64_t, uint64_t, Kind>> reported_;
};

}  // namespace halyard::vgpu::observe
