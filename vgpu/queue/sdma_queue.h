// The packet processor of an SDMA queue (gfx9): copies, fills, fences, atomics, polls, time stamps.
//
// Indices count bytes and never wrap; the ring's size is a power of two. A packet that is not
// understood, or that touches memory which the GPU may not touch, stops the queue and is reported
// as a memory fault, since an SDMA queue has no error signal of its own.
#pragma once

#include <cstdint>
#include <string>

#include "vgpu/queue/hardware_queue.h"
#include "vgpu/shared_memory_access.h"

namespace halyard::vgpu::queue {

struct SdmaRing {
  const uint32_t* base = nullptr;
  uint64_t size = 0;  // bytes, a power of two
  uint64_t* write_index = nullptr;
  uint64_t* read_index = nullptr;
};

class SdmaQueue final : public HardwareQueue {
 public:
  SdmaQueue(const Device& device, uint32_t id, const SdmaRing& ring);

 protected:
  void run() override;

 private:
  enum class Step { kDone, kIncomplete, kStopped };

  uint32_t word(uint64_t index) const {
    const SharedMemoryAccess host_sees;
    return ring_.base[(at_ / 4 + index) & word_mask_];
  }
  uint64_t address(uint64_t index) const { return word(index) | (uint64_t{word(index + 1)} << 32); }

  // Carries out the packet at at_, of which `available` bytes are there, and sets `size`, bytes.
  Step process(uint64_t available, uint64_t& size);
  Step copy(uint32_t header);
  Step copy_rectangle(uint32_t header);
  Step fill(uint32_t header);
  template <class Function>
  void move(uint64_t from, uint64_t to, uint64_t bytes, Function&& function);
  Step write_value(uint64_t address, uint64_t value, uint32_t bytes);
  Step poll(uint32_t header);
  Step atomic(uint32_t header);
  bool check(uint64_t address, uint64_t size, bool is_write, const char* what);
  Step unknown(const std::string& text);

  const SdmaRing ring_;
  const uint64_t word_mask_;
  RangeCache source_;
  RangeCache target_;
  RangeCache runtime_;
  uint64_t at_ = 0;  // byte index of the current packet
};

}  // namespace halyard::vgpu::queue
