// What of the process's memory is the virtual machine's, and which GPU may touch what. The kernel
// driver (vgpu/kfd) keeps it; packet processors and engines look at it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "vgpu/machine/address_table.h"

namespace halyard::vgpu::machine {

// Hears of memory that GPUs may come to use. Called with the kernel driver's lock held.
class MemoryObserver {
 public:
  struct Memory {
    uint64_t begin = 0;  // pages of the host's addresses
    uint64_t size = 0;
    uint32_t node = 0;            // whose they are; 0 for the host's
    bool coarse_grained = false;  // neither coherent nor uncached
    bool own_mapping = false;     // for GPUs: not memory of the program's that it has registered
    bool is_shared = false;       // another process has it too
  };

  virtual ~MemoryObserver() = default;
  virtual void added(const Memory& memory) = 0;
  virtual void removed(uint64_t begin) = 0;
  // As removed(), but the memory is still there: the driver has written back and invalidated the
  // caches, to change how they treat it, and adds its parts anew.
  virtual void remapped(uint64_t begin) = 0;
  // Another process may have it from now on.
  virtual void shared(uint64_t begin) = 0;
};

// Makes memory accessible when a GPU touches it: the retry of a page fault (XNACK).
class RetryHandler {
 public:
  virtual ~RetryHandler() = default;
  // A GPU's map has nothing at `address`. Whether it has now. Called by the threads of engines and
  // queues, which may hold an observer's lock.
  virtual bool retry(uint32_t node, uint64_t address) = 0;
};

class MemoryMap {
 public:
  // Node 0 is the CPU's.
  explicit MemoryMap(uint32_t node_count) {
    for (uint32_t i = 1; i < node_count; ++i) gpus_.push_back(std::make_unique<AddressTable>());
  }

  // Call it before the first memory is added. Null: none.
  void set_observer(MemoryObserver* observer) { observer_ = observer; }
  MemoryObserver* observer() const { return observer_; }

  // Null: no GPU retries. It lives until another one is set.
  void set_retry_handler(RetryHandler* handler) {
    retry_handler_.store(handler, std::memory_order_release);
  }
  RetryHandler* retry_handler() const { return retry_handler_.load(std::memory_order_acquire); }

  // What a GPU may touch, at the addresses that it has for it.
  AddressTable& gpu_memory(uint32_t node) { return *gpus_[node - 1]; }
  // Everything that is allocated or registered, mapped or not, at the host's addresses.
  AddressTable& all_memory() { return all_; }
  const AddressTable& all_memory() const { return all_; }
  // What of it the driver itself has placed: not the program's own memory.
  AddressTable& placed_memory() { return placed_; }
  // What is coarse-grained, at the addresses that GPUs have for it.
  AddressTable& coarse_memory() { return coarse_; }

 private:
  std::vector<std::unique_ptr<AddressTable>> gpus_;  // by node, less 1
  AddressTable all_;
  AddressTable placed_;
  AddressTable coarse_;
  MemoryObserver* observer_ = nullptr;
  std::atomic<RetryHandler*> retry_handler_{nullptr};
};

}  // namespace halyard::vgpu::machine
