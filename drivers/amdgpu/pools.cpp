#include "drivers/amdgpu/pools.h"

#include "drivers/amdgpu/device.h"

namespace halyard::amdgpu {

namespace {

// Of a heap, what free blocks of its pool may keep from others.
constexpr uint64_t kKeptShare = 4;

}  // namespace

class Pools::Source final : public PoolSource {
 public:
  Source(DeviceImpl& device, MemoryType type) : device_(device), type_(type) {}

  Status allocate(uint64_t size, uint64_t alignment, const MemoryWait& wait,
                  PoolBlock* block) override {
    Allocation made;
    HALYARD_RETURN_IF_ERROR(device_.memory().allocate(type_, size, alignment, wait, &made));
    block->base = made.base;
    block->address = reinterpret_cast<uint64_t>(made.pointer);
    block->size = size;
    block->alignment = alignment;
    block->taken = made.taken;
    return {};
  }
  PointState wait_until(const std::function<PointState()>& evaluate, Deadline deadline) override {
    return device_.wait_until(evaluate, deadline);
  }
  void free(const PoolBlock& block) override {
    device_.memory().free(type_, block.base, block.taken);
  }
  bool reached(const PoolPoint& point) override {
    return reinterpret_cast<const QueueCore*>(point.queue)->is_through(point.index + 1);
  }
  bool comes(const PoolPoint& point) override {
    return !reinterpret_cast<const QueueCore*>(point.queue)->loss().abandoned();
  }

 private:
  DeviceImpl& device_;
  MemoryType type_;
};

Pools::Pools(DeviceImpl& device) {
  for (size_t i = 0; i < kTypes; ++i) {
    const auto type = static_cast<MemoryType>(i);
    sources_[i] = std::make_unique<Source>(device, type);
    const uint64_t share = device.memory().pool(type).size / kKeptShare;
    const uint64_t keep = device.options().pool_keep_bytes.value_or(share);
    groups_[i] = std::make_unique<PoolGroup>(*sources_[i], keep, device.options().pool_limit_bytes);
  }
}

Pools::~Pools() = default;

}  // namespace halyard::amdgpu
