// DeviceImpl: a GPU of the HIP runtime, with its memory.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "drivers/hip/facts.h"
#include "drivers/hip/hip.h"
#include "drivers/hip/memory.h"
#include "drivers/hip/profiler.h"
#include "hal/device.h"
#include "hal/driver.h"
#include "plugins/sdk/driver_device.h"

namespace halyard::hip {

class DeviceImpl final : public DriverDevice {
 public:
  static Result<Ref<Device>> create(Driver& driver, Hip& hip, const GpuFacts& facts,
                                    const DeviceOptions& options);

  const Hip& hip() const { return hip_; }
  const GpuFacts& facts() const { return facts_; }
  Memory& memory() { return memory_; }
  Profiler& profiler() { return profiler_; }
  PoolGroup& pools(MemoryType type) override { return memory_.pools(type); }
  void fail_work(const std::string& what) override;
  void look_at_work() override;

 private:
  DeviceImpl(Driver& driver, Hip& hip, GpuFacts facts, const DeviceOptions& options);
  ~DeviceImpl() = default;
  void destroy() noexcept override;

  const DeviceHeaps& device_heaps() const override { return memory_; }
  DeviceProfile& profile() override { return profiler_; }
  std::vector<LinkInfo> list_links() const override;
  Status do_create_queue(const QueueOptions& options, Queue** queue) override;
  Status do_import_queue(void* native_queue, Queue** queue) override;
  Status do_allocate(uint64_t size, const BufferOptions& options, Buffer** buffer) override;
  bool do_can_access(const Device& peer) const noexcept override;
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

  Hip& hip_;
  const GpuFacts facts_;
  mutable Memory memory_;
  Profiler profiler_{*this};
};

}  // namespace halyard::hip
