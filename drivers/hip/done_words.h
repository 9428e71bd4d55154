// DoneWords: words in host memory, into which the streams of a device write how far they are.
//
// An event that is recorded costs a handler on a thread of the runtime's. A write of the stream
// behind its work costs the waiter a look at a word. But nothing is written on a device that
// executes no kernels (gfx900-noexec): so the first marks are both, and tell.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "drivers/hip/hip.h"

namespace halyard::hip {

class DoneWords {
 public:
  // Of a device of the process. Null if HIP's events cost less.
  static DoneWords* of(const Hip& hip, int device);

  enum class Writes : uint8_t {
    kUnknown,
    kArrive,
    kNever,
  };
  Writes writes() const { return writes_.load(std::memory_order_relaxed); }
  // Something was written, and an event behind it is complete: whether it has arrived.
  void learn(bool arrived) {
    Writes expected = Writes::kUnknown;
    writes_.compare_exchange_strong(expected, arrived ? Writes::kArrive : Writes::kNever);
  }
  // HIP has refused a write.
  void give_up() { writes_.store(Writes::kNever); }

  // For a stream, for good: 0, until the stream writes. Null if there is no memory.
  std::atomic<uint64_t>* take();

 private:
  DoneWords(const Hip& hip, int device) : hip_(hip), device_(device) {}

  const Hip& hip_;
  const int device_;
  std::atomic<Writes> writes_{Writes::kUnknown};
  std::mutex mutex_;
  std::byte* block_ = nullptr;  // under mutex_: the newest block of words
  size_t taken_ = 0;            // under mutex_: bytes of it
};

}  // namespace halyard::hip
