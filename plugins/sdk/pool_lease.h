// PoolLease: what a buffer has of a queue-ordered pool, its block; and PoolReturn, a dealloca that
// is on its way.
//
// From the call of dealloca on the buffer and its views have no bytes, so that validation refuses
// to use them. If the dealloca fails they have them again, and the block is still the buffer's.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "hal/buffer.h"
#include "hal/ref.h"
#include "hal/status.h"
#include "plugins/sdk/allocations.h"
#include "plugins/sdk/pool.h"

namespace halyard {

// Part of every buffer of a driver; of one that no pool has made it costs nothing but its size.
class PoolLease {
 public:
  PoolLease() = default;
  PoolLease(const PoolLease&) = delete;
  PoolLease& operator=(const PoolLease&) = delete;

  // `buffer`, of which this is part, has the block of `pool`; `allocations` finds it while it has.
  // Before anybody else knows of the buffer.
  void begin(Buffer& buffer, const PoolBlock& block, std::shared_ptr<QueuePool> pool,
             Allocations& allocations);
  bool is_of_pool() const { return is_of_pool_; }
  const std::shared_ptr<QueuePool>& pool() const { return pool_; }

  // --- Any thread.

  // A view of the buffer is made, or goes.
  void add_view(Buffer& view);
  void remove_view(const Buffer& view);
  // A dealloca is submitted. INVALID_ARGUMENT if the buffer is not a pool's; FAILED_PRECONDITION if
  // there was one before that has not failed.
  Status begin_return(const Buffer& buffer);
  // It has failed.
  void cancel_return();
  // It has not: the block, which the buffer then has no longer.
  PoolBlock finish_return();
  // The last reference to the buffer goes. Whether the buffer still has its block.
  bool ends_with_block();

 private:
  enum class State : uint8_t { kHeld, kReturning, kReturned };
  struct Sized {
    Buffer* buffer;
    uint64_t bytes;
  };

  void set_usable(bool usable);  // under mutex_

  std::mutex mutex_;
  bool is_of_pool_ = false;     // since begin()
  State state_ = State::kHeld;  // under mutex_
  PoolBlock block_;
  std::shared_ptr<QueuePool> pool_;
  Allocations* allocations_ = nullptr;
  std::vector<Sized> buffers_;  // under mutex_: the buffer itself and its views
};

// Keeps the buffer alive, so that a dealloca that fails leaves everything as it was before. One
// that is destroyed while it is on its way has failed. Any thread may use any method.
class PoolReturn {
 public:
  // begin_return().
  static Result<std::shared_ptr<PoolReturn>> begin(Buffer& buffer, PoolLease& lease);
  PoolReturn(const PoolReturn&) = delete;
  PoolReturn& operator=(const PoolReturn&) = delete;
  // Also lets the pool give back to its source what it has too much, which may take long: without
  // a lock.
  ~PoolReturn();

  // The dealloca has a place in the order of `queue`, waits for nothing but what is before it
  // there, and has no index yet. The queue may have the block again at once.
  void ahead(uint64_t queue);
  // It is in its queue, as work `at`. Before its signals may be seen reached. Never takes long.
  void done(const PoolPoint& at);
  // It will not run. Before its signals fail. `last` is the last work of the queue, behind which
  // the block goes to others if the queue may have had it already.
  void cancel(const PoolPoint& last);

 private:
  enum class State : uint8_t { kOnItsWay, kAhead, kEnded };

  PoolReturn(Buffer& buffer, PoolLease& lease)
      : buffer_(Ref<Buffer>::retain(&buffer)), lease_(lease), pool_(*lease.pool()) {}

  const Ref<Buffer> buffer_;
  PoolLease& lease_;
  QueuePool& pool_;
  std::mutex mutex_;
  State state_ = State::kOnItsWay;  // under mutex_
  uint64_t ticket_ = 0;             // under mutex_: in kAhead
};

}  // namespace halyard
