// Runs one wave for a while.
#pragma once

#include "vgpu/isa/program.h"
#include "vgpu/isa/wave.h"

namespace halyard::vgpu::isa {

// Pages that a thread has looked up: valid until code is invalidated or the thread rests.
class PageCache {
 public:
  explicit PageCache(Program& program) : program_(program), reader_(program) {}

  const CodePage* find(uint64_t pc) {
    const uint64_t generation = program_.generation();
    if (generation != generation_) {
      clear();
      generation_ = generation;
    }
    const uint64_t base = pc & ~(CodePage::kBytes - 1);
    for (const CodePage* page : pages_) {
      if (page && page->base == base && pc >= page->valid_begin && pc + 4 <= page->valid_end)
        return page;
    }
    const CodePage* const page = program_.page(pc);
    if (page) {
      pages_[next_] = page;
      next_ = (next_ + 1) % kPages;
    }
    return page;
  }
  // Between the turns of work-groups, when the thread holds no instruction.
  void rest() {
    if (reader_.rest()) clear();
  }

 private:
  void clear() {
    for (const CodePage*& page : pages_) page = nullptr;
  }

  static constexpr unsigned kPages = 8;
  Program& program_;
  Program::Reader reader_;
  const CodePage* pages_[kPages] = {};
  unsigned next_ = 0;
  uint64_t generation_ = 0;
};

enum class Stop : uint8_t {
  kBudget,   // all of the budget is used
  kYield,    // the wave sleeps
  kWait,     // pc is behind an s_waitcnt
  kBarrier,  // pc is behind the s_barrier
  kEnd,
  kFault,  // pc is at the instruction; wave.fault says what
};

// Executes up to `budget` instructions and takes those it executed off it. Stops at waits for
// memory if `stop_at_waits`.
Stop run_wave(Wave& wave, Program& program, PageCache& pages, uint32_t& budget,
              bool stop_at_waits = false);

}  // namespace halyard::vgpu::isa
