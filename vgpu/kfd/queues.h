// Queues by the id that the kernel driver gives them, and what a program maps through /dev/kfd to
// use them: doorbells and registers.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "vgpu/kfd/abi.h"
#include "vgpu/machine/machine.h"
#include "vgpu/queue/aql_queue.h"
#include "vgpu/queue/hardware_queue.h"

namespace halyard::vgpu::kfd {

// Functions that can fail return 0 or an errno value below 0. Any thread.
class Queues {
 public:
  // Of one process and GPU: as many as the thunk maps for gfx9, 8 bytes each.
  static constexpr uint64_t kDoorbellBytes = 8192;
  static constexpr uint64_t kMostDoorbells = kDoorbellBytes / sizeof(uint64_t);

  // The machine outlives this.
  explicit Queues(machine::Machine& machine);
  ~Queues();
  Queues(const Queues&) = delete;
  Queues& operator=(const Queues&) = delete;

  int create(uint32_t node, abi::CreateQueue& arguments);
  int destroy(uint32_t id);
  int update(const abi::UpdateQueue& arguments);
  // As Linux: what is set of the GPU's first compute units.
  int set_units(uint32_t id, const std::vector<uint32_t>& mask);
  bool has(uint32_t id) const;
  bool any() const;

  // What a program passes to mmap().
  static uint64_t doorbells_offset(uint32_t node);
  static uint64_t registers_offset(uint32_t node);
  void* map(void* address, uint64_t bytes, int protection, int flags, uint64_t offset);
  void unmapped_by_host(uint64_t begin, uint64_t bytes);

 private:
  // The doorbell goes first: it wakes the queue.
  struct Queue {
    uint32_t node = 0;
    std::unique_ptr<queue::HardwareQueue> hardware;
    std::unique_ptr<machine::Doorbell> doorbell;
  };
  // Where the program has a GPU's doorbells.
  struct DoorbellPages {
    uint64_t begin = 0;    // 0: nowhere yet
    bool several = false;  // in several places: which of them is rung is not known
  };

  int check(uint32_t node, abi::CreateQueue& arguments) const;
  int check_ring(uint64_t base, uint32_t& bytes) const;
  bool is_known(uint64_t address, uint64_t bytes) const;
  queue::AqlQueueMemory memory_of(const abi::CreateQueue& arguments) const;
  void doorbells_mapped(uint32_t node, uint64_t begin);
  void forget_doorbells(const DoorbellPages& pages);
  void place_doorbell(uint32_t id, Queue& queue);

  machine::Machine& machine_;
  mutable std::mutex mutex_;
  std::map<uint32_t, Queue> queues_;
  std::vector<DoorbellPages> doorbell_pages_;  // by node
  uint32_t next_id_ = 1;
};

}  // namespace halyard::vgpu::kfd
