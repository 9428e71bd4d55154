#include "device.h"

#include "buffer.h"
#include "command_buffer.h"
#include "executable.h"
#include "hal/contract/guard.h"
#include "hal/error.h"
#include "queue.h"
#include "semaphore.h"

namespace host_memory {

using halyard::error;
using halyard::guarded;
using halyard::MemoryType;
using halyard::Status;
using halyard::StatusCode;

namespace {

constexpr uint64_t kHeapBytes = uint64_t{64} << 20;
constexpr size_t kHeapCount = 2;

}  // namespace

const halyard::DeviceInfo& device_info() {
  static const halyard::DeviceInfo info = [] {
    halyard::DeviceInfo i;
    i.driver = "host_memory";
    i.name = "Host memory (no GPU, runs no kernels)";
    i.target = "none";
    i.compute_units = 1;
    i.wavefront_size = 64;
    i.max_workgroup_size = 1024;
    i.max_workgroup = {1024, 1024, 1024};
    i.max_grid = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
    i.max_grid_size = UINT32_MAX;
    i.lds_bytes = 65536;
    i.memory_bytes = kHeapBytes;
    i.max_allocation_bytes = kHeapBytes;
    i.allocation_alignment = 64;
    i.timestamp_hz = 1'000'000'000;
    return i;
  }();
  return info;
}

Status no_kernels() {
  return Status(
      StatusCode::kUnimplemented,
      "The host_memory driver runs no kernels; it is a driver to clone. Use a driver for a "
      "GPU, such as --device=amdgpu.");
}

HostMemoryDevice::HostMemoryDevice(uint64_t heap_bytes) : DeviceBase(info_), info_(device_info()) {
  info_.memory_bytes = heap_bytes;
  info_.max_allocation_bytes = heap_bytes;
}

void HostMemoryDevice::destroy() noexcept {
  delete this;
}

Status HostMemoryDevice::take_memory(MemoryType type, uint64_t size) {
  const std::lock_guard lock(mutex_);
  halyard::HeapStatistics& heap = heaps_[static_cast<size_t>(type)];
  const uint64_t room = info_.memory_bytes - heap.live_bytes;
  if (size > room) {
    return error(
        StatusCode::kResourceExhausted,
        "An allocation of {} bytes does not fit into the heap of {} bytes, of which {} are "
        "in use.",
        size, info_.memory_bytes, heap.live_bytes);
  }
  heap.live_bytes += size;
  ++heap.live_buffers;
  if (heap.live_bytes > heap.peak_bytes) heap.peak_bytes = heap.live_bytes;
  return {};
}

void HostMemoryDevice::give_memory(MemoryType type, uint64_t size) {
  const std::lock_guard lock(mutex_);
  halyard::HeapStatistics& heap = heaps_[static_cast<size_t>(type)];
  heap.live_bytes -= size;
  --heap.live_buffers;
}

size_t HostMemoryDevice::do_heap_count() const {
  return kHeapCount;
}

Status HostMemoryDevice::do_heap(size_t index, halyard::HeapInfo* info) const {
  info->type = static_cast<MemoryType>(index);
  info->size = info_.memory_bytes;
  info->max_allocation = info_.memory_bytes;
  info->granule = 1;
  return {};
}

Status HostMemoryDevice::do_heap_statistics(size_t index,
                                            halyard::HeapStatistics* statistics) const {
  const std::lock_guard lock(mutex_);
  *statistics = heaps_[index];
  return {};
}

// Queue::alloca_buffer allocates each time: there is no pool.
Status HostMemoryDevice::do_pool_statistics(halyard::MemoryType, halyard::PoolStatistics*) const {
  return {};
}

Status HostMemoryDevice::do_trim_pool(halyard::MemoryType, uint64_t) {
  return {};
}

// All devices of the driver are the host.
bool HostMemoryDevice::do_can_access(const halyard::Device&) const noexcept {
  return true;
}

Status HostMemoryDevice::do_import_queue(void*, halyard::Queue**) {
  return Status(StatusCode::kUnimplemented, "The host_memory driver does not import queues.");
}

Status HostMemoryDevice::do_create_queue(const halyard::QueueOptions&, halyard::Queue** queue) {
  return guarded([&]() -> Status {
    *queue = new HostMemoryQueue(*this);
    return {};
  });
}

Status HostMemoryDevice::do_allocate(uint64_t size, const halyard::BufferOptions& options,
                                     halyard::Buffer** buffer) {
  return HostMemoryBuffer::allocate(*this, options.type, size, options.alignment, buffer);
}

Status HostMemoryDevice::do_import_buffer(const halyard::ImportOptions&, halyard::Buffer**) {
  return Status(StatusCode::kUnimplemented, "The host_memory driver does not import memory.");
}

Status HostMemoryDevice::do_export_buffer(halyard::Buffer&, halyard::ExportedHandle*) {
  return Status(StatusCode::kUnimplemented, "The host_memory driver does not export memory.");
}

Status HostMemoryDevice::do_create_semaphore(uint64_t initial_value,
                                             halyard::Semaphore** semaphore) {
  return guarded([&]() -> Status {
    *semaphore = new HostMemorySemaphore(*this, initial_value);
    return {};
  });
}

Status HostMemoryDevice::do_wait(halyard::Span<const halyard::SemaphorePoint> points,
                                 halyard::WaitMode mode, halyard::Deadline deadline,
                                 size_t* index) {
  Status outcome;
  // With the lock held. A failure ends the wait, unless another point of kAny is reached.
  const auto over = [&] {
    size_t reached = 0;
    for (size_t i = 0; i < points.size(); ++i) {
      Status one;
      const auto* semaphore = static_cast<const HostMemorySemaphore*>(points[i].semaphore);
      if (!semaphore->settled(points[i].value, &one)) continue;
      if (!one.ok()) {
        if (outcome.ok()) outcome = one;
        continue;
      }
      ++reached;
      *index = i;
      if (mode == halyard::WaitMode::kAny) {
        outcome = {};
        return true;
      }
    }
    return !outcome.ok() || reached == points.size();
  };
  std::unique_lock lock(timelines().mutex);
  if (timelines().wait(lock, deadline, over)) return outcome;
  return error(
      StatusCode::kDeadlineExceeded, "{} of {} semaphores before the deadline.",
      mode == halyard::WaitMode::kAny ? "No value is reached by any" : "Not every value is reached",
      points.size());
}

Status HostMemoryDevice::do_create_command_buffer(halyard::CommandBuffer** commands) {
  return guarded([&]() -> Status {
    *commands = new HostMemoryCommandBuffer(*this);
    return {};
  });
}

Status HostMemoryDevice::do_load_executable(const void* data, size_t size,
                                            halyard::Executable** executable) {
  return HostMemoryExecutable::load(*this, data, size, executable);
}

size_t HostMemoryDevice::do_link_count() const {
  return 0;
}

Status HostMemoryDevice::do_link(size_t, halyard::LinkInfo*) const {
  return Status(StatusCode::kOutOfRange, "The host_memory device has no links.");
}

Status HostMemoryDevice::do_begin_profile(const halyard::ProfileOptions&) {
  return Status(StatusCode::kUnimplemented, "The host_memory driver does not time operations.");
}

Status HostMemoryDevice::do_end_profile(halyard::ProfileSink, void*) {
  return Status(StatusCode::kUnimplemented, "The host_memory driver does not time operations.");
}

// Host memory, which every device of the driver sees.
Status HostMemoryDevice::do_let_in(halyard::Buffer&) {
  return {};
}

Status HostMemoryDevice::do_fault() const {
  return {};
}

}  // namespace host_memory
