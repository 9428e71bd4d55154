#include "vgpu/observe/lds_in_flight.h"

#include <algorithm>
#include <utility>

namespace halyard::vgpu::observe {

bool LdsOperation::conflicts(const LdsAccess& access) const {
  if (use == access.use && use != LdsUse::kWrite) return false;
  const uint64_t end = access.offset + access.bytes;
  return std::any_of(pieces.begin(), pieces.end(), [&](const Piece& piece) {
    return access.offset < piece.end && piece.begin < end;
  });
}

void LdsInFlight::add(const isa::Wave& wave, const isa::Instruction& instruction, Ticket ticket) {
  make_room(ticket.kind);
  if (count_ == slots_.size()) slots_.emplace_back();
  LdsOperation& operation = slots_[count_];
  operation.pc = wave.pc;
  operation.ticket = ticket;
  operation.pieces.clear();
  for_each_lds_access(wave, instruction, [&](const LdsAccess& access) {
    operation.use = access.use;
    const uint64_t end = access.offset + access.bytes;
    auto& pieces = operation.pieces;
    if (!pieces.empty() && pieces.back().end == access.offset) {
      pieces.back().end = end;
    } else if (pieces.empty() || pieces.back().begin != access.offset || pieces.back().end != end) {
      pieces.push_back({access.offset, end});
    }
  });
  if (!operation.pieces.empty()) ++count_;
}

void LdsInFlight::make_room(Kind kind) {
  const unsigned most = WaitCounts::kMost[static_cast<unsigned>(counter_of(kind))];
  if (count_ < most) return;
  const auto first = slots_.begin();
  const auto last = first + static_cast<ptrdiff_t>(count_);
  const auto is_of_kind = [&](const LdsOperation& operation) {
    return operation.ticket.kind == kind;
  };
  if (std::count_if(first, last, is_of_kind) < static_cast<ptrdiff_t>(most)) return;
  const auto oldest = std::find_if(first, last, is_of_kind);
  std::rotate(oldest, oldest + 1, last);
  --count_;
}

void LdsInFlight::settle(const WaitCounters& counters) {
  size_t kept = 0;
  for (size_t i = 0; i < count_; ++i) {
    if (!counters.outstanding(slots_[i].ticket)) continue;
    if (kept != i) std::swap(slots_[kept], slots_[i]);
    ++kept;
  }
  count_ = kept;
}

}  // namespace halyard::vgpu::observe
