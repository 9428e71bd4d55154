// The virtual machine: its GPUs with their engines, what they may touch, events and doorbells. The
// kernel driver (vgpu/kfd) stands before it.
//
// There is one per process, made when the first device is opened and never destroyed: threads of
// the vendor's runtime outlive main. Nothing here assumes a number of GPUs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "vgpu/isa/engine.h"
#if HALYARD_VGPU_ENGINE
#include "vgpu/explore/moved_access.h"
#include "vgpu/machine/coherence_check.h"
#include "vgpu/machine/host_data_watch.h"
#include "vgpu/observe/observers.h"
#include "vgpu/races/race_check.h"
#endif
#include "vgpu/machine/block_map.h"
#include "vgpu/machine/doorbells.h"
#include "vgpu/machine/event_table.h"
#include "vgpu/machine/memory_map.h"
#include "vgpu/machine/profile.h"
#include "vgpu/machine/retry_memory.h"
#include "vgpu/queue/device.h"

namespace halyard::vgpu::machine {

inline constexpr uint32_t kCpuNode = 0;

class Machine {
 public:
  // Null, with a message, if an engine cannot be made.
  static std::unique_ptr<Machine> create(const Profile& profile, std::string& error);

  const Profile& profile() const { return profile_; }
  uint32_t node_count() const { return 1 + static_cast<uint32_t>(profile_.gpus.size()); }
  // The GPU of a node, or null for the CPU node and nodes that do not exist.
  const GpuProfile* gpu(uint32_t node) const;
  MemoryMap& memory() { return memory_; }
  EventTable& events() { return events_; }
  // The program's own blocks; null unless a check wants to know them.
  BlockMap* blocks() { return blocks_.get(); }
  queue::Clock clock(uint32_t node) const;
  // What queues see of a GPU, which the node must be.
  const queue::Device& device(uint32_t node) const { return nodes_[node - 1].device; }

  Doorbells& doorbells() { return doorbells_; }

  // Where the program flushes a GPU's HDP, for the coherence check.
  void watch_window(uint32_t node, uint32_t* hdp_flush);

  // Writes what observers write once, at the process's end.
  void finish();

 private:
  struct Node {
    std::unique_ptr<RetryMemory> retried;    // null unless the GPU retries page faults
    std::unique_ptr<CheckedMemory> checked;  // null but in the checking mode
    std::unique_ptr<isa::Engine> engine;
    std::unique_ptr<const std::vector<uint32_t>> unit_places;
    queue::Device device;
  };

  explicit Machine(const Profile& profile);
  bool watch(std::string& error);
  bool watch_order(std::string& error);
  // Where the host has what a GPU sees at an address.
  uint64_t host_address(uint32_t node, uint64_t address);

  Profile profile_;
  MemoryMap memory_;
  EventTable events_;
  std::unique_ptr<BlockMap> blocks_;
  bool checks_bounds_ = false;
#if HALYARD_VGPU_ENGINE
  std::unique_ptr<observe::Observers> observers_;
  std::unique_ptr<CoherenceCheck> coherence_;  // null but in that checking mode
  std::unique_ptr<races::RaceCheck> races_;    // the same
  std::unique_ptr<observe::OutputFile> moved_file_;
  std::unique_ptr<explore::MovedAccess> moved_;  // null but for `halyard vgpu explore`
  std::unique_ptr<observe::OutputFile> data_file_;
  std::unique_ptr<HostDataWatch> data_;  // the same
#endif
  std::vector<Node> nodes_;  // by GPU, not by node number
  Doorbells doorbells_;
};

// The process's machine, created on first use; null, with a report, if that fails.
Machine* open_machine();
// The one that has been made, or null. A child of fork has none until it opens its own.
Machine* machine();
// Chooses the profile; fails once the machine exists with another one.
bool configure(const std::string& profile, std::string& error);
// The profile that was chosen, or would be if the machine was made now.
bool chosen_profile(Profile& profile, std::string& error);

}  // namespace halyard::vgpu::machine
