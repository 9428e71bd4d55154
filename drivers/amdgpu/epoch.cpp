#include "drivers/amdgpu/epoch.h"

#include <sched.h>

#include <optional>

namespace halyard::amdgpu {

uint64_t Epoch::completed() const {
  const uint64_t counted = signals_.completions() + edges_.done();
  // Read after the signals: once they have been tampered with to release waiters, this is set.
  if (loss_.lost()) [[unlikely]]
    return loss_.completed();
  return with_uncounted(counted);
}

uint64_t Epoch::completed_of_lost() const {
  const std::optional<uint64_t> counted = signals_.completions_of_lost();
  if (!counted.has_value()) return loss_.completed();
  return with_uncounted(*counted + edges_.done());
}

PointState Epoch::state_of(uint64_t index) const {
  if (completed() > index) return PointState::kReached;
  return loss_.lost() ? PointState::kFailed : PointState::kPending;
}

hsa_signal_value_t Epoch::interrupt_value(uint64_t index) const {
  for (uint32_t attempt = 0; !loss_.lost(); ++attempt) {
    // While the number of interrupts stands still, it is that of the packets that are done and
    // raise one, wherever in that time the other two numbers were read.
    uint64_t interrupts = signals_.interrupt_completions();
    const uint64_t counted = signals_.polled_completions() + interrupts + edges_.done();
    if (signals_.interrupt_completions() != interrupts || loss_.lost()) continue;
    const uint64_t done = with_uncounted(counted);
    if (done > index) return EpochSignals::interrupt_value(interrupts);
    uint64_t at = done;
    for (; at <= index; ++at) {
      const uint64_t tag = notes_.tag(at);
      if (tag_index(tag) != at) {
        // Of an uncounted run, of which nothing is noted; otherwise not written yet by another
        // thread, or done meanwhile and its slot used again.
        UncountedRun run;
        if (!uncounted_.find(at, &run)) break;
        at = run.counting() - 1;
        continue;
      }
      interrupts += tag_interrupts(tag) ? 1 : 0;
    }
    if (at > index) return EpochSignals::interrupt_value(interrupts);
    if (attempt > 64) sched_yield();
  }
  return EpochSignals::interrupt_value(0);
}

uint64_t Epoch::reserve_batch(uint32_t leading, const BatchLayout& layout, const Program* program) {
  const auto lock = uncounted_.lock();
  const uint64_t first = ring_.reserve(static_cast<uint32_t>(leading + layout.slots()));
  for (uint32_t i = 0; i < layout.chunks; ++i) {
    uncounted_.add({.first = first + leading + layout.slot(i),
                    .count = layout.size(i),
                    .program = program,
                    .at = layout.begin(i)});
  }
  return first;
}

}  // namespace halyard::amdgpu
