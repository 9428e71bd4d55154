// SpareStaging: blocks of pinned memory that uploads have used, kept for the next ones.
#pragma once

#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace halyard {

// Any thread may use any method.
class SpareStaging {
 public:
  // Small uploads share blocks of this size; larger ones get memory of their own.
  static constexpr uint64_t kBlock = 64 * 1024;  // bytes

  // What is to be allocated for `size` bytes where there is no spare block.
  static constexpr uint64_t size_for(uint64_t size, uint64_t granule) {
    return size <= kBlock ? kBlock : (size + granule - 1) / granule * granule;
  }
  // A spare block for `size` bytes, or null.
  void* take(uint64_t size) {
    if (size > kBlock) return nullptr;
    const std::lock_guard lock(mutex_);
    if (blocks_.empty()) return nullptr;
    void* const block = blocks_.back();
    blocks_.pop_back();
    return block;
  }
  // Whether the block of `size` bytes is kept; otherwise the caller frees it.
  bool keep(void* block, uint64_t size) {
    const std::lock_guard lock(mutex_);
    if (size != kBlock || blocks_.size() >= kMost) return false;
    blocks_.push_back(block);
    return true;
  }
  // Those that are kept are the caller's to free.
  std::vector<void*> take_all() {
    const std::lock_guard lock(mutex_);
    return std::exchange(blocks_, {});
  }

 private:
  static constexpr size_t kMost = 64;

  std::mutex mutex_;
  std::vector<void*> blocks_;  // under mutex_
};

}  // namespace halyard
