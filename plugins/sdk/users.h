// Users: the queues that were given a thing. When its owner lets go of it, it is released when what
// these queues have then is done, whatever others do.
//
// Each queue has a bit. From the 65th on several share one; the thing then waits for all of them.
#pragma once

#include <atomic>
#include <cstdint>

namespace halyard {

// For a queue that is made.
inline uint64_t next_user_bit() {
  static std::atomic<uint32_t> made{0};
  return uint64_t{1} << (made.fetch_add(1, std::memory_order_relaxed) % 64);
}

// Any thread may use any method. A thing is let go of after add().
class Users {
 public:
  // On the path of every dispatch: a look, once the queue is known.
  void add(uint64_t bits) {
    if ((bits_.load(std::memory_order_relaxed) & bits) != bits) [[unlikely]]
      bits_.fetch_or(bits, std::memory_order_relaxed);
  }
  uint64_t bits() const { return bits_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> bits_{0};
};

}  // namespace halyard
