// LogicalDevice: one device of several GPUs, made from a device of each. The host makes it, so that
// it works with every driver and costs a device of one GPU nothing.
//
// Buffers and semaphores belong to the GPUs' devices, which a driver knows. Only objects that must
// exist on every GPU are the host's own: queues, which select a GPU's variant of a function and of
// a recording, executables and recordings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gpu_group.h"
#include "hal/device.h"
#include "hal/ref.h"
#include "hal/status.h"

namespace halyard {

class LogicalDevice final : public GpuGroup {
 public:
  // `gpus` are two or more devices of one driver, which has them under these ordinals.
  static Ref<LogicalDevice> create(std::vector<Ref<Device>> gpus, std::vector<uint32_t> ordinals);

 private:
  LogicalDevice(std::vector<Ref<Device>> gpus, std::vector<uint32_t> ordinals);
  ~LogicalDevice() = default;
  void destroy() noexcept override { delete this; }

  size_t do_heap_count() const override;
  Status do_heap(size_t index, HeapInfo* info) const override;
  Status do_heap_statistics(size_t index, HeapStatistics* statistics) const override;
  Status do_pool_statistics(MemoryType type, PoolStatistics* statistics) const override;
  Status do_trim_pool(MemoryType type, uint64_t keep_bytes) override;
  bool do_can_access(const Device& peer) const noexcept override;
  Status do_import_queue(void* native_queue, Queue** queue) override;
  Status do_create_queue(const QueueOptions& options, Queue** queue) override;
  Status do_allocate(uint64_t size, const BufferOptions& options, Buffer** buffer) override;
  Status do_import_buffer(const ImportOptions& options, Buffer** buffer) override;
  Status do_export_buffer(Buffer& buffer, ExportedHandle* handle) override;
  Status do_export_dmabuf(Buffer& buffer, Dmabuf* exported) override;
  Status do_create_semaphore(uint64_t initial_value, Semaphore** semaphore) override;
  Status do_wait(Span<const SemaphorePoint> points, WaitMode mode, Deadline deadline,
                 size_t* index) override;
  Status do_create_command_buffer(CommandBuffer** commands) override;
  Status do_load_executable(const void* data, size_t size, Executable** executable) override;
  size_t do_link_count() const override;
  Status do_link(size_t index, LinkInfo* info) const override;
  Status do_end_profile(ProfileSink sink, void* context) override;
  Status do_fault() const override;
  Status do_let_in(Buffer& buffer) override;
  Status do_begin_profile(const ProfileOptions& options) override;
  Status do_create_pool(const PoolInfo& info, MemoryPool** pool) override;
  Status do_find_allocation(const void* pointer, AllocationInfo* info) const override;
  Status do_read_clocks(ClockReading* reading) const override;
  Status do_details(DeviceDetails* details) const override;
  Status do_advise(const BufferRange& range, MemoryAdvice advice) override;
  Status do_commit(const BufferRange& range) override;
  Status do_decommit(const BufferRange& range) override;
  Status do_export_semaphore(Semaphore& semaphore, ExportedSemaphore* exported) override;
  Status do_import_semaphore(const ExportedSemaphore& exported, Semaphore** semaphore) override;

  DeviceInfo info_;
  const std::vector<uint32_t> ordinals_;  // one for each GPU
};

}  // namespace halyard
