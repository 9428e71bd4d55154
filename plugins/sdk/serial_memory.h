// The memory of a SerialDevice: its heaps, and the buffers in them and over memory of others.
// Memory that the host sees is coherent; that of the heaps has one address for both.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "plugins/sdk/driver_device.h"
#include "plugins/sdk/heap_usage.h"
#include "plugins/sdk/host_maps.h"
#include "plugins/sdk/pool_lease.h"
#include "plugins/sdk/retired.h"
#include "plugins/sdk/serial_engine.h"
#include "plugins/sdk/serial_progress.h"

namespace halyard {

class SerialDevice;
class SerialMemory;

// What a driver says of a heap.
struct SerialHeapInfo : HeapInfo {
  SerialHeapInfo() { granule = 4096; }
  uint64_t alignment = 4096;  // bytes, that each allocation has by itself
};

// An allocation of the vendor's runtime, maybe somebody else's.
struct SerialAllocation {
  SerialPlace base;
  uint64_t size = 0;  // bytes
};

// A buffer's memory, as operations keep it.
struct SerialBlock {
  std::function<void()> release;
};

// Any thread may use any method.
class SerialHeap final : public PoolSource {
 public:
  SerialHeap(SerialMemory& memory, SerialDevice& device, const SerialHeapInfo& info);
  const SerialHeapInfo& info() const { return info_; }
  HeapUsage& usage() { return usage_; }
  PoolGroup& pools() { return pools_; }
  Status allocate(uint64_t size, uint64_t alignment, const MemoryWait& wait,
                  PoolBlock* block) override;
  void free(const PoolBlock& block) override;
  PointState wait_until(const std::function<PointState()>& evaluate, Deadline deadline) override {
    return SerialProgress::instance().wait_until(evaluate, deadline);
  }
  // A point's queue is the address of a SerialCore.
  bool reached(const PoolPoint& point) override;
  bool comes(const PoolPoint& point) override;

 private:
  SerialMemory& memory_;
  SerialDevice& device_;
  const SerialHeapInfo info_;
  HeapUsage usage_;
  PoolGroup pools_;
};

class SerialMemory final : public DeviceHeaps {
 public:
  explicit SerialMemory(SerialDevice& device) : device_(device) {}
  // Before anything is allocated.
  void add(const SerialHeapInfo& info);
  // No work uses anything any more.
  void close();
  // There is one.
  SerialHeap& heap(MemoryType type) const { return *heaps_of_[static_cast<size_t>(type)]; }
  bool has(MemoryType type) const { return heaps_of_[static_cast<size_t>(type)] != nullptr; }
  HeapInfo info(MemoryType type) const override { return heap(type).info(); }
  HeapStatistics statistics(MemoryType type) const override {
    return heap(type).usage().statistics();
  }

  // In use while an operation keeps the block.
  struct Use {
    std::shared_ptr<SerialBlock> block;
    bool in_use() const { return block.use_count() > 1; }
  };
  RetiredList<Use>& retired() { return retired_; }
  // A buffer's owner has let go of it.
  void retire(std::shared_ptr<SerialBlock> block, MemoryType type, uint64_t bytes);

 private:
  SerialDevice& device_;
  std::unique_ptr<SerialHeap> heaps_of_[3];
  RetiredList<Use> retired_;
};

class SerialBuffer final : public driver::BufferBase {
 public:
  static Result<Ref<Buffer>> allocate(SerialDevice& device, uint64_t size,
                                      const BufferOptions& options);
  // SerialWork of `queue` uses it from now on, and first waits for `*after` if that has a queue.
  static Result<Ref<Buffer>> from_pool(SerialDevice& device, uint64_t queue, uint64_t size,
                                       const PoolOptions& options, PoolPoint* after);

  // Device::import_buffer.
  static Result<Ref<Buffer>> import(SerialDevice& device, const ImportOptions& options);
  // Device::export_buffer.
  Status export_to(ExportedHandle* exported);

  SerialPlace at(uint64_t offset) const { return place_ + offset; }
  const std::shared_ptr<SerialBlock>& block() const {
    return parent_ ? of(*parent_).block_ : block_;
  }
  PoolLease& lease() { return lease_; }
  static bool may_be_given_back(Buffer& buffer) {
    SerialBuffer& own = of(buffer);
    return own.parent_ ? may_be_given_back(*own.parent_) : own.lease_.is_of_pool();
  }
  static SerialBuffer& of(Buffer& buffer) { return static_cast<SerialBuffer&>(buffer); }

 private:
  SerialBuffer(SerialDevice& device, uint64_t size, const SerialPlace& place);
  // find_allocation() finds it.
  void be_found(AllocationOwner owner);
  ~SerialBuffer() = default;
  void destroy() noexcept override;
  Status do_map(uint64_t offset, uint64_t length, MapAccess access, void** pointer) override;
  Status do_unmap(void* pointer) override { return maps_.unmap(pointer); }
  Status do_flush(uint64_t, uint64_t) override { return {}; }
  Status do_invalidate(uint64_t, uint64_t) override { return {}; }
  Status do_subspan(uint64_t offset, uint64_t length, Buffer** view) override;

  SerialDevice& device_;
  const Ref<Device> keep_alive_;
  const SerialPlace place_;
  Ref<Buffer> parent_;  // of a view
  std::shared_ptr<SerialBlock> block_;
  void* allocation_ = nullptr;  // the driver's, of a buffer that is one
  uint64_t taken_ = 0;          // bytes, that go back to the heap
  PoolLease lease_;
  HostMaps maps_;
};

}  // namespace halyard
