#include "vgpu/coherence/findings.h"

#include <fmt/format.h>

#include "vgpu/coherence/reliances.h"

namespace halyard::vgpu::coherence {

const char* text_of(Mistake mistake) {
  switch (mistake) {
    case Mistake::kStaleRead:
      return "stale read";
    case Mistake::kUnreleasedRead:
      return "read of unreleased data";
    case Mistake::kUnreleasedWrite:
      return "overwrite of unreleased data";
    case Mistake::kUnreleasedFree:
      return "unreleased data in freed memory";
    case Mistake::kInFlight:
      return "read of a store in flight";
    case Mistake::kOverlap:
      return "unordered packets";
    case Mistake::kKernarg:
      return "kernel arguments overwritten";
    case Mistake::kCode:
      return "stale code";
    case Mistake::kHostWindow:
      return "host write in flight";
  }
  return "mistake";
}

void Findings::tell(const Finding& finding) const {
  const Reliance* const relied_on = finding.relied_on;
  std::string text = fmt::format("halyard vgpu: check: {}{} in {}\n  {}\n  {}\n  missing: {}\n",
                                 relied_on != nullptr ? "note: " : "", text_of(finding.mistake),
                                 finding.where, finding.access, finding.history, finding.cure);
  if (relied_on != nullptr)
    text +=
        fmt::format("  the runtime relies on it: {} ({})\n", relied_on->what, relied_on->source);
  if (!finding.place.empty()) text += fmt::format("  {}\n", finding.place);
  report_(text);
}

}  // namespace halyard::vgpu::coherence
