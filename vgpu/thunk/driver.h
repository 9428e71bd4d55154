// The virtual kernel driver: the machine's nodes, memory, events and queues, behind the hsaKmt*
// functions.
//
// There is one per process, made by the first hsaKmtOpenKFD and never destroyed: threads of the
// vendor's runtime outlive main. Nothing here assumes a number of GPUs.
#pragma once

#include <hsakmttypes.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "vgpu/isa/engine.h"
#if HALYARD_VGPU_ENGINE
#include "vgpu/observe/observers.h"
#include "vgpu/thunk/coherence_check.h"
#endif
#include "vgpu/queue/hardware_queue.h"
#include "vgpu/thunk/block_map.h"
#include "vgpu/thunk/doorbells.h"
#include "vgpu/thunk/event_table.h"
#include "vgpu/thunk/memory_manager.h"
#include "vgpu/thunk/profile.h"

namespace halyard::vgpu::thunk {

inline constexpr uint32_t kCpuNode = 0;

class Driver {
 public:
  // Null, with a message, if an engine cannot be made.
  static std::unique_ptr<Driver> create(const Profile& profile, std::string& error);
  ~Driver();

  const Profile& profile() const { return profile_; }
  uint32_t node_count() const { return 1 + static_cast<uint32_t>(profile_.gpus.size()); }
  // The GPU of a node, or null for the CPU node and nodes that do not exist.
  const GpuProfile* gpu(uint32_t node) const;
  MemoryManager& memory() { return memory_; }
  EventTable& events() { return events_; }
  // The program's own blocks; null but in the checking mode.
  BlockMap* blocks() { return blocks_.get(); }
  queue::Clock clock(uint32_t node) const;
  // What queues see of a GPU, which the node must be.
  const queue::Device& device(uint32_t node) const { return nodes_[node - 1].device; }

  // `priority`: HSA_QUEUE_PRIORITY_MINIMUM to HSA_QUEUE_PRIORITY_MAXIMUM.
  HSAKMT_STATUS create_queue(uint32_t node, HSA_QUEUE_TYPE type, uint32_t percentage, int priority,
                             void* ring, uint64_t bytes, HsaQueueResource& resource);
  HSAKMT_STATUS update_queue(HSA_QUEUEID id, uint32_t percentage, int priority);
  HSAKMT_STATUS destroy_queue(HSA_QUEUEID id);
  HSAKMT_STATUS set_cu_mask(HSA_QUEUEID id, uint32_t bits, const uint32_t* mask);
  bool has_queue(HSA_QUEUEID id);

  Doorbells& doorbells() { return doorbells_; }

  // Where the program flushes a GPU's HDP, for the coherence check.
  void watch_window(uint32_t node, uint32_t* hdp_flush);

  // Writes what observers write once, at the process's end.
  void finish();

 private:
  struct Node {
    std::unique_ptr<CheckedMemory> checked;  // null but in the checking mode
    std::unique_ptr<isa::Engine> engine;
    queue::Device device;
  };

  // A queue and what belongs to it; the queue goes first.
  struct Queue {
    // SDMA indices, which the thunk supplies, on lines of their own.
    struct Indices {
      alignas(64) uint64_t write = 0;
      alignas(64) uint64_t read = 0;
    };
    std::unique_ptr<Doorbell> doorbell;
    std::unique_ptr<Indices> indices;
    std::unique_ptr<queue::HardwareQueue> hardware;
    std::vector<uint32_t> cu_mask;
  };

  explicit Driver(const Profile& profile);
  bool watch(std::string& error);

  Profile profile_;
  MemoryManager memory_;
  EventTable events_;
  std::unique_ptr<BlockMap> blocks_;
#if HALYARD_VGPU_ENGINE
  std::unique_ptr<observe::Observers> observers_;
  std::unique_ptr<CoherenceCheck> coherence_;  // null but in that checking mode
#endif
  std::vector<Node> nodes_;  // by GPU, not by node number
  Doorbells doorbells_;
  std::mutex mutex_;  // queues_
  std::map<HSA_QUEUEID, Queue> queues_;
  uint32_t next_queue_ = 1;  // ROCR takes 0 for "none"
};

// hsaKmtOpenKFD and hsaKmtCloseKFD; opens are counted.
HSAKMT_STATUS open_driver();
HSAKMT_STATUS close_driver();
// The open driver, or null.
Driver* driver();
// Chooses the profile; fails once the driver exists with another one.
bool configure(const std::string& profile, std::string& error);
// The profile that was chosen, or would be if the driver was opened now.
bool chosen_profile(Profile& profile, std::string& error);

}  // namespace halyard::vgpu::thunk
