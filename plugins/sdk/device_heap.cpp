#include "plugins/sdk/device_heap.h"

#include <algorithm>
#include <iterator>

#include "hal/error.h"
#include "plugins/sdk/driver_device.h"
#include "plugins/sdk/own_queue.h"

namespace halyard {
namespace {

// The library's (dm.cl): the state has 128 KiB and begins as zeros; a slab is aligned to its size,
// and any other block, but not what it cuts from a slab, to 4 KiB.
constexpr uint64_t kStateBytes = 128 << 10;
constexpr uint64_t kSlab = 2 << 20;
constexpr uint64_t kPage = 4096;
// What is asked of the device at a time: four slabs, as HIP's first part.
constexpr uint64_t kStep = 4 * kSlab;
// Above this no device has memory, and sizes can be rounded.
constexpr uint64_t kLargest = uint64_t{1} << 48;

constexpr uint64_t round_to(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

Result<uint64_t> DeviceHeap::state() {
  const std::lock_guard lock(state_mutex_);
  if (state_.address != 0) return state_.address;
  PoolSource& source = device_.pools(MemoryType::kDevice).source();
  PoolBlock block;
  Status status = source.allocate(kStateBytes, kPage, kMemoryWait, &block);
  if (status.ok()) {
    Result<OwnQueue> queue = OwnQueue::make(device_);
    status = queue.ok() ? queue->clear(block.address, kStateBytes) : queue.status();
    if (!status.ok()) source.free(block);
  }
  if (!status.ok()) return status.with_context("The heap for kernels that call malloc or new");
  state_ = block;
  return state_.address;
}

uint64_t DeviceHeap::allocate(uint64_t bytes) {
  if (bytes == 0 || bytes > kLargest) return 0;
  const uint64_t size = round_to(bytes, kPage);
  const uint64_t alignment = size >= kSlab ? kSlab : kPage;
  const std::lock_guard lock(mutex_);
  uint64_t address = take(size, alignment);
  if (address == 0 && grow(size)) address = take(size, alignment);
  if (address != 0) used_[address] = size;
  return address;
}

// The first place that is large enough.
uint64_t DeviceHeap::take(uint64_t bytes, uint64_t alignment) {
  for (auto range = free_.begin(); range != free_.end(); ++range) {
    const auto [begin, size] = *range;
    const uint64_t address = round_to(begin, alignment);
    const uint64_t gap = address - begin;
    if (gap > size || size - gap < bytes) continue;
    free_.erase(range);
    if (gap != 0) free_[begin] = gap;
    if (size - gap != bytes) free_[address + bytes] = size - gap - bytes;
    return address;
  }
  return 0;
}

bool DeviceHeap::grow(uint64_t bytes) {
  PoolSource& source = device_.pools(MemoryType::kDevice).source();
  const uint64_t needed = round_to(bytes, kSlab);
  for (const uint64_t size : {std::max(needed, kStep), needed}) {
    PoolBlock block;
    const Status status = source.allocate(size, kSlab, kKernelWaits, &block);
    if (!status.ok()) continue;
    blocks_[block.address] = block;
    put(block.address, size);
    return true;
  }
  return false;
}

bool DeviceHeap::free(uint64_t address) {
  const std::lock_guard lock(mutex_);
  const auto range = used_.find(address);
  if (range == used_.end()) return false;
  put(address, range->second);
  used_.erase(range);
  return true;
}

// Joined with its neighbours, but not with those of another block.
void DeviceHeap::put(uint64_t address, uint64_t bytes) {
  auto next = free_.lower_bound(address);
  if (next != free_.end() && next->first == address + bytes && !blocks_.contains(next->first)) {
    bytes += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin() && !blocks_.contains(address)) {
    const auto before = std::prev(next);
    if (before->first + before->second == address) {
      before->second += bytes;
      return;
    }
  }
  free_[address] = bytes;
}

void DeviceHeap::release() {
  const std::scoped_lock lock(state_mutex_, mutex_);
  if (state_.address == 0 && blocks_.empty()) return;
  PoolSource& source = device_.pools(MemoryType::kDevice).source();
  if (state_.address != 0) source.free(state_);
  for (const auto& [address, block] : blocks_) source.free(block);
  blocks_.clear();
  free_.clear();
  used_.clear();
  state_ = {};
}

}  // namespace halyard
