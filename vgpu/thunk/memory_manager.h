// Memory of the virtual machine: VRAM, system memory and registered user memory, and which GPU may
// touch what.
//
// Allocated memory has one address. Registered memory has the host's and, on GPUs, another one
// (vgpu/isa/registered.h); functions that take an address take either.
#pragma once

#include <hsakmttypes.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "vgpu/thunk/address_table.h"
#include "vgpu/thunk/host_memory.h"

namespace halyard::vgpu::thunk {

// Hears of memory that GPUs may come to use. Called with the manager's lock held.
class MemoryObserver {
 public:
  struct Memory {
    uint64_t begin = 0;  // pages of the host's addresses
    uint64_t size = 0;
    uint32_t node = 0;  // whose they are; 0 for the host's
    HsaMemFlags flags = {};
    bool own_mapping = false;  // the manager's, not memory of the program's that it has registered
    bool is_shared = false;    // another process has it too
  };

  virtual ~MemoryObserver() = default;
  virtual void added(const Memory& memory) = 0;
  virtual void removed(uint64_t begin) = 0;
  // Another process may have it from now on.
  virtual void shared(uint64_t begin) = 0;
};

// The thunk gives memory to the kernel driver as coherent unless it is coarse-grained, and as
// uncached if it is for kernel arguments (ROCT-Thunk-Interface 5.2.3, src/fmm.c).
inline bool is_coarse_grained(const HsaMemFlags& flags) {
  return flags.ui32.CoarseGrain != 0 && flags.ui32.Uncached == 0;
}

class MemoryManager {
 public:
  // `vram[i]`: bytes of VRAM of node i; 0 for a CPU node. `hidden`: nodes without a large BAR,
  // whose VRAM the host may not ask to see. (It could: what GPUs see, the process has at one
  // address.)
  explicit MemoryManager(std::vector<uint64_t> vram, std::set<uint32_t> hidden = {});

  // From now on a page that is nobody's lies behind each new allocation, so that no two are
  // neighbours. Before the first allocation.
  void keep_apart() { gap_ = 4096; }
  // Before the first allocation. Null: nobody.
  void set_observer(MemoryObserver* observer) { observer_ = observer; }

  HSAKMT_STATUS allocate(uint32_t node, uint64_t size, HsaMemFlags flags, void** address);
  HSAKMT_STATUS free(void* address);

  // Registrations of one range are counted, and different ranges may overlap.
  HSAKMT_STATUS register_user(void* address, uint64_t size, HsaMemFlags flags);
  HSAKMT_STATUS register_to_nodes(void* address, uint64_t size, const uint32_t* nodes,
                                  uint64_t count);
  HSAKMT_STATUS deregister(void* address);

  // Null `nodes`: every GPU. An allocation's nodes are replaced by the given ones; each mapping of
  // a registration is undone by one unmap.
  // `gpu_address`: where GPUs see it then; may be null.
  HSAKMT_STATUS map(void* address, uint64_t size, const uint32_t* nodes, uint64_t count,
                    uint64_t* gpu_address = nullptr);
  HSAKMT_STATUS unmap(void* address);

  // Other processes: a handle of the allocation that begins at `address`, for import() in any
  // process of this user's. The memory lives until it is freed here and by all who imported it.
  HSAKMT_STATUS share(const void* address, uint64_t size, HsaSharedMemoryHandle& handle);
  // Makes the memory of a handle this process's too, at an address of its own. It is given back by
  // deregister(), and does not count against the VRAM of this process. Null `nodes`: any may map
  // it.
  HSAKMT_STATUS import(const HsaSharedMemoryHandle& handle, const uint32_t* nodes, uint64_t count,
                       void** address, uint64_t* size);

  HSAKMT_STATUS query(const void* address, HsaPointerInfo* info);
  HSAKMT_STATUS set_user_data(const void* address, void* data);

  // Makes memory of the thunk itself (mailboxes, doorbells) accessible to every GPU.
  void add_internal(const void* address, uint64_t size);
  void remove_internal(const void* address, uint64_t size);

  const AddressTable& gpu_memory(uint32_t node) const { return *gpus_[node]; }
  AddressTable& mutable_gpu_memory(uint32_t node) { return *gpus_[node]; }
  // Everything that is allocated or registered, mapped or not.
  const AddressTable& all_memory() const { return all_; }
  // What of it is coarse-grained, at the addresses that GPUs have for it.
  const AddressTable& coarse_memory() const { return coarse_; }
  AddressTable& mutable_all_memory() { return all_; }
  AddressTable& mutable_coarse_memory() { return coarse_; }
  // Null: nobody.
  MemoryObserver* observer() const { return observer_; }

  uint64_t vram_used(uint32_t node) const;

 private:
  // A node set that stays where it is for ever: HsaPointerInfo hands out pointers into it.
  using Nodes = const std::vector<uint32_t>*;

  struct Allocation {
    uint64_t begin = 0;
    uint64_t size = 0;
    uint64_t gap = 0;  // bytes behind it that are reserved as well
    uint32_t node = 0;
    HsaMemFlags flags = {};
    void* user_data = nullptr;
    Nodes mapped = nullptr;
    Nodes registered = nullptr;
    Segment segment;        // none: cannot be shared
    bool imported = false;  // from another process, or by a handle of this one's
    // Scratch is mapped piece by piece: begin of a piece and its size.
    std::map<uint64_t, uint64_t> pieces;
  };

  struct Registration {
    uint64_t begin = 0;  // as the user gave it
    uint64_t size = 0;
    HsaMemFlags flags = {};
    void* user_data = nullptr;
    uint32_t count = 1;     // times registered
    uint32_t mappings = 0;  // times mapped
    Nodes mapped = nullptr;
    Nodes registered = nullptr;
    uint64_t first_page() const;  // of the host
    uint64_t end_page() const;
  };

  Nodes intern(std::vector<uint32_t> nodes);
  void add(Allocation allocation);
  bool is_vram(const Allocation& allocation) const;
  void remove(std::map<uint64_t, Allocation>::iterator it);
  Allocation* allocation_at(uint64_t address);
  Registration* registration_of(uint64_t address, uint64_t size);  // that exact range
  Registration* registration_at(uint64_t address);                 // any that holds the address
  bool nodes_from(const uint32_t* nodes, uint64_t count, std::vector<uint32_t>& result) const;
  void cover(const std::vector<uint32_t>& nodes, uint64_t begin, uint64_t end);
  void uncover(const std::vector<uint32_t>& nodes, uint64_t begin, uint64_t end);
  HSAKMT_STATUS map_allocation(Allocation& allocation, uint64_t address, uint64_t size,
                               std::vector<uint32_t> nodes);
  void drop_mapping(Registration& registration);

  mutable std::mutex mutex_;
  std::vector<uint64_t> vram_;
  std::set<uint32_t> hidden_;
  uint64_t gap_ = 0;  // bytes behind each allocation
  MemoryObserver* observer_ = nullptr;
  std::vector<uint64_t> vram_used_;
  uint32_t segments_ = 0;                            // of this process's own allocations
  std::vector<std::unique_ptr<AddressTable>> gpus_;  // by node; null for a CPU node
  AddressTable all_;
  AddressTable coarse_;
  std::map<uint64_t, Allocation> allocations_;           // by begin
  std::multimap<uint64_t, Registration> registrations_;  // by begin
  uint64_t largest_registration_ = 0;
  std::set<std::vector<uint32_t>> node_sets_;
};

}  // namespace halyard::vgpu::thunk
