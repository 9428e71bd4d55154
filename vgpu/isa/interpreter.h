// Runs one wave for a while.
#pragma once

#include "vgpu/isa/program.h"
#include "vgpu/isa/wave.h"

namespace halyard::vgpu::isa {

// Pages that a thread has looked up for its dispatch: valid until code is invalidated or the
// dispatch ends.
class PageCache {
 public:
  const CodePage* find(Program& program, uint64_t pc) {
    const uint64_t generation = program.generation();
    if (generation != generation_) {
      clear();
      generation_ = generation;
    }
    const uint64_t base = pc & ~(CodePage::kBytes - 1);
    for (const CodePage* page : pages_) {
      if (page && page->base == base && pc >= page->valid_begin && pc + 4 <= page->valid_end)
        return page;
    }
    const CodePage* const page = program.page(pc);
    if (page) {
      pages_[next_] = page;
      next_ = (next_ + 1) % kPages;
    }
    return page;
  }
  void clear() {
    for (const CodePage*& page : pages_) page = nullptr;
  }

 private:
  static constexpr unsigned kPages = 8;
  const CodePage* pages_[kPages] = {};
  unsigned next_ = 0;
  uint64_t generation_ = 0;
};

enum class Stop : uint8_t {
  kBudget,   // all of the budget is used
  kYield,    // the wave sleeps
  kBarrier,  // pc is behind the s_barrier
  kEnd,
  kFault,  // pc is at the instruction; wave.fault says what
};

// Executes up to `budget` instructions and takes those it executed off it.
Stop run_wave(Wave& wave, Program& program, PageCache& pages, uint32_t& budget);

}  // namespace halyard::vgpu::isa
