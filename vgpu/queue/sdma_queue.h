// The packet processor of an SDMA queue (gfx9): copies, fills, writes, fences, atomics, polls, time
// stamps, and indirect buffers of them.
//
// Indices count bytes and never wrap; the ring's size is a power of two. A packet stops the queue
// if it is unknown, has a bit set outside the fields of this generation of SDMA (sdma_packets.h),
// or accesses memory that the GPU may not access. The queue reports a memory fault then, because an
// SDMA queue has no error signal.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/queue/hardware_queue.h"
#include "vgpu/queue/sdma_packets.h"
#include "vgpu/shared_memory_access.h"

namespace halyard::vgpu::queue {

class SdmaQueue final : public HardwareQueue {
 public:
  SdmaQueue(const Device& device, uint32_t id, const Ring& ring);

 protected:
  void run() override;

 private:
  enum class Step { kDone, kIncomplete, kStopped };

  // An access that the GPU may not make.
  struct Refused {
    uint64_t address = 0;
    uint64_t size = 0;
    bool is_write = false;
    const char* what = nullptr;  // null: none
    uint64_t fault = 0;          // the first byte that it may not access
  };

  // Where packets are read: dword `first` of a ring of `mask` + 1, or of a buffer.
  struct Stream {
    const uint32_t* base = nullptr;
    uint64_t first = 0;
    uint64_t mask = ~uint64_t{0};
  };

  uint32_t word(uint32_t index) const { return packet_[index]; }
  uint64_t address(uint32_t index) const { return word(index) | (uint64_t{word(index + 1)} << 32); }

  // Reads the packet that begins there, of which `available` dwords are there, into packet_ and
  // data_, and sets `size`, dwords. The host may write it at any time.
  Step fetch(const Stream& stream, uint64_t available, uint64_t& size);
  // Carries it out.
  Step execute();
  Step indirect();
  Step conditional();
  Step trap();
  Step poll();
  Step atomic();
  Step fence();
  Step timestamp();
  // sdma_copies.cpp
  Step copy();
  Step copy_rectangle();
  Step fill();
  Step write();
  // Carries out `put(target, offset, bytes)` piece by piece. Pieces begin at whole dwords.
  template <class Put>
  Step produce(uint64_t to, uint64_t bytes, const char* what, Put&& put);
  Step copy_bytes(uint64_t from, uint64_t to, uint64_t bytes, const char* what);
  uint64_t copy_piece(uint64_t from, uint64_t to, uint64_t bytes, bool is_backward,
                      const char* what);
  Step check(RangeCache& memory, uint64_t address, uint64_t bytes, bool is_write, const char* what);

  // While `function` runs, memory stays what it is: who unmaps it waits. It looks for what it
  // accesses by find(), and returns without an access if that gives null; the queue stops then.
  template <class Function>
  Step access(Function&& function);
  // Where the process has the bytes, or null. `what` is for the report.
  uint8_t* find(RangeCache& memory, uint64_t address, uint64_t size, bool is_write,
                const char* what);
  // The same for a word, which must be aligned, and may also be memory of the runtime's.
  uint8_t* find_word(RangeCache& memory, uint64_t address, uint32_t bytes, bool is_write,
                     const char* what);
  // Carries out what a piece of a copy, or of a fill (`from` is 0), does, and lets an observer see
  // it.
  template <class Function>
  void observed(uint64_t from, uint64_t to, uint64_t bytes, Function&& function);
  Step unknown(const std::string& text);
  Step stop_refused();
  // Where the packet is, for reports.
  std::string place() const;

  RangeCache source_;
  RangeCache target_;
  RangeCache runtime_;
  uint64_t at_ = 0;  // byte index of the ring's current packet
  // Of the indirect buffer that the packet names; 0: none. And the dword in it.
  uint64_t buffer_ = 0;
  uint64_t buffer_at_ = 0;
  uint64_t skip_ = 0;  // dwords behind the packet that are not carried out
  Refused refused_;
  const sdma::Packet* kind_ = nullptr;
  uint32_t packet_[sdma::kMaximumWords] = {};  // its dwords, as they were when they were checked
  std::vector<uint32_t> data_;                 // of a WRITE
};

template <class Function>
SdmaQueue::Step SdmaQueue::access(Function&& function) {
  refused_ = {};
  {
    const SharedMemoryAccess in_flight;
    function();
  }
  return refused_.what == nullptr ? Step::kDone : stop_refused();
}

}  // namespace halyard::vgpu::queue
