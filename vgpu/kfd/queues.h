// Queues by the id that the kernel driver gives them, and what a program maps through /dev/kfd to
// use them: doorbells and registers.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "vgpu/kfd/abi.h"
#include "vgpu/queue/hardware_queue.h"
#include "vgpu/thunk/driver.h"

namespace halyard::vgpu::kfd {

// Functions that can fail return 0 or an errno value below 0. Any thread.
class Queues {
 public:
  // Of one process and GPU: as many as the thunk maps for gfx9, 8 bytes each.
  static constexpr uint64_t kDoorbellBytes = 8192;

  // The driver outlives this.
  explicit Queues(thunk::Driver& driver);
  ~Queues();
  Queues(const Queues&) = delete;
  Queues& operator=(const Queues&) = delete;

  int create(uint32_t node, abi::CreateQueue& arguments);
  int destroy(uint32_t id);
  int update(uint32_t id, uint32_t percentage, uint32_t priority);
  bool has(uint32_t id) const;

  // What a program passes to mmap().
  static uint64_t doorbells_offset(uint32_t node);
  static uint64_t registers_offset(uint32_t node);
  void* map(void* address, uint64_t bytes, int protection, int flags, uint64_t offset);

 private:
  int check(uint32_t node, const abi::CreateQueue& arguments) const;

  thunk::Driver& driver_;
  mutable std::mutex mutex_;
  std::map<uint32_t, std::unique_ptr<queue::HardwareQueue>> queues_;
  uint32_t next_id_ = 1;
};

}  // namespace halyard::vgpu::kfd
