// The device of the faulty driver: another driver's device. Buffers, semaphores and executables are
// that device's own; queues and command buffers have a fault in front.
#pragma once

#include <atomic>

#include "fault.h"
#include "hal/contract/objects.h"
#include "hal/device.h"

namespace faulty {

class FaultyDevice final : public halyard::driver::DeviceBase {
 public:
  FaultyDevice(halyard::Ref<halyard::Device> inner, Fault fault)
      : DeviceBase(inner->info()), inner_(std::move(inner)), fault_(fault) {}

 private:
  ~FaultyDevice() = default;
  void destroy() noexcept override { delete this; }

  size_t do_heap_count() const override;
  halyard::Status do_heap(size_t index, halyard::HeapInfo* info) const override;
  halyard::Status do_heap_statistics(size_t index,
                                     halyard::HeapStatistics* statistics) const override;
  halyard::Status do_pool_statistics(halyard::MemoryType type,
                                     halyard::PoolStatistics* statistics) const override;
  halyard::Status do_trim_pool(halyard::MemoryType type, uint64_t keep_bytes) override;
  bool do_can_access(const halyard::Device& peer) const noexcept override;
  halyard::Status do_import_queue(void* native_queue, halyard::Queue** queue) override;
  halyard::Status do_create_queue(const halyard::QueueOptions& options,
                                  halyard::Queue** queue) override;
  halyard::Status do_allocate(uint64_t size, const halyard::BufferOptions& options,
                              halyard::Buffer** buffer) override;
  halyard::Status do_import_buffer(const halyard::ImportOptions& options,
                                   halyard::Buffer** buffer) override;
  halyard::Status do_export_buffer(halyard::Buffer& buffer,
                                   halyard::ExportedHandle* handle) override;
  halyard::Status do_export_dmabuf(halyard::Buffer& buffer, halyard::Dmabuf* exported) override;
  halyard::Status do_create_semaphore(uint64_t initial_value,
                                      halyard::Semaphore** semaphore) override;
  halyard::Status do_wait(halyard::Span<const halyard::SemaphorePoint> points,
                          halyard::WaitMode mode, halyard::Deadline deadline,
                          size_t* index) override;
  halyard::Status do_create_command_buffer(halyard::CommandBuffer** commands) override;
  halyard::Status do_load_executable(const void* data, size_t size,
                                     halyard::Executable** executable) override;
  size_t do_link_count() const override;
  halyard::Status do_link(size_t index, halyard::LinkInfo* info) const override;
  halyard::Status do_end_profile(halyard::ProfileSink sink, void* context) override;
  halyard::Status do_fault() const override;
  halyard::Status do_let_in(halyard::Buffer& buffer) override;
  halyard::Status do_begin_profile(const halyard::ProfileOptions& options) override;
  halyard::Status do_create_pool(const halyard::PoolInfo& info,
                                 halyard::MemoryPool** pool) override;
  halyard::Status do_find_allocation(const void* pointer,
                                     halyard::AllocationInfo* info) const override;
  halyard::Status do_read_clocks(halyard::ClockReading* reading) const override;
  halyard::Status do_details(halyard::DeviceDetails* details) const override;
  halyard::Status do_commit(const halyard::BufferRange& range) override;
  halyard::Status do_decommit(const halyard::BufferRange& range) override;
  halyard::Status do_advise(const halyard::BufferRange& range,
                            halyard::MemoryAdvice advice) override;
  halyard::Status do_export_semaphore(halyard::Semaphore& semaphore,
                                      halyard::ExportedSemaphore* exported) override;
  halyard::Status do_import_semaphore(const halyard::ExportedSemaphore& exported,
                                      halyard::Semaphore** semaphore) override;

  halyard::Result<halyard::Ref<halyard::Buffer>> copy_of(
      const halyard::Ref<halyard::Buffer>& original);

  halyard::Ref<halyard::Device> inner_;
  Fault fault_;
  mutable std::atomic<uint64_t> most_buffers_ = 0;
};

}  // namespace faulty
