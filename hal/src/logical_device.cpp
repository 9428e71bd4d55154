#include "logical_device.h"

#include <algorithm>
#include <utility>

#include "hal/error.h"
#include "logical_command_buffer.h"
#include "logical_executable.h"
#include "logical_queue.h"

namespace halyard {

LogicalDevice::LogicalDevice(std::vector<Ref<Device>> gpus, std::vector<uint32_t> ordinals)
    : GpuGroup(info_, std::move(gpus)), ordinals_(std::move(ordinals)) {
  info_ = this->gpus().front()->info();
  info_.gpu_count = static_cast<uint32_t>(this->gpus().size());
  const auto lower = [](auto& limit, const auto& other) { limit = std::min(limit, other); };
  for (const Ref<Device>& gpu : this->gpus()) {
    const DeviceInfo& other = gpu->info();
    lower(info_.max_workgroup_size, other.max_workgroup_size);
    lower(info_.max_grid_size, other.max_grid_size);
    for (uint32_t Dim3::* const dimension : {&Dim3::x, &Dim3::y, &Dim3::z}) {
      lower(info_.max_workgroup.*dimension, other.max_workgroup.*dimension);
      lower(info_.max_grid.*dimension, other.max_grid.*dimension);
    }
    lower(info_.lds_bytes, other.lds_bytes);
    info_.coherent_map &= other.coherent_map;
  }
}

Ref<LogicalDevice> LogicalDevice::create(std::vector<Ref<Device>> gpus,
                                         std::vector<uint32_t> ordinals) {
  return Ref<LogicalDevice>::adopt(new LogicalDevice(std::move(gpus), std::move(ordinals)));
}

bool LogicalDevice::do_can_access(const Device& peer) const noexcept {
  return std::all_of(gpus().begin(), gpus().end(),
                     [&](const Ref<Device>& gpu) { return gpu->can_access(peer); });
}

// The other GPUs' heaps are theirs to tell, as an allocation that names no GPU is of the first.
size_t LogicalDevice::do_heap_count() const {
  return gpus().front()->heap_count();
}

Status LogicalDevice::do_heap(size_t index, HeapInfo* info) const {
  HALYARD_ASSIGN_OR_RETURN(*info, gpus().front()->heap(index));
  return {};
}

Status LogicalDevice::do_heap_statistics(size_t index, HeapStatistics* statistics) const {
  HALYARD_ASSIGN_OR_RETURN(*statistics, gpus().front()->heap_statistics(index));
  return {};
}

// An alloca is from the pool of its queue's GPU.
Status LogicalDevice::do_pool_statistics(MemoryType type, PoolStatistics* statistics) const {
  for (const Ref<Device>& gpu : gpus()) {
    HALYARD_ASSIGN_OR_RETURN(const PoolStatistics one, gpu->pool_statistics(type));
    statistics->reserved_bytes += one.reserved_bytes;
    statistics->used_bytes += one.used_bytes;
    statistics->peak_reserved_bytes += one.peak_reserved_bytes;
    statistics->allocations += one.allocations;
    statistics->reuses += one.reuses;
  }
  return {};
}

// What one GPU's pool keeps, the others need not.
Status LogicalDevice::do_trim_pool(MemoryType type, uint64_t keep_bytes) {
  for (const Ref<Device>& gpu : gpus()) {
    HALYARD_RETURN_IF_ERROR(gpu->trim_pool(type, keep_bytes));
    HALYARD_ASSIGN_OR_RETURN(const PoolStatistics left, gpu->pool_statistics(type));
    keep_bytes -= std::min(keep_bytes, left.reserved_bytes);
  }
  return {};
}

Status LogicalDevice::do_create_queue(const QueueOptions& options, Queue** queue) {
  QueueOptions own = options;
  own.gpu = 0;
  HALYARD_ASSIGN_OR_RETURN(Ref<Queue> made, gpus()[options.gpu]->create_queue(own));
  *queue = internal::make_logical_queue(*this, options.gpu, std::move(made)).leak();
  return {};
}

// A native queue is of one GPU, which says so by taking it.
Status LogicalDevice::do_import_queue(void* native_queue, Queue** queue) {
  Status first;
  for (size_t i = 0; i < gpus().size(); ++i) {
    Result<Ref<Queue>> made = gpus()[i]->import_queue(native_queue);
    if (made.ok()) {
      *queue = internal::make_logical_queue(*this, i, std::move(made).value()).leak();
      return {};
    }
    if (first.ok()) first = made.status();
  }
  return first;
}

Status LogicalDevice::do_allocate(uint64_t size, const BufferOptions& options, Buffer** buffer) {
  BufferOptions own = options;
  own.gpu = 0;
  own.shared = false;
  HALYARD_ASSIGN_OR_RETURN(Ref<Buffer> made, gpus()[options.gpu]->allocate(size, own));
  if (options.shared) {
    HALYARD_RETURN_IF_ERROR(do_let_in(*made).with_context("BufferOptions::shared"));
  }
  *buffer = made.leak();
  return {};
}

Status LogicalDevice::do_let_in(Buffer& buffer) {
  for (const Ref<Device>& gpu : gpus()) HALYARD_RETURN_IF_ERROR(gpu->let_in(buffer));
  return {};
}

Status LogicalDevice::do_import_buffer(const ImportOptions& options, Buffer** buffer) {
  HALYARD_ASSIGN_OR_RETURN(Ref<Buffer> made, gpus().front()->import_buffer(options));
  *buffer = made.leak();
  return {};
}

Status LogicalDevice::do_export_buffer(Buffer& buffer, ExportedHandle* handle) {
  HALYARD_ASSIGN_OR_RETURN(*handle, buffer.device().export_buffer(buffer));
  return {};
}

Status LogicalDevice::do_export_dmabuf(Buffer& buffer, Dmabuf* exported) {
  HALYARD_ASSIGN_OR_RETURN(*exported, buffer.device().export_dmabuf(buffer));
  return {};
}

// Devices of one driver share semaphores.
Status LogicalDevice::do_create_semaphore(uint64_t initial_value, Semaphore** semaphore) {
  HALYARD_ASSIGN_OR_RETURN(Ref<Semaphore> made, gpus().front()->create_semaphore(initial_value));
  *semaphore = made.leak();
  return {};
}

Status LogicalDevice::do_wait(Span<const SemaphorePoint> points, WaitMode mode, Deadline deadline,
                              size_t* index) {
  return gpus().front()->wait(points, mode, deadline, index);
}

Status LogicalDevice::do_create_command_buffer(CommandBuffer** commands) {
  HALYARD_ASSIGN_OR_RETURN(Ref<CommandBuffer> made, internal::make_logical_command_buffer(*this));
  *commands = made.leak();
  return {};
}

Status LogicalDevice::do_load_executable(const void* data, size_t size, Executable** executable) {
  HALYARD_ASSIGN_OR_RETURN(Ref<Executable> made, internal::load_on_each(*this, [&](Device& gpu) {
                             return gpu.load_executable(data, size);
                           }));
  *executable = made.leak();
  return {};
}

size_t LogicalDevice::do_link_count() const {
  size_t count = 0;
  for (const Ref<Device>& gpu : gpus()) count += gpu->link_count();
  return count;
}

Status LogicalDevice::do_link(size_t index, LinkInfo* info) const {
  for (size_t i = 0; i < gpus().size(); ++i) {
    const size_t count = gpus()[i]->link_count();
    if (index < count) {
      HALYARD_ASSIGN_OR_RETURN(*info, gpus()[i]->link(index));
      info->gpu = static_cast<uint32_t>(i);
      const auto peer = std::find(ordinals_.begin(), ordinals_.end(), info->peer_ordinal);
      if (peer != ordinals_.end()) info->peer_gpu = static_cast<uint32_t>(peer - ordinals_.begin());
      return {};
    }
    index -= count;
  }
  return error(StatusCode::kUnavailable, "A link of device \"{}\" disappeared during the query.",
               info_.name);
}

Status LogicalDevice::do_begin_profile(const ProfileOptions& options) {
  for (size_t i = 0; i < gpus().size(); ++i) {
    Status status = gpus()[i]->begin_profile(options);
    if (status.ok()) continue;
    const ProfileSink nowhere = [](void*, const ProfileEvent&) {};
    while (i > 0) gpus()[--i]->end_profile(nowhere, nullptr).ignore();
    return status;
  }
  return {};
}

Status LogicalDevice::do_end_profile(ProfileSink sink, void* context) {
  Status first;
  for (const Ref<Device>& gpu : gpus()) {
    Status status = gpu->end_profile(sink, context);
    if (first.ok()) first = std::move(status);
  }
  return first;
}

// A pool is of one GPU; the others' are made through Device::gpu.
Status LogicalDevice::do_create_pool(const PoolInfo& info, MemoryPool** pool) {
  HALYARD_ASSIGN_OR_RETURN(Ref<MemoryPool> made, gpus().front()->create_pool(info));
  *pool = made.leak();
  return {};
}

Status LogicalDevice::do_find_allocation(const void* pointer, AllocationInfo* info) const {
  Status first;
  for (const Ref<Device>& gpu : gpus()) {
    const Result<AllocationInfo> found = gpu->find_allocation(pointer);
    if (found.ok()) {
      *info = *found;
      return {};
    }
    if (first.ok()) first = found.status();
  }
  return first;
}

Status LogicalDevice::do_read_clocks(ClockReading* reading) const {
  HALYARD_ASSIGN_OR_RETURN(*reading, gpus().front()->read_clocks());
  return {};
}

Status LogicalDevice::do_details(DeviceDetails* details) const {
  HALYARD_ASSIGN_OR_RETURN(*details, gpus().front()->details());
  return {};
}

Status LogicalDevice::do_advise(const BufferRange& range, MemoryAdvice advice) {
  return gpus().front()->advise(range, advice);
}

Status LogicalDevice::do_commit(const BufferRange& range) {
  return range.buffer->device().commit(range);
}

Status LogicalDevice::do_decommit(const BufferRange& range) {
  return range.buffer->device().decommit(range);
}

Status LogicalDevice::do_export_semaphore(Semaphore& semaphore, ExportedSemaphore* exported) {
  HALYARD_ASSIGN_OR_RETURN(*exported, semaphore.device().export_semaphore(semaphore));
  return {};
}

Status LogicalDevice::do_import_semaphore(const ExportedSemaphore& exported,
                                          Semaphore** semaphore) {
  HALYARD_ASSIGN_OR_RETURN(Ref<Semaphore> made, gpus().front()->import_semaphore(exported));
  *semaphore = made.leak();
  return {};
}

Status LogicalDevice::do_fault() const {
  for (const Ref<Device>& gpu : gpus()) HALYARD_RETURN_IF_ERROR(gpu->fault());
  return {};
}

}  // namespace halyard
