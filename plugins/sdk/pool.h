// QueuePool: memory that is allocated and given back in the order of queues.
//
// A block that is given back may be handed out again at once to the queue that gave it back, since
// whatever that queue does next comes after; to others when the work in front of it is known to be
// done. Nobody waits on the host, unless there is no memory otherwise. The pool grows from the
// driver's heap and gives back to it what is above a bound, oldest first.
//
// Pure logic: how memory is obtained and how far queues have come is asked of a PoolSource.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "hal/status.h"
#include "plugins/sdk/memory_wait.h"
#include "plugins/sdk/point_state.h"

namespace halyard {

// A run of memory, as the source made it.
struct PoolBlock {
  void* base = nullptr;    // what the source frees
  uint64_t address = 0;    // of its first byte
  uint64_t size = 0;       // bytes
  uint64_t alignment = 0;  // of `address`, bytes
  uint64_t taken = 0;      // for the source's own use
};

// Work of one queue up to `index`: when that is done, so is everything the queue did before.
struct PoolPoint {
  uint64_t queue = 0;  // names a queue for as long as the pool lives; 0: none
  uint64_t index = 0;
};

// What a pool needs of its driver. Any thread may call any method.
class PoolSource {
 public:
  // RESOURCE_EXHAUSTED makes the pool give back what it does not need, and ask once more.
  // Called without the pool's lock.
  virtual Status allocate(uint64_t size, uint64_t alignment, const MemoryWait& wait,
                          PoolBlock* block) = 0;
  // Waits until `evaluate` says something else than kPending, or the deadline is past. It only
  // looks: it may be called under a lock of the driver's. Called without the pool's lock.
  virtual PointState wait_until(const std::function<PointState()>& evaluate, Deadline deadline) = 0;
  virtual void free(const PoolBlock& block) = 0;
  // Whether the work is done. Cheap, and without waiting. Called under the pool's lock.
  virtual bool reached(const PoolPoint& point) = 0;
  // The same for somebody who waits for it: may ask the device where reached() only knows.
  virtual bool reached_if_asked(const PoolPoint& point) { return reached(point); }
  // Whether work of another queue may wait for the point on the device. An abandoned queue's may
  // never be reached.
  virtual bool comes(const PoolPoint&) { return true; }

 protected:
  ~PoolSource() = default;
};

struct PoolFigures {
  uint64_t reserved_bytes = 0;       // obtained from the source
  uint64_t used_bytes = 0;           // … of which handed out
  uint64_t peak_reserved_bytes = 0;  // the most that was ever reserved
  uint64_t reuses = 0;               // acquisitions that a block in the pool has served
  uint64_t allocations = 0;          // those for which the source was asked
};

// The bytes that are obtained for a request of `size`: few sizes, so that blocks fit again, and at
// most an eighth more than asked for (or 4 KiB).
uint64_t pool_size(uint64_t size) noexcept;

// Any thread may use any method.
class QueuePool {
 public:
  // Free memory above `keep_bytes` goes back to the source. The pool has at most `limit_bytes` of
  // it (0: any number).
  QueuePool(PoolSource& source, uint64_t keep_bytes, uint64_t limit_bytes = 0)
      : source_(source), keep_bytes_(keep_bytes), limit_bytes_(limit_bytes) {}
  // Gives all free blocks back, whatever uses them: the device is idle.
  ~QueuePool();
  QueuePool(const QueuePool&) = delete;
  QueuePool& operator=(const QueuePool&) = delete;

  // A block for work of `queue` that is submitted from now on. If it is still used by another
  // queue, `*after` says what the work has to wait for (on the device); otherwise its queue is 0.
  // Where there is no memory, waits for what work in flight uses, and for blocks that are given
  // back meanwhile, kLongestMemoryWaitNs at most. RESOURCE_EXHAUSTED is the source's, or names the
  // limit.
  Status acquire(uint64_t size, uint64_t alignment, uint64_t queue, PoolBlock* block,
                 PoolPoint* after);

  // The block is given back by that work of a queue, whose order it is in. Gives nothing back to
  // the source: shrink() does.
  void release(const PoolBlock& block, const PoolPoint& last_use);
  // The same, by work that has no index yet: only that queue may have the block again until
  // settle() is called with the ticket that is returned.
  uint64_t release_ahead(const PoolBlock& block, uint64_t queue);
  // The work of `ticket` got this index. Nothing happens if the block has been handed out since.
  void settle(uint64_t ticket, uint64_t index);
  // The block is given back, and nothing uses it.
  void release_unused(const PoolBlock& block);
  // Gives back to the source what is free above the bound.
  void shrink();

  // Takes over the free blocks of `other`, of which none is without an index (release_ahead). It
  // has no others, and is not used any more.
  void adopt(QueuePool& other);

  // Gives free blocks that nothing uses back until at most `keep_bytes` are reserved, oldest first.
  void trim(uint64_t keep_bytes);
  PoolFigures figures() const;
  // Memory that trim() gives back, now or when work in flight is done with it.
  struct Spare {
    uint64_t bytes = 0;
    bool has_unused = false;  // some of it nothing uses
  };
  Spare spare();

 private:
  static constexpr uint64_t kNotSettled = UINT64_MAX;
  struct Free {
    PoolBlock block;
    uint64_t ticket = 0;  // grows with each block that is given back
    PoolPoint last_use;
  };
  using List = std::deque<Free>;  // oldest first

  bool done(const Free& free);
  uint64_t add_free(const PoolBlock& block, const PoolPoint& last_use);
  bool take(uint64_t size, uint64_t alignment, uint64_t queue, PoolBlock* block);
  bool take_pending(uint64_t size, uint64_t alignment, PoolBlock* block, PoolPoint* after);
  void hand_out(List& list, size_t at, PoolBlock* block);
  // From the source, within the limit.
  Status obtain(uint64_t bytes, uint64_t alignment, const MemoryWait& wait, PoolBlock* block);
  Status make_room(uint64_t bytes, const MemoryWait& wait);
  // Whether `bytes` more are within the limit, once `free` are given back. Under mutex_.
  bool has_room(uint64_t bytes, uint64_t free) const;
  Status over_limit(uint64_t bytes) const;
  uint64_t free_bytes() const { return figures_.reserved_bytes - figures_.used_bytes; }
  // Takes out blocks that nothing uses, until at most `keep_bytes` are reserved and free together
  // are at most `keep_free`. Under mutex_; the caller frees them, with free_all.
  std::vector<PoolBlock> surplus(uint64_t keep_reserved, uint64_t keep_free);
  void free_all(const std::vector<PoolBlock>& blocks);

  PoolSource& source_;
  const uint64_t keep_bytes_;
  const uint64_t limit_bytes_;
  // How often a free block was added, or got its index: what waits for memory looks again.
  std::atomic<uint64_t> changes_{0};
  mutable std::mutex mutex_;
  std::map<uint64_t, List> free_;  // under mutex_: by size
  uint64_t next_ticket_ = 1;       // under mutex_
  PoolFigures figures_;            // under mutex_
  uint64_t returning_bytes_ = 0;   // under mutex_: on their way to the source
  uint64_t obtaining_bytes_ = 0;   // under mutex_: that the source is asked for
};

}  // namespace halyard
