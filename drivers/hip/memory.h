// A device's memory: what is allocated from it, and what is still in use by work in flight after
// its owner has let go of it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "drivers/hip/stream.h"
#include "hal/buffer.h"
#include "hal/device.h"
#include "hal/status.h"
#include "plugins/sdk/driver_device.h"
#include "plugins/sdk/heap_usage.h"
#include "plugins/sdk/pool_group.h"
#include "plugins/sdk/retired.h"
#include "plugins/sdk/spare_staging.h"

namespace halyard::hip {

class DeviceImpl;

// An allocation, as HIP made it.
struct Block {
  void* base = nullptr;
  uint64_t size = 0;  // bytes
};

// Any thread may use any method.
class Memory final : public DeviceHeaps {
 public:
  explicit Memory(DeviceImpl& device);
  // After release_all().
  ~Memory();

  void open();

  HeapInfo info(MemoryType type) const override;
  // Takes back what is due first.
  HeapStatistics statistics(MemoryType type) const override;
  PoolGroup& pools(MemoryType type) { return *pools_[static_cast<size_t>(type)]; }

  // RESOURCE_EXHAUSTED names size, limit and use; if `wait` allows it only after a wait for memory
  // that comes back, if that would do. `*pointer` is aligned as asked for.
  Status allocate(MemoryType type, uint64_t size, uint64_t alignment, const MemoryWait& wait,
                  Block* block, void** pointer);
  // At once; for what no work uses.
  void free(MemoryType type, const Block& block);
  // The same of managed memory, which counts in no heap.
  Status allocate_managed(uint64_t size, uint64_t alignment, Block* block, void** pointer);
  void free_managed(const Block& block);
  // Device memory without an address, in whole granules of reserved buffers. It waits for nothing.
  Status allocate_piece(uint64_t size, hipMemGenericAllocationHandle_t* piece);
  void free_piece(uint64_t size, hipMemGenericAllocationHandle_t piece);

  // Host memory that copies read from. Given back by a caller that has not used it
  // (return_staging), or under a stream's lock, for when that is done with the operation that is
  // being put onto it.
  Result<Block> take_staging(uint64_t size);
  // Without a stream's lock: takes back what is due if there is much of it.
  void tidy();
  void return_staging(const Block& block);
  void give_staging(const Block& block, Stream& stream);

  // Frees the block as soon as all is done that is in flight now on streams with one of these bits
  // (Users); at once, if nothing is.
  void retire(uint64_t users, MemoryType type, const Block& block);
  // The same for a block of a pool's.
  void retire(uint64_t users, MemoryType type, const PoolBlock& block,
              std::shared_ptr<QueuePool> pool);
  // The same for anything else.
  void retire(uint64_t users, std::function<void()> release);
  // … for what must not happen while HIP still refers to the memory.
  void retire_when_let_go(uint64_t users, std::function<void()> release);
  // Releases what is due.
  void collect();
  // Has a thread do that now and then, until nothing is retired: for what somebody waits for who
  // may call nothing of the device's meanwhile.
  void collect_in_time();
  // collect(), and gives back to HIP what that takes without waiting. Whether nothing is left but
  // what HIP does not take any more: then this may be destroyed.
  bool release_all();

 private:
  static constexpr size_t kTypes = 3;

  struct Use {
    std::vector<StreamPoint> points;
    bool let_go = false;  // waits for HIP to let go, too
    bool in_use() const;
  };
  using Retired = RetiredList<Use>::Entry;
  // What the pool of one type allocates from.
  class Source final : public PoolSource {
   public:
    Source(Memory& memory, MemoryType type) : memory_(memory), type_(type) {}
    Status allocate(uint64_t size, uint64_t alignment, const MemoryWait& wait,
                    PoolBlock* block) override;
    PointState wait_until(const std::function<PointState()>& evaluate, Deadline deadline) override;
    void free(const PoolBlock& block) override;
    bool reached(const PoolPoint& point) override;
    bool reached_if_asked(const PoolPoint& point) override;
    bool comes(const PoolPoint& point) override;

   private:
    Memory& memory_;
    MemoryType type_;
  };

  // `release` gives back as many bytes of that type.
  void retire(uint64_t users, MemoryType type, uint64_t bytes, std::function<void()> release);
  void keep(Retired retired);
  struct Search;
  Status try_allocate(MemoryType type, uint64_t size, uint64_t rounded, Block* block,
                      bool is_for_kernel);
  // From the blocks that are parked, or from HIP. MemoryWait::is_for_kernel: from HIP only.
  hipError_t raw_allocate(MemoryType type, uint64_t size, void** base, bool is_for_kernel = false);
  void raw_free(MemoryType type, const Block& block, bool is_managed = false);
  bool unpark(MemoryType type, uint64_t size, void** base);
  // Whether freeing memory of this type may wait for ever.
  bool blocks(MemoryType type) const;
  struct Parked;
  void free_block(const Parked& parked) const;
  // Whether no work that was in flight when the block was parked may use it, and hipFree would not
  // wait for ever.
  bool can_free(const Parked& parked) const;
  // Under parked_mutex_: frees what can be freed. hipFree waits for later work.
  void free_parked();
  // Under parked_mutex_: frees what hipFree waits for nothing for.
  void free_parked_at_once();
  // Whether HIP may still keep some that was freed.
  bool lingers();
  uint64_t heap_size(MemoryType type) const;
  HeapUsage& usage(MemoryType type) const { return usage_[static_cast<size_t>(type)]; }

  DeviceImpl& device_;
  uint64_t host_bytes_ = 0;
  mutable std::array<HeapUsage, kTypes> usage_;
  SpareStaging staging_;
  RetiredList<Use> retired_;
  // Of collect_in_time(). The thread may outlive the memory.
  struct Collector {
    std::mutex mutex;
    Memory* memory;        // under mutex; null: gone
    bool running = false;  // under mutex
  };
  const std::shared_ptr<Collector> collector_;
  // hipFree waits for all work of the device, of which some may have no end. So what is freed while
  // there is some is kept until that is done, or an allocation wants as much; for good, if a device
  // is lost.
  struct Parked {
    MemoryType type = MemoryType::kDevice;
    Block block;
    std::vector<StreamPoint> before;  // was in flight
    bool is_managed = false;
  };
  std::mutex parked_mutex_;
  std::vector<Parked> parked_;  // under parked_mutex_
  uint64_t parked_bytes_ = 0;   // under parked_mutex_
  // HIP 5.2.3 keeps what is freed until it has let go of the commands that used it.
  std::vector<StreamPoint> lingering_;  // under parked_mutex_
  std::vector<Source> sources_;
  std::array<std::unique_ptr<PoolGroup>, kTypes> pools_;
};

}  // namespace halyard::hip
