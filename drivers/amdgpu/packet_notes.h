// PacketNotes: what is remembered of the packets in a queue's ring: the function, for the message
// should the packet fail, and whether it raises an interrupt.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "drivers/amdgpu/ring.h"
#include "hal/executable.h"

namespace halyard::amdgpu {

// Any thread may use any method.
class PacketNotes {
 public:
  // `capacity` is the ring's, a power of two.
  explicit PacketNotes(uint32_t capacity) : notes_(new Note[capacity]), mask_(capacity - 1) {}

  // Before the packet is published. `function` is null for what is not a kernel.
  void note(uint64_t index, const Function* function, bool interrupt) {
    Note& note = notes_[index & mask_];
    note.function.store(function, std::memory_order_relaxed);
    note.tag.store(slot_tag(index, interrupt), std::memory_order_release);
  }
  // What the packet's slot holds (ring.h): the packet may not be noted yet, or no longer.
  uint64_t tag(uint64_t index) const {
    return notes_[index & mask_].tag.load(std::memory_order_acquire);
  }
  // Whether it is noted and raises an interrupt.
  bool raises_interrupt(uint64_t index) const { return tag(index) == slot_tag(index, true); }
  // Null if it is not noted: a slot that is not written yet still has what was there before, which
  // may be gone.
  const Function* function(uint64_t index) const {
    if (tag_index(tag(index)) != index) return nullptr;
    return notes_[index & mask_].function.load(std::memory_order_relaxed);
  }

 private:
  struct Note {
    std::atomic<const Function*> function{nullptr};
    std::atomic<uint64_t> tag{kUnusedTag};
  };

  std::unique_ptr<Note[]> notes_;
  uint64_t mask_;
};

}  // namespace halyard::amdgpu
