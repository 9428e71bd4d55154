#include "device.h"

#include "command_buffer.h"
#include "queue.h"

namespace faulty {
namespace {

using namespace halyard;

// The value of a result into `out`, or its failure.
template <typename T>
Status give(Result<T> result, T* out) {
  if (result.ok()) *out = *result;
  return result.status();
}
template <typename T>
Status give(Result<Ref<T>> result, T** out) {
  if (result.ok()) *out = Ref<T>(*result).leak();
  return result.status();
}

}  // namespace

size_t FaultyDevice::do_heap_count() const {
  return inner_->heap_count();
}
Status FaultyDevice::do_heap(size_t index, HeapInfo* info) const {
  return give(inner_->heap(index), info);
}

Status FaultyDevice::do_heap_statistics(size_t index, HeapStatistics* statistics) const {
  HALYARD_RETURN_IF_ERROR(give(inner_->heap_statistics(index), statistics));
  if (fault_ == Fault::kHeapLeak) {
    if (statistics->live_buffers > most_buffers_) most_buffers_ = statistics->live_buffers;
    statistics->live_buffers = most_buffers_;
  }
  return {};
}

Status FaultyDevice::do_pool_statistics(MemoryType type, PoolStatistics* statistics) const {
  return give(inner_->pool_statistics(type), statistics);
}
Status FaultyDevice::do_trim_pool(MemoryType type, uint64_t keep_bytes) {
  return inner_->trim_pool(type, keep_bytes);
}
bool FaultyDevice::do_can_access(const Device& peer) const noexcept {
  return inner_->can_access(peer);
}
Status FaultyDevice::do_import_queue(void* native_queue, Queue** queue) {
  return give(inner_->import_queue(native_queue), queue);
}

Status FaultyDevice::do_create_queue(const QueueOptions& options, Queue** queue) {
  QueueOptions changed = options;
  if (fault_ == Fault::kIgnoredCapacity) changed.capacity = 0;
  Result<Ref<Queue>> made = inner_->create_queue(changed);
  HALYARD_RETURN_IF_ERROR(made.status());
  *queue = new FaultyQueue(inner_, *made, fault_);
  return {};
}

Status FaultyDevice::do_allocate(uint64_t size, const BufferOptions& options, Buffer** buffer) {
  return give(inner_->allocate(size, options), buffer);
}
Status FaultyDevice::do_import_buffer(const ImportOptions& options, Buffer** buffer) {
  Result<Ref<Buffer>> imported = inner_->import_buffer(options);
  if (imported.ok() && fault_ == Fault::kCopiedImport) return give(copy_of(*imported), buffer);
  return give(std::move(imported), buffer);
}
Result<Ref<Buffer>> FaultyDevice::copy_of(const Ref<Buffer>& original) {
  BufferOptions like;
  like.type = original->type();
  HALYARD_ASSIGN_OR_RETURN(Ref<Buffer> copy, inner_->allocate(original->size(), like));
  HALYARD_ASSIGN_OR_RETURN(const Ref<Queue> queue, inner_->create_queue());
  HALYARD_ASSIGN_OR_RETURN(const Ref<Semaphore> done, inner_->create_semaphore());
  const SemaphorePoint point = {done.get(), 1};
  HALYARD_RETURN_IF_ERROR(queue->copy(original, copy, {.wait = {}, .signal = {&point, 1}}));
  HALYARD_RETURN_IF_ERROR(done->wait(1));
  return copy;
}
Status FaultyDevice::do_export_buffer(Buffer& buffer, ExportedHandle* handle) {
  return give(inner_->export_buffer(buffer), handle);
}
Status FaultyDevice::do_export_dmabuf(Buffer& buffer, Dmabuf* exported) {
  return give(inner_->export_dmabuf(buffer), exported);
}
Status FaultyDevice::do_create_semaphore(uint64_t initial_value, Semaphore** semaphore) {
  return give(inner_->create_semaphore(initial_value), semaphore);
}

Status FaultyDevice::do_wait(Span<const SemaphorePoint> points, WaitMode mode, Deadline deadline,
                             size_t* index) {
  HALYARD_RETURN_IF_ERROR(inner_->wait(points, mode, deadline, index));
  if (fault_ == Fault::kWrongIndex) *index = 0;
  return {};
}

Status FaultyDevice::do_create_command_buffer(CommandBuffer** commands) {
  Result<Ref<CommandBuffer>> made = inner_->create_command_buffer();
  HALYARD_RETURN_IF_ERROR(made.status());
  *commands = new FaultyCommandBuffer(inner_, *made, fault_);
  return {};
}

Status FaultyDevice::do_load_executable(const void* data, size_t size, Executable** executable) {
  return give(inner_->load_executable(data, size), executable);
}
size_t FaultyDevice::do_link_count() const {
  return inner_->link_count();
}
Status FaultyDevice::do_link(size_t index, LinkInfo* info) const {
  return give(inner_->link(index), info);
}
Status FaultyDevice::do_end_profile(ProfileSink sink, void* context) {
  return inner_->end_profile(sink, context);
}
Status FaultyDevice::do_fault() const {
  return inner_->fault();
}
Status FaultyDevice::do_let_in(Buffer& buffer) {
  return inner_->let_in(buffer);
}
Status FaultyDevice::do_create_pool(const PoolInfo& info, MemoryPool** pool) {
  return give(inner_->create_pool(info), pool);
}
Status FaultyDevice::do_find_allocation(const void* pointer, AllocationInfo* info) const {
  return give(inner_->find_allocation(pointer), info);
}
Status FaultyDevice::do_read_clocks(ClockReading* reading) const {
  return give(inner_->read_clocks(), reading);
}
Status FaultyDevice::do_details(DeviceDetails* details) const {
  return give(inner_->details(), details);
}
Status FaultyDevice::do_advise(const BufferRange& range, MemoryAdvice advice) {
  return inner_->advise(range, advice);
}
Status FaultyDevice::do_commit(const BufferRange& range) {
  return inner_->commit(range);
}
Status FaultyDevice::do_decommit(const BufferRange& range) {
  return inner_->decommit(range);
}
Status FaultyDevice::do_export_semaphore(Semaphore& semaphore, ExportedSemaphore* exported) {
  return give(inner_->export_semaphore(semaphore), exported);
}
Status FaultyDevice::do_import_semaphore(const ExportedSemaphore& exported, Semaphore** semaphore) {
  return give(inner_->import_semaphore(exported), semaphore);
}
Status FaultyDevice::do_begin_profile(const ProfileOptions& options) {
  return inner_->begin_profile(options);
}

}  // namespace faulty
