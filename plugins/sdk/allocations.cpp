#include "plugins/sdk/allocations.h"

#include <algorithm>
#include <iterator>

namespace halyard {

namespace {

bool has(uint64_t first, uint64_t size, uint64_t address) {
  return address >= first && address - first < size;
}

bool has(const AllocationInfo& info, uint64_t address) {
  const auto host = reinterpret_cast<uint64_t>(info.host_pointer);
  return has(info.device_address, info.size, address) ||
         (host != 0 && has(host, info.size, address));
}

}  // namespace

void Allocations::add(const Buffer& buffer, const AllocationInfo& info) {
  const std::lock_guard lock(mutex_);
  if (info.owner == AllocationOwner::kDevice) {
    own_.insert_or_assign(info.device_address, Entry{&buffer, info});
  } else {
    imports_.push_back({&buffer, info});
  }
}

void Allocations::remove(const Buffer& buffer) {
  const std::lock_guard lock(mutex_);
  // Its memory may have become another buffer's.
  const auto found = own_.find(buffer.device_address());
  if (found != own_.end() && found->second.buffer == &buffer) {
    own_.erase(found);
  } else {
    std::erase_if(imports_, [&buffer](const Entry& entry) { return entry.buffer == &buffer; });
  }
}

bool Allocations::find(const void* pointer, AllocationInfo* info) const {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  const std::lock_guard lock(mutex_);
  if (const auto after = own_.upper_bound(address); after != own_.begin()) {
    const Entry& before = std::prev(after)->second;
    if (has(before.info, address)) {
      *info = before.info;
      return true;
    }
  }
  const auto found = std::find_if(imports_.begin(), imports_.end(), [address](const Entry& entry) {
    return has(entry.info, address);
  });
  if (found == imports_.end()) return false;
  *info = found->info;
  return true;
}

}  // namespace halyard
