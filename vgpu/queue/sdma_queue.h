// The packet processor of an SDMA queue (gfx9): copies, fills, fences, atomics, polls, time stamps.
//
// Indices count bytes and never wrap; the ring's size is a power of two. A packet stops the queue
// if it is unknown, has a bit set outside the fields of this generation of SDMA (sdma_packets.h),
// or accesses memory that the GPU may not access. The queue reports a memory fault then, because an
// SDMA queue has no error signal.
#pragma once

#include <cstdint>
#include <string>

#include "vgpu/queue/hardware_queue.h"
#include "vgpu/queue/sdma_packets.h"
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

  // A dword of the ring, counted from at_. The host may write it at any time.
  uint32_t ring_word(uint64_t index) const {
    const SharedMemoryAccess host_sees;
    return ring_.base[(at_ / 4 + index) & word_mask_];
  }
  uint32_t word(uint32_t index) const { return packet_[index]; }
  uint64_t address(uint32_t index) const { return word(index) | (uint64_t{word(index + 1)} << 32); }

  // Carries out the packet at at_, of which `available` bytes are there, and sets `size`, bytes.
  Step process(uint64_t available, uint64_t& size);
  Step copy();
  Step copy_rectangle();
  Step fill();
  template <class Function>
  void move(uint64_t from, uint64_t to, uint64_t bytes, Function&& function);
  Step write_value(uint64_t address, uint64_t value, uint32_t bytes);
  Step poll();
  Step atomic();
  // Where the process has the bytes. Null if the GPU may not touch them: the queue has stopped.
  uint8_t* find(RangeCache& memory, uint64_t address, uint64_t size, bool is_write,
                const char* what);
  // The same for a word, which must be aligned, and may also be memory of the runtime's.
  uint8_t* find_word(RangeCache& memory, uint64_t address, uint32_t bytes, bool is_write,
                     const char* what);
  void refuse(uint64_t address, uint64_t size, bool is_write, const char* what);
  Step unknown(const std::string& text);

  const SdmaRing ring_;
  const uint64_t word_mask_;
  RangeCache source_;
  RangeCache target_;
  RangeCache runtime_;
  uint64_t at_ = 0;                            // byte index of the current packet
  uint32_t packet_[sdma::kMaximumWords] = {};  // its dwords, as they were when they were checked
};

}  // namespace halyard::vgpu::queue
