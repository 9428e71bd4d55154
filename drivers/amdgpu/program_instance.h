// Instances: sets of kernel arguments for a program, each with packets that point at it.
//
// An execution wants a set with its own bindings. One that has them already serves any number of
// executions at once; to write others into a set, what uses it must be done. So while executions
// with different bindings are in flight each has a set of its own, and there are as many as there
// ever were of those at a time (bounded by the rings).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "drivers/amdgpu/program.h"
#include "drivers/amdgpu/queue_core.h"

namespace halyard::amdgpu {

class Instance {
 public:
  std::byte* arguments() const { return arguments_; }
  const Packet* packets() const { return packets_.data(); }

 private:
  friend class Instances;
  struct Use {
    QueueCore* core = nullptr;
    uint64_t index = 0;
  };

  bool in_use() const;

  std::byte* arguments_ = nullptr;
  std::vector<Packet> packets_;
  std::vector<uint64_t> bound_;       // addresses of the slots
  const QueueCore* queue_ = nullptr;  // whose values are in it, if the program has any
  uint32_t takers_ = 0;               // that have not said yet until when they use it
  std::vector<Use> uses_;             // one for each queue
};

// Any thread may use any method.
class Instances {
 public:
  Instances(DeviceImpl& device, const Program& program) : device_(device), program_(program) {}
  // Nothing is in flight.
  ~Instances();

  // An instance that has `bound`, for an execution on `core`. A failure has taken nothing.
  Result<Instance*> take(QueueCore& core, Span<const uint64_t> bound);
  // The execution is packets up to `last` of `core`.
  void used_until(Instance& instance, QueueCore& core, uint64_t last);
  // It has come to nothing.
  void give_back(Instance& instance);

 private:
  Result<Instance*> make();  // under mutex_
  Status grow();             // under mutex_
  void bind(Instance& instance, QueueCore& core, Span<const uint64_t> bound);

  DeviceImpl& device_;
  const Program& program_;
  std::mutex mutex_;
  std::deque<std::unique_ptr<Instance>> instances_;  // under mutex_: longest unused first
  std::vector<void*> slabs_;                         // under mutex_
  std::byte* next_ = nullptr;                        // under mutex_: in the last slab
  uint32_t left_ = 0;                                // under mutex_: instances that fit there
};

}  // namespace halyard::amdgpu
