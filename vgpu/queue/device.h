// What a packet processor needs of the virtual GPU that it belongs to; vgpu/machine provides it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "vgpu/isa/engine.h"
#include "vgpu/isa/memory.h"
#include "vgpu/queue/clock.h"
#include "vgpu/queue/idle.h"
#include "vgpu/queue/packet_observer.h"

namespace halyard::vgpu::queue {

// The upper halves of the flat addresses that lead to LDS and to scratch. Above 2^47, so that no
// address of the host's lies there.
inline constexpr uint32_t kSharedApertureHi = 1u << 16;
inline constexpr uint32_t kPrivateApertureHi = 2u << 16;

// An access that the GPU's page tables would refuse, or a queue that can make no progress.
struct MemoryFault {
  uint32_t node = 0;
  uint64_t address = 0;
  bool is_write = false;
  bool is_hang = false;       // not an access: the engine cannot go on
  bool is_protected = false;  // the GPU may read there
};

// The way from the GPU to host threads that sleep.
class Interrupts {
 public:
  virtual ~Interrupts() = default;
  // Sets an event. An id that names no event is ignored, as an unclaimed interrupt is. No system
  // call unless a thread sleeps on the event. The caller has published what the event is about
  // with a sequentially consistent operation.
  virtual void raise(uint32_t event_id) = 0;
  // An end-of-pipe interrupt of a PM4 queue. `context` names an event, of which a mailbox has been
  // written; where it does not, whichever events' mailboxes have been written are meant.
  virtual void raise_end_of_pipe(uint32_t context) = 0;
  // Passes a fault to the listeners of the memory event; false if there are none.
  virtual bool memory_fault(const MemoryFault& fault) = 0;
};

struct DeviceLimits {
  uint32_t group_segment_bytes = 64 * 1024;
  uint32_t work_group_size = 1024;
  uint32_t simds_per_cu = 4;
  // As isa::Target has them.
  uint32_t vgprs_per_simd = 256;
  uint32_t vgpr_granule = 4;
  uint32_t lds_granule = 512;
  uint32_t sdma_count_bits = 22;
  uint32_t xccs = 1;  // dies with compute units, each of which executes the packets of a queue
};

// One GPU, as its queues see it. Everything pointed to outlives every queue.
struct Device {
  uint32_t node = 1;
  const isa::AddressSpace* memory = nullptr;  // what kernels and copies may touch
  // What the packet processor itself may touch besides: signals in memory that was never mapped.
  const isa::AddressSpace* runtime_memory = nullptr;
  const std::vector<uint32_t>* unit_places = nullptr;  // isa::EngineOptions::unit_places, if known
  isa::Engine* engine = nullptr;  // null: dispatches complete without being executed
  Interrupts* interrupts = nullptr;
  PacketObserver* observer = nullptr;  // null: nobody watches
  Clock clock;
  DeviceLimits limits;
  IdlePolicy idle;
};

// The last range that a lookup found. One thread's; answers repeated questions without a search.
class RangeCache {
 public:
  explicit RangeCache(const isa::AddressSpace* space) : space_(space) {}

  // Where the process has the bytes, or null if they are not all accessible, or only to be read.
  uint8_t* find(uint64_t address, uint64_t size, bool is_write = false) {
    if (epoch_ != space_->epoch() || !range_.contains(address, size)) {
      epoch_ = space_->epoch();
      range_ = space_->find(address);
      if (!range_.contains(address, size) && !extend(address, size)) return nullptr;
    }
    return is_write && !range_.writable ? nullptr : range_.host(address);
  }
  bool accessible(uint64_t address, uint64_t size) { return find(address, size) != nullptr; }
  // How many of the bytes from `address` on lie in one range that may be accessed so.
  uint64_t reach(uint64_t address, uint64_t size, bool is_write) {
    if (find(address, 1, is_write) == nullptr) return 0;
    return std::min(size, range_.end - address);
  }
  const isa::MemoryRange& range() const { return range_; }

 private:
  // A GPU that retries page faults gets memory piece by piece, as each is touched.
  bool extend(uint64_t address, uint64_t size) {
    uint64_t end = 0;
    while (range_.end != end && !range_.contains(address, size)) {
      end = range_.end;
      if (!space_->find(end).contains(end, 1)) return false;
      range_ = space_->find(address);
    }
    return range_.contains(address, size);
  }

  const isa::AddressSpace* space_;
  isa::MemoryRange range_;
  uint64_t epoch_ = ~uint64_t{0};
};

// Writes one block of text to stderr in one piece, so that reports of several queues do not mix.
void report(std::string_view text);

}  // namespace halyard::vgpu::queue
