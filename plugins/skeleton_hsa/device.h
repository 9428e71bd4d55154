// The device: a GPU agent of the runtime, with its memory and its queues; and the memory faults of
// the process.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "drivers/common/driver_device.h"
#include "hsa.h"
#include "memory.h"

namespace halyard::skeleton {

inline constexpr const char* kName = "skeleton_hsa";

class Core;

struct GpuFacts : DeviceFacts {
  hsa_agent_t agent = {};
  uint32_t queue_size = 0;  // packets, the fewest that a queue may have
  uint32_t max_queue_size = 0;
};

class DeviceImpl final : public DriverDevice {
 public:
  static Result<Ref<Device>> create(Driver& driver, const Hsa& hsa, hsa_agent_t host,
                                    const GpuFacts& facts, const DeviceOptions& options);

  const Hsa& hsa() const { return hsa_; }
  hsa_agent_t agent() const { return facts_.agent; }
  hsa_agent_t host_agent() const { return host_; }
  const GpuFacts& facts() const { return facts_; }
  Memory& memory() { return memory_; }
  PoolGroup& pools(MemoryType type) override { return memory_.heap(type).pools(); }
  // A memory fault: everything that the device has fails.
  void lose(const std::string& what);

 private:
  DeviceImpl(Driver& driver, const Hsa& hsa, hsa_agent_t host, const GpuFacts& facts,
             const DeviceOptions& options);
  ~DeviceImpl();
  void destroy() noexcept override;
  Status open();
  bool is_idle();

  const DeviceHeaps& device_heaps() const override { return memory_; }
  Status do_create_queue(const QueueOptions& options, Queue** queue) override;
  Status do_allocate(uint64_t size, const BufferOptions& options, Buffer** buffer) override;
  Status do_create_semaphore(uint64_t initial_value, Semaphore** semaphore) override;
  Status do_wait(Span<const SemaphorePoint> points, WaitMode mode, Deadline deadline,
                 size_t* index) override;
  Status do_create_command_buffer(CommandBuffer** commands) override;
  Status do_load_executable(const void* data, size_t size, Executable** executable) override;
  Status do_fault() const override;

  const Hsa& hsa_;
  const hsa_agent_t host_;
  const GpuFacts facts_;
  Memory memory_{*this};
  mutable std::mutex mutex_;
  Status fault_;                              // under mutex_
  std::vector<std::unique_ptr<Core>> cores_;  // under mutex_; they live as long as the device
};

}  // namespace halyard::skeleton
