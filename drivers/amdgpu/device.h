// DeviceImpl: a GPU agent of the HSA runtime, with its memory, its queues and the thread that
// watches them.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "drivers/amdgpu/agents.h"
#include "drivers/amdgpu/cross_waits.h"
#include "drivers/amdgpu/device_library.h"
#include "drivers/amdgpu/foreign.h"
#include "drivers/amdgpu/hsa.h"
#include "drivers/amdgpu/memory.h"
#include "drivers/amdgpu/pools.h"
#include "drivers/amdgpu/profiler.h"
#include "drivers/amdgpu/queue_core.h"
#include "drivers/amdgpu/watcher.h"
#include "hal/device.h"
#include "hal/driver.h"
#include "plugins/sdk/driver_device.h"

namespace halyard::amdgpu {

class DeviceImpl final : public DriverDevice {
 public:
  static Result<Ref<Device>> create(Driver& driver, Hsa& hsa, const Agents& agents, size_t ordinal,
                                    const DeviceOptions& options);

  const Hsa& hsa() const { return hsa_; }
  hsa_agent_t agent() const { return facts_.agent; }
  hsa_agent_t host_agent() const { return host_agent_; }
  const GpuFacts& facts() const { return facts_; }
  // Bytes of kernel arguments that each slot of a queue's ring has (ring.h).
  uint32_t kernarg_block() const {
    return options().kernarg_bytes != 0 ? options().kernarg_bytes : kKernargBlock;
  }
  // Whether queues wait for each other on the device. A test may choose, before there is work.
  bool barrier_value() const { return barrier_value_; }
  void set_barrier_value(bool on) { barrier_value_ = on; }
  Memory& memory() { return memory_; }
  Watcher& watcher() { return watcher_; }
  CrossWaits& cross_waits() { return cross_waits_; }
  DeviceLibrary& library() { return library_; }
  PoolGroup& pools(MemoryType type) override { return pools_->group(type); }
  Profiler& profiler() { return profiler_; }
  ClockSource clock_source() const;
  // Whether the driver has other devices, whose buffers this one may be given.
  bool has_peers() const { return has_peers_; }
  // This GPU, and those of the others that its memory may be made visible to.
  std::vector<hsa_agent_t> agents_with_access() const;
  // This GPU and all others.
  std::vector<hsa_agent_t> all_gpus() const;
  // Semaphores are shared with another device: what waits has to look now and then, also what
  // sleeps already.
  void share_semaphores() {
    if (shares_semaphores()) return;
    shares_semaphores_.store(true, std::memory_order_relaxed);
    progress();
  }
  bool shares_semaphores() const { return shares_semaphores_.load(std::memory_order_relaxed); }

  template <typename Evaluate>
  PointState wait_until(Evaluate&& evaluate, Deadline deadline) {
    const PointState state = watcher_.wait_until(evaluate, deadline, options().wait_spin_ns);
    if (state == PointState::kReached) host_observed();
    return state;
  }
  void progress() { watcher_.progress(); }
  // The host has seen work done: what it submits next, to whatever device, may rely on that without
  // saying so.
  void host_observed() {
    if (foreign_.has_several()) [[unlikely]]
      return foreign_.host_observed();
    mark_queues();
  }
  // This device's part of it.
  void mark_queues() {
    const uint32_t count = core_count_.load(std::memory_order_acquire);
    for (uint32_t i = 0; i < count; ++i)
      cores_[i].load(std::memory_order_acquire)->fences().host_observed();
  }

  // Signals with value 1 and no event, for the device's own use; recycled.
  Result<hsa_signal_t> take_signal();
  void give_signal(hsa_signal_t signal);

  void list_cores(std::vector<QueueCore*>* cores) const;
  // `other` is being destroyed: none of its queues waits for this device's any longer.
  void forget_users_of(const DeviceImpl& other) const;
  // A queue gives its core back; the next queue gets it once it is idle.
  void return_core(QueueCore& core);

  // A round of the watcher's thread. True if there is work left that no signal announces.
  bool advance(const std::vector<QueueCore*>& cores);

  // From the runtime's thread: the queue's error callback, and memory faults.
  void queue_failed(QueueCore& core, hsa_status_t status);
  void lose_queue(QueueCore& core, const Status& cause);
  void lose_device(const std::string& what);
  void fail_work(const std::string& what) override;
  // Queue::abandon.
  void abandon_queue(QueueCore& core);

 private:
  // Hardware queues are few; the runtime refuses long before.
  static constexpr uint32_t kMaxCores = 1024;

  DeviceImpl(Driver& driver, Hsa& hsa, const Agents& agents, size_t ordinal,
             const DeviceOptions& options);
  ~DeviceImpl();
  void destroy() noexcept override;
  Status open();
  bool can_be_given_to(hsa_agent_t gpu) const;  // its memory
  // Destroys this when nothing uses its memory any more, from whatever thread.
  void leave();
  bool drained();
  void announce_loss(QueueCore& core, const Status& cause);

  const DeviceHeaps& device_heaps() const override { return memory_; }
  DeviceProfile& profile() override { return profiler_; }
  std::vector<LinkInfo> list_links() const override;
  Status do_create_queue(const QueueOptions& options, Queue** queue) override;
  Status do_allocate(uint64_t size, const BufferOptions& options, Buffer** buffer) override;
  bool do_can_access(const Device& peer) const noexcept override;
  Status do_import_queue(void* native_queue, Queue** queue) override;
  Status do_import_buffer(const ImportOptions& options, Buffer** buffer) override;
  Status do_export_buffer(Buffer& buffer, ExportedHandle* handle) override;
  Status do_export_dmabuf(Buffer& buffer, Dmabuf* exported) override;
  Status do_create_semaphore(uint64_t initial_value, Semaphore** semaphore) override;
  Status do_wait(Span<const SemaphorePoint> points, WaitMode mode, Deadline deadline,
                 size_t* index) override;
  Status do_create_command_buffer(CommandBuffer** commands) override;
  Status do_load_executable(const void* data, size_t size, Executable** executable) override;
  Status do_fault() const override;
  Status do_let_in(Buffer& buffer) override;
  Status do_read_clocks(ClockReading* reading) const override;
  Status do_advise(const BufferRange& range, MemoryAdvice advice) override;
  Status do_commit(const BufferRange& range) override;
  Status do_decommit(const BufferRange& range) override;

  Hsa& hsa_;
  const hsa_agent_t host_agent_;
  const GpuFacts facts_;
  Foreign& foreign_ = Foreign::instance();
  bool barrier_value_;
  Memory memory_;
  CrossWaits cross_waits_;
  DeviceLibrary library_{*this};
  std::unique_ptr<Pools> pools_;
  Profiler profiler_{*this};
  const bool has_peers_;
  std::vector<hsa_agent_t> other_gpus_;
  std::atomic<bool> shares_semaphores_{false};

  // Only ever appended to, so that it is read without a lock.
  std::array<std::atomic<QueueCore*>, kMaxCores> cores_{};
  std::atomic<uint32_t> core_count_{0};
  std::mutex cores_mutex_;
  std::vector<std::unique_ptr<QueueCore>> owned_cores_;  // under cores_mutex_
  std::vector<QueueCore*> spare_cores_;                  // under cores_mutex_
  std::vector<QueueCore*> returned_cores_;               // under cores_mutex_: not idle yet
  std::vector<QueueCore*> released_cores_;               // under cores_mutex_: Edges::needs_looks

  std::mutex signals_mutex_;
  std::vector<hsa_signal_t> signals_;  // under signals_mutex_: the spare ones

  mutable std::mutex fault_mutex_;
  Status fault_;  // under fault_mutex_: what lost the device

  Watcher watcher_{*this};
};

}  // namespace halyard::amdgpu
