// Device of the host_memory driver: its facts, its heaps and everything that is made on it.
#pragma once

#include <cstdint>
#include <mutex>

#include "hal/contract/objects.h"
#include "hal/device.h"

namespace host_memory {

// The answer of everything that would run a kernel.
halyard::Status no_kernels();

class HostMemoryDevice final : public halyard::driver::DeviceBase {
 public:
  // With so many bytes in each of its heaps.
  explicit HostMemoryDevice(uint64_t heap_bytes);

  // Counts an allocation of a heap. RESOURCE_EXHAUSTED if the heap has not so much left.
  halyard::Status take_memory(halyard::MemoryType type, uint64_t size);
  void give_memory(halyard::MemoryType type, uint64_t size);

 private:
  using Status = halyard::Status;

  ~HostMemoryDevice() = default;
  void destroy() noexcept override;
  size_t do_heap_count() const override;
  Status do_heap(size_t index, halyard::HeapInfo* info) const override;
  Status do_heap_statistics(size_t index, halyard::HeapStatistics* statistics) const override;
  Status do_create_queue(const halyard::QueueOptions& options, halyard::Queue** queue) override;
  Status do_allocate(uint64_t size, const halyard::BufferOptions& options,
                     halyard::Buffer** buffer) override;
  Status do_pool_statistics(halyard::MemoryType type,
                            halyard::PoolStatistics* statistics) const override;
  Status do_trim_pool(halyard::MemoryType type, uint64_t keep_bytes) override;
  bool do_can_access(const halyard::Device& peer) const noexcept override;
  Status do_import_queue(void* native_queue, halyard::Queue** queue) override;
  Status do_import_buffer(const halyard::ImportOptions& options, halyard::Buffer** buffer) override;
  Status do_export_buffer(halyard::Buffer& buffer, halyard::ExportedHandle* handle) override;
  Status do_create_semaphore(uint64_t initial_value, halyard::Semaphore** semaphore) override;
  Status do_wait(halyard::Span<const halyard::SemaphorePoint> points, halyard::WaitMode mode,
                 halyard::Deadline deadline, size_t* index) override;
  Status do_create_command_buffer(halyard::CommandBuffer** commands) override;
  Status do_load_executable(const void* data, size_t size,
                            halyard::Executable** executable) override;
  size_t do_link_count() const override;
  Status do_link(size_t index, halyard::LinkInfo* info) const override;
  Status do_begin_profile(const halyard::ProfileOptions& options) override;
  Status do_end_profile(halyard::ProfileSink sink, void* context) override;
  Status do_fault() const override;
  Status do_let_in(halyard::Buffer& buffer) override;

  halyard::DeviceInfo info_;
  mutable std::mutex mutex_;
  halyard::HeapStatistics heaps_[2];  // by MemoryType; under mutex_
};

// The facts of the one device there is, opened without options.
const halyard::DeviceInfo& device_info();

}  // namespace host_memory
