// OwnQueue: what the driver core has a device do while it loads or releases an executable: one
// thing after the other, each of them waited for.
#pragma once

#include <cstdint>

#include "hal/queue.h"
#include "hal/semaphore.h"
#include "hal/status.h"
#include "hal/types.h"
#include "plugins/sdk/driver_device.h"

namespace halyard {

// A queue of the device like the program's, while this lives. One thread at a time, which is none
// of the driver's. Failures are those of the queue: a kernel that faults loses it.
class OwnQueue {
 public:
  static Result<OwnQueue> make(DriverDevice& device);

  // Of memory of the vendor's runtime, by address.
  Status clear(uint64_t address, uint64_t size);
  Status copy(uint64_t target, uint64_t source, uint64_t size);
  Status write(uint64_t target, const void* source, uint64_t size);
  // A single work-item of a kernel without explicit arguments. DEADLINE_EXCEEDED if it runs longer.
  Status run(const driver::FunctionBase& function, Deadline deadline);

 private:
  OwnQueue(DriverDevice& device, Ref<Queue> queue, Ref<Semaphore> semaphore)
      : device_(device), queue_(std::move(queue)), semaphore_(std::move(semaphore)) {}

  driver::QueueBase& queue() const { return static_cast<driver::QueueBase&>(*queue_); }
  Result<Ref<Buffer>> at(uint64_t address, uint64_t size) const;
  // What `submit(sync)` gives to the queue.
  template <typename Submit>
  Status wait_for(Submit&& submit, Deadline deadline = Deadline::infinite());

  DriverDevice& device_;
  Ref<Queue> queue_;
  Ref<Semaphore> semaphore_;
  uint64_t reached_ = 0;
};

}  // namespace halyard
