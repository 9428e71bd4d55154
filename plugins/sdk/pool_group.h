// PoolGroup: a device's queue-ordered pools of one memory type. One is the device's own; others are
// made with a limit and a policy of their own (Device::create_pool).
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "hal/contract/objects.h"
#include "hal/device.h"
#include "hal/memory_pool.h"
#include "hal/ref.h"
#include "plugins/sdk/pool.h"

namespace halyard {

PoolStatistics statistics_of(const QueuePool& pool);

// Any thread may use any method.
class PoolGroup {
 public:
  // The device's own pool keeps `keep_bytes`, and has at most `limit_bytes` (0: any number).
  // `source` outlives this.
  PoolGroup(PoolSource& source, uint64_t keep_bytes, uint64_t limit_bytes = 0)
      : source_(source), keep_bytes_(keep_bytes), own_(source, keep_bytes, limit_bytes) {}
  PoolGroup(const PoolGroup&) = delete;
  PoolGroup& operator=(const PoolGroup&) = delete;

  // What its pools allocate from.
  PoolSource& source() { return source_; }
  QueuePool& own() { return own_; }
  // Of own() it does not count references.
  std::shared_ptr<QueuePool> shared_own() { return {std::shared_ptr<void>(), &own_}; }
  // One with a policy of its own. What work still uses of it when its last reference goes becomes
  // own()'s; this outlives it.
  std::shared_ptr<QueuePool> make(const PoolInfo& info);

  // Of all pools: gives back what nothing uses.
  void trim_all();
  // Of all pools together.
  QueuePool::Spare spare();

 private:
  void end(QueuePool* pool);

  PoolSource& source_;
  const uint64_t keep_bytes_;
  QueuePool own_;
  std::mutex mutex_;
  std::vector<std::weak_ptr<QueuePool>> others_;  // under mutex_
};

class DriverDevice;

class DriverPool final : public driver::MemoryPoolBase {
 public:
  DriverPool(DriverDevice& device, const PoolInfo& info, std::shared_ptr<QueuePool> pool);

  const std::shared_ptr<QueuePool>& queue_pool() const { return pool_; }

 private:
  ~DriverPool() = default;
  void destroy() noexcept override;
  Status do_statistics(PoolStatistics* statistics) const override;
  Status do_trim(uint64_t keep_bytes) override;

  DriverDevice& driver_device_;
  const Ref<Device> keep_alive_;
  std::shared_ptr<QueuePool> pool_;
};

// The pool that an allocation is to be of.
inline std::shared_ptr<QueuePool> pool_for(const PoolOptions& options, PoolGroup& group) {
  if (options.pool == nullptr) return group.shared_own();
  return static_cast<DriverPool*>(options.pool)->queue_pool();
}

}  // namespace halyard
