// HsaQueues: the runtime's queues, which outlive the device that they were made for.
//
// Since ROCm 6.1 (6.4 and the sources of June 2026 included), ROCR keeps a list of an agent's
// queues that hsa_queue_destroy does not take them off (GpuAgent::aql_queues_). When memory of the
// GPU is full, it goes through that list, and reads what has been freed. So there no queue is
// destroyed: the next device uses it again, and one that had an error is inactivated and left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "drivers/amdgpu/hsa.h"

namespace halyard::amdgpu {

// One queue, and who hears of its errors. Any thread may use any method.
class HsaQueue {
 public:
  using ErrorCallback = void (*)(hsa_status_t status, void* context);

  HsaQueue(const Hsa& hsa, hsa_agent_t agent) : hsa_(hsa), agent_(agent) {}
  HsaQueue(const HsaQueue&) = delete;
  HsaQueue& operator=(const HsaQueue&) = delete;

  hsa_queue_t* native() const { return native_; }
  hsa_agent_t agent() const { return agent_; }
  const Hsa& hsa() const { return hsa_; }

  // Calls `callback` for each error from now on, and at once for one that came before.
  void listen(ErrorCallback callback, void* context);
  // Waits for a running callback: the caller holds nothing that it takes.
  void stop_listening();
  // Whether it had an error.
  bool failed() const;
  // Whether all its packets have been taken out.
  bool is_idle() const;
  // Whether it holds memory for private segments.
  bool has_scratch() const;

 private:
  friend class HsaQueues;
  static void on_error(hsa_status_t status, hsa_queue_t* source, void* data);

  const Hsa& hsa_;
  const hsa_agent_t agent_;
  hsa_queue_t* native_ = nullptr;  // set before anyone else has the object
  mutable std::mutex mutex_;
  hsa_status_t error_ = HSA_STATUS_SUCCESS;  // under mutex_: the first
  ErrorCallback callback_ = nullptr;         // under mutex_
  void* context_ = nullptr;                  // under mutex_
};

// What becomes of a queue that its device no longer needs.
enum class QueueFate : uint8_t {
  kKeep,   // for the next device
  kLeave,  // as it is, without its hardware queue
  kDestroy,
};
struct QueueFacts {
  bool usable = false;           // idle, and without an error
  bool has_scratch = false;      // which other queues could use
  bool may_be_destroyed = true;  // see above
  size_t kept = 0;               // queues like it that are kept already
};
// Queues that could be destroyed are kept as well, as making one takes the runtime long, but few:
// each takes a place among those that the hardware has at once.
inline constexpr size_t kSpareQueues = 2;
constexpr QueueFate fate_of(const QueueFacts& queue) {
  if (!queue.may_be_destroyed) return queue.usable ? QueueFate::kKeep : QueueFate::kLeave;
  return queue.usable && !queue.has_scratch && queue.kept < kSpareQueues ? QueueFate::kKeep
                                                                         : QueueFate::kDestroy;
}

// Any thread may use any method.
class HsaQueues {
 public:
  static HsaQueues& instance();

  // A queue of `capacity` packets, without a priority of its own, that nobody listens to. The
  // packets that it has had are done.
  hsa_status_t take(const Hsa& hsa, hsa_agent_t agent, uint32_t capacity, HsaQueue** queue);
  // The queue has no listener by then, and no priority of its own. `lost`: it cannot be used again.
  void give(HsaQueue& queue, bool lost);
  // Those that wait for a device.
  size_t kept(hsa_agent_t agent) const;

 private:
  bool take_kept(hsa_agent_t agent, uint32_t capacity, std::unique_ptr<HsaQueue>* queue);
  std::unique_ptr<HsaQueue> remove(const HsaQueue& queue);  // from used_
  void end(std::unique_ptr<HsaQueue> queue, bool lost);

  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<HsaQueue>> used_;  // under mutex_
  std::vector<std::unique_ptr<HsaQueue>> kept_;  // under mutex_
  std::vector<std::unique_ptr<HsaQueue>> left_;  // under mutex_: the runtime still has them
};

}  // namespace halyard::amdgpu
