// A device's memory: which pools there are, what is allocated from them, and what is still in use
// by work in flight after its owner has let go of it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "drivers/amdgpu/hsa.h"
#include "hal/buffer.h"
#include "hal/device.h"
#include "hal/status.h"
#include "plugins/sdk/driver_device.h"
#include "plugins/sdk/heap_usage.h"
#include "plugins/sdk/pool.h"
#include "plugins/sdk/retired.h"
#include "plugins/sdk/spare_staging.h"

namespace halyard::amdgpu {

class DeviceImpl;
class Memory;

struct Pool {
  hsa_amd_memory_pool_t handle = {};
  bool exists = false;
  bool host = false;            // lies in the host's memory
  uint64_t size = 0;            // bytes
  uint64_t max_allocation = 0;  // bytes
  uint64_t granule = 4096;      // bytes
  uint64_t alignment = 4096;    // bytes, of every allocation
};

// A pool in the device's memory.
struct MappedPoolFacts {
  bool fine_grained = false;
  bool visible = false;       // the runtime lets the host have it
  bool synchronised = false;  // there is a register for it (HostWindow)
};

// Whether it is offered as memory that the host maps.
constexpr bool is_mappable(const MappedPoolFacts& facts) {
  return facts.fine_grained && facts.visible && facts.synchronised;
}

// What a device's agents have. Pure data, so that choosing among it can be tested.
struct PoolSet {
  Pool device;         // device-local, coarse-grained
  Pool device_mapped;  // device-local, fine-grained, accessible to the host
  Pool host;           // the host's, fine-grained
  Pool kernarg;        // the host's, for kernel arguments
};

// Host memory that the device reads from, on loan. Returned when it is destroyed.
class Staging {
 public:
  Staging() = default;
  Staging(Memory& memory, void* data, uint64_t size) : memory_(&memory), data_(data), size_(size) {}
  Staging(Staging&& other) noexcept { *this = std::move(other); }
  Staging& operator=(Staging&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Staging();

  void* data() const { return data_; }
  uint64_t size() const { return size_; }  // bytes

 private:
  Memory* memory_ = nullptr;
  void* data_ = nullptr;
  uint64_t size_ = 0;
};

struct Allocation {
  void* base = nullptr;     // what is freed
  void* pointer = nullptr;  // aligned as asked for
  uint64_t taken = 0;       // bytes, as they count against the heap
};

// Any thread may use any method.
class Memory final : public DeviceHeaps {
 public:
  explicit Memory(DeviceImpl& device) : device_(device) {}
  ~Memory();

  Status open();

  HeapInfo info(MemoryType type) const override;
  HeapStatistics statistics(MemoryType type) const override { return usage(type).statistics(); }
  const Pool& pool(MemoryType type) const;

  // RESOURCE_EXHAUSTED names size, limit and use; if `wait` allows it only after a wait for memory
  // that comes back, if that would do.
  Status allocate(MemoryType type, uint64_t size, uint64_t alignment, const MemoryWait& wait,
                  Allocation* made);
  // At once; for what no work uses.
  void free(MemoryType type, void* base, uint64_t taken);
  // Device memory without an address, in whole granules of reserved buffers.
  Status allocate_piece(uint64_t size, VmemHandle* piece);
  void free_piece(uint64_t size, VmemHandle piece);
  Status allocate_kernarg(uint64_t size, void** pointer);
  void free_kernarg(void* pointer);

  Result<Staging> stage(uint64_t size);
  void unstage(void* data, uint64_t size);

  // What `release` gives back to a heap, if anything.
  struct Freed {
    MemoryType type = MemoryType::kDevice;
    uint64_t bytes = 0;
    // It gives memory to the runtime that an L2 may have to write back. What kernels wrote there
    // has to be released to the system before: the runtime may give the same bytes to others at
    // once, who write them past that L2.
    bool is_cached = false;
  };
  // Calls `release` as soon as all is done that is in flight now on queues with one of these bits
  // (Users), of this device and `peers`; at once, if nothing is.
  void retire(uint64_t users, std::function<void()> release, Freed freed,
              std::vector<Ref<Device>> peers);
  void retire(uint64_t users, std::function<void()> release) {
    retire(users, std::move(release), {}, {});
  }
  // The same for the packets of a queue before `end`.
  void retire_behind(class QueueCore& core, uint64_t end, std::function<void()> release);
  // How much is retired.
  size_t retired() { return retired_.size(); }
  // Releases what is due. True if something is left.
  bool collect();

 private:
  // Of a queue, until packet `end` - 1 is done.
  struct Point {
    class QueueCore* core = nullptr;
    uint64_t end = 0;
    bool to_release = false;  // no packet before `end` does yet what Freed::is_cached asks for
  };
  struct Use {
    std::vector<Point> points;
    std::vector<Ref<Device>> peers;  // whose queues are among them
    bool in_use() const;
    void advance();
  };

  // Releases it when `use` is over.
  void keep(Use use, std::function<void()> release, Freed freed);
  Status find_pools();
  struct Search;
  Status try_allocate(MemoryType type, uint64_t size, const RoundedSize& rounded, void** base);
  Status raw_allocate(const Pool& pool, uint64_t size, void** pointer);
  HeapUsage& usage(MemoryType type) const { return usage_[static_cast<size_t>(type)]; }

  DeviceImpl& device_;
  PoolSet pools_;
  mutable std::array<HeapUsage, 3> usage_;
  SpareStaging staging_;
  RetiredList<Use> retired_;
};

}  // namespace halyard::amdgpu
