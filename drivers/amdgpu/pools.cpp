#include "drivers/amdgpu/pools.h"

#include "drivers/amdgpu/device.h"

namespace halyard::amdgpu {

namespace {

// Of a heap, what free blocks of its pool may keep from others.
constexpr uint64_t kKeptShare = 4;

uint64_t id_of(const QueueCore& core) {
  return reinterpret_cast<uint64_t>(&core);
}

}  // namespace

class Pools::Source final : public PoolSource {
 public:
  Source(DeviceImpl& device, MemoryType type) : device_(device), type_(type) {}

  Status allocate(uint64_t size, uint64_t alignment, Patience patience, PoolBlock* block) override {
    Allocation made;
    HALYARD_RETURN_IF_ERROR(device_.memory().allocate(type_, size, alignment, patience, &made));
    block->base = made.base;
    block->address = reinterpret_cast<uint64_t>(made.pointer);
    block->size = size;
    block->alignment = alignment;
    block->taken = made.taken;
    return {};
  }
  void free(const PoolBlock& block) override {
    device_.memory().free(type_, block.base, block.taken);
  }
  bool reached(const PoolPoint& point) override {
    return reinterpret_cast<const QueueCore*>(point.queue)->is_through(point.index + 1);
  }
  bool comes(const PoolPoint& point) override {
    return !reinterpret_cast<const QueueCore*>(point.queue)->abandoned();
  }

 private:
  DeviceImpl& device_;
  MemoryType type_;
};

Pools::Pools(DeviceImpl& device) {
  for (size_t i = 0; i < kTypes; ++i) {
    const auto type = static_cast<MemoryType>(i);
    sources_[i] = std::make_unique<Source>(device, type);
    const uint64_t keep = device.memory().pool(type).size / kKeptShare;
    pools_[i] = std::make_unique<QueuePool>(*sources_[i], keep);
  }
}

Pools::~Pools() = default;

Status Pools::acquire(MemoryType type, uint64_t size, uint64_t alignment, const QueueCore& core,
                      PoolBlock* block, PoolPoint* after) {
  return pool(type).acquire(size, alignment, id_of(core), block, after);
}

PoolPoint Pools::point(const QueueCore& core, uint64_t index) {
  return {id_of(core), index};
}

PoolStatistics Pools::statistics(MemoryType type) const {
  const PoolFigures figures = pool(type).figures();
  PoolStatistics statistics;
  statistics.reserved_bytes = figures.reserved_bytes;
  statistics.used_bytes = figures.used_bytes;
  statistics.peak_reserved_bytes = figures.peak_reserved_bytes;
  statistics.allocations = figures.allocations + figures.reuses;
  statistics.reuses = figures.reuses;
  return statistics;
}

}  // namespace halyard::amdgpu
