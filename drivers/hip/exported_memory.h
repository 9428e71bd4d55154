// ExportedMemory: device memory of this process that other processes may open by a handle.
//
// HIP from 5.7 on opens no handle in the process that made it, and that of 5.2.3 maps the memory a
// second time. So the driver opens such a handle itself: what exports and what imports the memory
// share it, and the last of them gives it back. All methods may be called by any thread.
#pragma once

#include <memory>

#include "drivers/hip/abi.h"
#include "drivers/hip/memory.h"
#include "hal/ref.h"
#include "plugins/sdk/users.h"

namespace halyard::hip {

class ExportedMemory {
 public:
  ExportedMemory(DeviceImpl& device, const Block& block);
  ExportedMemory(const ExportedMemory&) = delete;
  ExportedMemory& operator=(const ExportedMemory&) = delete;
  // Gives the memory back when the work of its users is done.
  ~ExportedMemory();

  void* pointer() const { return block_.base; }
  // HIP's number of the device that has it.
  int device() const;
  // Before a buffer lets go of it: who uses it through that buffer.
  void add_users(uint64_t bits) { users_.add(bits); }

  // From now on find() finds it by this handle, while anybody has it.
  static void announce(const hipIpcMemHandle_t& handle,
                       const std::shared_ptr<ExportedMemory>& memory);
  // Null if this process has no such memory: somebody else has made the handle, or all have let go.
  static std::shared_ptr<ExportedMemory> find(const hipIpcMemHandle_t& handle);

 private:
  Ref<Device> keep_alive_;
  Block block_;
  Users users_;
};

}  // namespace halyard::hip
