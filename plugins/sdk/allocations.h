// Allocations: which of a device's buffers an address lies in (Device::find_allocation).
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "hal/buffer.h"
#include "hal/device.h"
#include "hal/status.h"

namespace halyard {

// Any thread may use any method.
class Allocations {
 public:
  // `buffer`, which is not a view, may be found as `info` until it is removed.
  void add(const Buffer& buffer, const AllocationInfo& info);
  // Nothing happens if it is not there.
  void remove(const Buffer& buffer);
  // Of several buffers that have the address, one that the device has allocated. Whether there is
  // any.
  bool find(const void* pointer, AllocationInfo* info) const;

 private:
  struct Entry {
    const Buffer* buffer;
    AllocationInfo info;
  };

  mutable std::mutex mutex_;
  // Under mutex_. The device's own share no bytes: by address. There is one address for device and
  // host.
  std::map<uint64_t, Entry> own_;
  std::vector<Entry> imports_;  // under mutex_: may overlap, and are few
};

}  // namespace halyard
