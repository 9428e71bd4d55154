// DeviceHeap: the memory that kernels allocate with malloc and new.
//
// ROCm's device library has the allocator (ockl, dm.cl). It keeps its state in memory that a kernel
// finds through hidden_heap_v1, or, in code objects before version 5, in a variable of the code
// object. It asks the host for memory by service 3 (hostcall.h): for slabs of 2 MiB, which it cuts
// up itself, and for what is larger than 3072 bytes.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "hal/status.h"
#include "plugins/sdk/pool.h"

namespace halyard {

class DriverDevice;

// Of a device: what one kernel has allocated any other may free, also one of another executable, as
// long as the device lives. So the memory is not given back before. Any thread.
class DeviceHeap {
 public:
  explicit DeviceHeap(DriverDevice& device) : device_(device) {}
  DeviceHeap(const DeviceHeap&) = delete;
  DeviceHeap& operator=(const DeviceHeap&) = delete;

  // For hidden_heap_v1; made and cleared at the first call, on a thread of the program's.
  Result<uint64_t> state();
  // For a kernel: a slab or a large block, on the boundary that the library takes its kind to begin
  // at. 0: there is no memory, and malloc gives null.
  uint64_t allocate(uint64_t bytes);
  // False if no block begins at the address.
  bool free(uint64_t address);
  // Gives all memory back to the driver. Kernels may still run if the driver delays its reuse.
  void release();

 private:
  // Bytes from an address on, in one of the blocks of blocks_.
  using Ranges = std::map<uint64_t, uint64_t>;

  uint64_t take(uint64_t bytes, uint64_t alignment);  // under mutex_
  bool grow(uint64_t bytes);                          // under mutex_
  void put(uint64_t address, uint64_t bytes);         // under mutex_

  DriverDevice& device_;
  std::mutex
      state_mutex_;  // held while the device clears it, which may need what a kernel waits for
  PoolBlock state_;  // under state_mutex_
  std::mutex mutex_;
  std::map<uint64_t, PoolBlock> blocks_;  // under mutex_: of the device, by address
  Ranges free_;                           // under mutex_; neighbours are joined
  Ranges used_;                           // under mutex_
};

}  // namespace halyard
