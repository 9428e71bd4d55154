#include "plugins/sdk/pool.h"

#include <algorithm>
#include <bit>

#include "hal/error.h"

namespace halyard {

uint64_t pool_size(uint64_t size) noexcept {
  constexpr uint64_t kPage = 4096;
  constexpr uint64_t kLargest = UINT64_MAX / 2;
  if (size > kLargest) return size;  // no source has as much; it says so
  const uint64_t step = std::max(kPage, std::bit_floor(size) / 8);
  return (size + step - 1) / step * step;
}

QueuePool::~QueuePool() {
  for (const auto& [size, list] : free_) {
    for (const Free& free : list) source_.free(free.block);
  }
}

bool QueuePool::done(const Free& free) {
  if (free.last_use.queue == 0) return true;
  return free.last_use.index != kNotSettled && source_.reached(free.last_use);
}

void QueuePool::hand_out(List& list, size_t at, PoolBlock* block) {
  *block = list[at].block;
  list.erase(list.begin() + static_cast<List::difference_type>(at));
  figures_.used_bytes += block->size;
  ++figures_.reuses;
}

// A block that `queue` may use without waiting. Its own first: others may need those that are done.
bool QueuePool::take(uint64_t size, uint64_t alignment, uint64_t queue, PoolBlock* block) {
  const auto found = free_.find(size);
  if (found == free_.end()) return false;
  List& list = found->second;
  for (size_t i = list.size(); i-- != 0;) {
    const Free& free = list[i];
    if (free.last_use.queue != queue || free.block.address % alignment != 0) continue;
    hand_out(list, i, block);
    return true;
  }
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i].block.address % alignment != 0 || !done(list[i])) continue;
    hand_out(list, i, block);
    return true;
  }
  return false;
}

bool QueuePool::take_pending(uint64_t size, uint64_t alignment, PoolBlock* block,
                             PoolPoint* after) {
  const auto found = free_.find(size);
  if (found == free_.end()) return false;
  List& list = found->second;
  for (size_t i = 0; i < list.size(); ++i) {
    const Free& free = list[i];
    if (free.last_use.index == kNotSettled || free.block.address % alignment != 0) continue;
    if (!done(free)) {
      if (!source_.comes(free.last_use)) continue;
      *after = free.last_use;
    }
    hand_out(list, i, block);
    return true;
  }
  return false;
}

Status QueuePool::acquire(uint64_t size, uint64_t alignment, uint64_t queue, PoolBlock* block,
                          PoolPoint* after) {
  const uint64_t bytes = pool_size(size);
  const uint64_t align = std::max<uint64_t>(alignment, 1);
  *after = {};
  {
    const std::lock_guard lock(mutex_);
    if (take(bytes, align, queue, block)) return {};
  }
  Status status = obtain(bytes, align, kNoMemoryWait, block);
  if (status.code() == StatusCode::kResourceExhausted) {
    // Blocks of other sizes are in the way.
    std::vector<PoolBlock> unused;
    {
      const std::lock_guard lock(mutex_);
      unused = surplus(0, 0);
    }
    if (!unused.empty()) {
      free_all(unused);
      status = obtain(bytes, align, kNoMemoryWait, block);
    }
  }
  const Deadline deadline = kMemoryWait.end();
  while (status.code() == StatusCode::kResourceExhausted) {
    // What changes from here on may be what this look misses.
    const uint64_t seen = changes_.load(std::memory_order_acquire);
    {
      const std::lock_guard lock(mutex_);
      if (take(bytes, align, queue, block) || take_pending(bytes, align, block, after)) return {};
    }
    const MemoryWait wait = {
        .allowed = true, .deadline = deadline, .changes = &changes_, .seen = seen};
    status = obtain(bytes, align, wait, block);
    if (!wait.is_over() || Deadline::after_ns(0).monotonic_ns >= deadline.monotonic_ns) break;
  }
  return status;
}

bool QueuePool::has_room(uint64_t bytes, uint64_t free) const {
  if (limit_bytes_ == 0) return true;
  const uint64_t taken = figures_.reserved_bytes - free + obtaining_bytes_;
  return bytes <= limit_bytes_ && taken <= limit_bytes_ - bytes;
}

Status QueuePool::over_limit(uint64_t bytes) const {
  const std::lock_guard lock(mutex_);
  return error(StatusCode::kResourceExhausted,
               "Queue::alloca_buffer needs {} bytes of a pool whose limit is {} bytes "
               "(PoolInfo::limit_bytes, or the device option pool_limit_bytes). Of these {} are "
               "reserved, {} of them in live buffers. Give "
               "buffers back with Queue::dealloca_buffer, or use a pool with a higher limit.",
               bytes, limit_bytes_, figures_.reserved_bytes + obtaining_bytes_,
               figures_.used_bytes);
}

// Counts `bytes` as obtained, if there is room for them or, with a wait, will be.
Status QueuePool::make_room(uint64_t bytes, const MemoryWait& wait) {
  for (;;) {
    std::vector<PoolBlock> unused;
    {
      const std::lock_guard lock(mutex_);
      if (has_room(bytes, 0)) {
        obtaining_bytes_ += bytes;
        return {};
      }
      if (!wait.allowed || !has_room(bytes, free_bytes())) break;
      unused = surplus(0, 0);
    }
    if (!unused.empty()) {
      free_all(unused);
      continue;
    }
    const auto evaluate = [&] {
      return wait.is_over() || spare().has_unused ? PointState::kReached : PointState::kPending;
    };
    if (source_.wait_until(evaluate, wait.end()) != PointState::kReached || wait.is_over()) break;
  }
  return over_limit(bytes);
}

Status QueuePool::obtain(uint64_t bytes, uint64_t alignment, const MemoryWait& wait,
                         PoolBlock* block) {
  HALYARD_RETURN_IF_ERROR(make_room(bytes, wait));
  Status status = source_.allocate(bytes, alignment, wait, block);
  const std::lock_guard lock(mutex_);
  obtaining_bytes_ -= bytes;
  HALYARD_RETURN_IF_ERROR(status);
  figures_.reserved_bytes += block->size;
  figures_.used_bytes += block->size;
  figures_.peak_reserved_bytes = std::max(figures_.peak_reserved_bytes, figures_.reserved_bytes);
  ++figures_.allocations;
  return {};
}

void QueuePool::adopt(QueuePool& other) {
  const std::scoped_lock lock(mutex_, other.mutex_);
  for (auto& [size, list] : other.free_) {
    for (const Free& free : list) {
      free_[size].push_back({free.block, next_ticket_++, free.last_use});
      figures_.reserved_bytes += free.block.size;
    }
  }
  figures_.peak_reserved_bytes = std::max(figures_.peak_reserved_bytes, figures_.reserved_bytes);
  other.free_.clear();
  changes_.fetch_add(1, std::memory_order_acq_rel);
}

uint64_t QueuePool::add_free(const PoolBlock& block, const PoolPoint& last_use) {
  const std::lock_guard lock(mutex_);
  const uint64_t ticket = next_ticket_++;
  free_[block.size].push_back({block, ticket, last_use});
  figures_.used_bytes -= block.size;
  changes_.fetch_add(1, std::memory_order_acq_rel);
  return ticket;
}

void QueuePool::release(const PoolBlock& block, const PoolPoint& last_use) {
  add_free(block, last_use);
}

uint64_t QueuePool::release_ahead(const PoolBlock& block, uint64_t queue) {
  return add_free(block, {queue, kNotSettled});
}

void QueuePool::settle(uint64_t ticket, uint64_t index) {
  const std::lock_guard lock(mutex_);
  for (auto& [size, list] : free_) {
    // Tickets only grow along a list.
    const auto found =
        std::lower_bound(list.begin(), list.end(), ticket,
                         [](const Free& free, uint64_t wanted) { return free.ticket < wanted; });
    if (found == list.end() || found->ticket != ticket) continue;
    found->last_use.index = index;
    changes_.fetch_add(1, std::memory_order_acq_rel);
    return;
  }
}

void QueuePool::release_unused(const PoolBlock& block) {
  release(block, {});
  shrink();
}

void QueuePool::shrink() {
  std::vector<PoolBlock> unused;
  {
    const std::lock_guard lock(mutex_);
    unused = surplus(UINT64_MAX, keep_bytes_);
  }
  free_all(unused);
}

std::vector<PoolBlock> QueuePool::surplus(uint64_t keep_reserved, uint64_t keep_free) {
  std::vector<PoolBlock> blocks;
  const auto too_much = [&] {
    return figures_.reserved_bytes > keep_reserved ||
           figures_.reserved_bytes - figures_.used_bytes > keep_free;
  };
  if (!too_much()) return blocks;
  struct Candidate {
    uint64_t ticket;
    uint64_t size;
  };
  std::vector<Candidate> candidates;
  for (auto& [size, list] : free_) {
    for (const Free& free : list) {
      if (done(free)) candidates.push_back({free.ticket, size});
    }
  }
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate& a, const Candidate& b) { return a.ticket < b.ticket; });
  for (const Candidate& candidate : candidates) {
    if (!too_much()) break;
    List& list = free_[candidate.size];
    const auto found = std::find_if(list.begin(), list.end(), [&](const Free& free) {
      return free.ticket == candidate.ticket;
    });
    blocks.push_back(found->block);
    list.erase(found);
    figures_.reserved_bytes -= candidate.size;
    returning_bytes_ += candidate.size;
  }
  std::erase_if(free_, [](const auto& entry) { return entry.second.empty(); });
  return blocks;
}

void QueuePool::free_all(const std::vector<PoolBlock>& blocks) {
  if (blocks.empty()) return;
  uint64_t bytes = 0;
  for (const PoolBlock& block : blocks) {
    source_.free(block);
    bytes += block.size;
  }
  const std::lock_guard lock(mutex_);
  returning_bytes_ -= bytes;
}

void QueuePool::trim(uint64_t keep_bytes) {
  std::vector<PoolBlock> unused;
  {
    const std::lock_guard lock(mutex_);
    unused = surplus(keep_bytes, UINT64_MAX);
  }
  free_all(unused);
}

QueuePool::Spare QueuePool::spare() {
  const std::lock_guard lock(mutex_);
  Spare spare;
  spare.bytes = figures_.reserved_bytes - figures_.used_bytes + returning_bytes_;
  for (const auto& [size, list] : free_) {
    spare.has_unused |= std::any_of(list.begin(), list.end(), [this](const Free& free) {
      return free.last_use.queue == 0 ||
             (free.last_use.index != kNotSettled && source_.reached_if_asked(free.last_use));
    });
  }
  return spare;
}

PoolFigures QueuePool::figures() const {
  const std::lock_guard lock(mutex_);
  return figures_;
}

}  // namespace halyard
