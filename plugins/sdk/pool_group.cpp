#include "plugins/sdk/pool_group.h"

#include <utility>

#include "plugins/sdk/driver_device.h"

namespace halyard {

PoolStatistics statistics_of(const QueuePool& pool) {
  const PoolFigures figures = pool.figures();
  PoolStatistics statistics;
  statistics.reserved_bytes = figures.reserved_bytes;
  statistics.used_bytes = figures.used_bytes;
  statistics.peak_reserved_bytes = figures.peak_reserved_bytes;
  statistics.allocations = figures.allocations + figures.reuses;
  statistics.reuses = figures.reuses;
  return statistics;
}

std::shared_ptr<QueuePool> PoolGroup::make(const PoolInfo& info) {
  const uint64_t keep = info.keep_bytes == PoolInfo::kKeepDefault ? keep_bytes_ : info.keep_bytes;
  const std::shared_ptr<QueuePool> pool(new QueuePool(source_, keep, info.limit_bytes),
                                        [this](QueuePool* ended) { end(ended); });
  const std::lock_guard lock(mutex_);
  std::erase_if(others_, [](const auto& other) { return other.expired(); });
  others_.push_back(pool);
  return pool;
}

void PoolGroup::end(QueuePool* pool) {
  pool->trim(0);
  own_.adopt(*pool);
  delete pool;
  own_.shrink();
}

void PoolGroup::trim_all() {
  own_.trim(0);
  std::vector<std::shared_ptr<QueuePool>> others;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& weak : others_) {
      if (std::shared_ptr<QueuePool> other = weak.lock()) others.push_back(std::move(other));
    }
  }
  for (const auto& other : others) other->trim(0);
}

QueuePool::Spare PoolGroup::spare() {
  QueuePool::Spare sum = own_.spare();
  // The last reference may be one of these, and end() gives memory back: not under the lock.
  std::vector<std::shared_ptr<QueuePool>> others;
  {
    const std::lock_guard lock(mutex_);
    if (others_.empty()) return sum;
    for (const auto& weak : others_) {
      if (std::shared_ptr<QueuePool> other = weak.lock()) others.push_back(std::move(other));
    }
  }
  for (const auto& other : others) {
    const QueuePool::Spare spare = other->spare();
    sum.bytes += spare.bytes;
    sum.has_unused |= spare.has_unused;
  }
  return sum;
}

DriverPool::DriverPool(DriverDevice& device, const PoolInfo& info, std::shared_ptr<QueuePool> pool)
    : MemoryPoolBase(device, info),
      driver_device_(device),
      keep_alive_(Ref<Device>::retain(&device)),
      pool_(std::move(pool)) {}

void DriverPool::destroy() noexcept {
  // The pool's end needs the device.
  const Ref<Device> device = keep_alive_;
  delete this;
}

Status DriverPool::do_statistics(PoolStatistics* statistics) const {
  driver_device_.look_at_work();
  *statistics = statistics_of(*pool_);
  return {};
}

Status DriverPool::do_trim(uint64_t keep_bytes) {
  driver_device_.look_at_work();
  pool_->trim(keep_bytes);
  return {};
}

}  // namespace halyard
