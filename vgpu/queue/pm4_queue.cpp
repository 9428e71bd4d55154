#include "vgpu/queue/pm4_queue.h"

#include <fmt/format.h>

#include <algorithm>

namespace halyard::vgpu::queue {

Pm4Queue::Pm4Queue(const Device& device, uint32_t id, const Ring& ring)
    : HardwareQueue(device, id, "pm4", ring), processor_(device_, id_, idle_, *this) {}

void Pm4Queue::run() {
  while (!stopping()) {
    offer_ring();
    const uint64_t write = write_index();
    if (at_ == write || paused() || !ring().exists()) {
      pause_for_doorbell();
      continue;
    }
    if (skip_ != 0) {
      const uint64_t skipped = std::min(skip_, write - at_);
      skip_ -= skipped;
      at_ += skipped;
      publish();
      continue;
    }
    if (!take(write - at_)) {
      pause_for_doorbell();
      continue;
    }
    idle_.reset();
    uint32_t skip = 0;
    const uint64_t address = reinterpret_cast<uintptr_t>(ring().base) + at_ % ring_words() * 4;
    const uint32_t words = pm4::Header(packet_[0]).words();
    const bool fits = words <= ring_words();
    const bool done = [&] {
      const RingReleased released(*this);
      return fits ? processor_.execute(packet_, address, skip)
                  : processor_.refuse(packet_, address,
                                      fmt::format("it has {} dwords, more than its ring", words));
    }();
    if (!done) return stop_with(processor_.failure());
    at_ += words;
    skip_ = skip;
    publish();
  }
}

bool Pm4Queue::take(uint64_t available) {
  packet_.assign(1, ring_word(at_));
  const pm4::Header header(packet_[0]);
  // What is wrong with the header is found without the rest.
  if (!pm4::wrong_header(pm4::Generation::kGfx9, header).empty()) return true;
  const uint32_t words = header.words();
  if (words > ring_words()) return true;  // it will never be there
  if (words > available) return false;
  if (header.opcode == pm4::kNop || header.type == 2) return true;
  for (uint32_t n = 1; n < words; ++n) packet_.push_back(ring_word(at_ + n));
  return true;
}

void Pm4Queue::publish() {
  __atomic_store_n(reinterpret_cast<uint32_t*>(ring().read_index),
                   static_cast<uint32_t>(at_ & (ring_words() - 1)), __ATOMIC_RELEASE);
}

void Pm4Queue::stop_with(const pm4::Failure& failure) {
  using Kind = pm4::Failure::Kind;
  if (failure.kind == Kind::kCancelled) return;
  set_failed();
  const std::string text =
      fmt::format("halyard vgpu: PM4 queue {} stopped at {}", id_, failure.text);
  const bool is_access =
      failure.kind == Kind::kAccess ||
      (failure.kind == Kind::kKernel && failure.fault == isa::Fault::Kind::kMemory);
  fail_with_memory_fault(is_access ? failure.access : MemoryFault{device_.node, 0, false, true},
                         text);
}

}  // namespace halyard::vgpu::queue
