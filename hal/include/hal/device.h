// Device: a GPU, its facts, its memory and what can be made on it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hal/buffer.h"
#include "hal/command_buffer.h"
#include "hal/executable.h"
#include "hal/memory_pool.h"
#include "hal/object.h"
#include "hal/profile.h"
#include "hal/queue.h"
#include "hal/ref.h"
#include "hal/semaphore.h"
#include "hal/status.h"
#include "hal/types.h"

namespace halyard {

class Module;  // hal/module.h

// The facts and limits of a device. They do not change while it lives. Of a logical device they are
// the first GPU's, but for the limits of a dispatch (work-group, grid, LDS), which every GPU keeps.
struct DeviceInfo {
  uint32_t struct_size = sizeof(DeviceInfo);
  StringView driver;  // "amdgpu"
  StringView name;    // "Radeon RX Vega 64"
  StringView uuid;    // "GPU-…"; empty if the device has none
  StringView target;  // "gfx90a:sramecc+:xnack-"
  uint32_t compute_units = 0;
  uint32_t wavefront_size = 0;        // work-items
  uint32_t max_workgroup_size = 0;    // work-items in all
  Dim3 max_workgroup = {0, 0, 0};     // work-items in each dimension
  Dim3 max_grid = {0, 0, 0};          // work-items in each dimension
  uint64_t max_grid_size = 0;         // work-items in all
  uint32_t lds_bytes = 0;             // per work-group
  uint64_t memory_bytes = 0;          // the device's own
  uint64_t max_allocation_bytes = 0;  // one buffer
  uint32_t allocation_alignment = 0;  // bytes
  uint32_t max_clock_mhz = 0;
  uint64_t timestamp_hz = 0;        // the clock of profiling timestamps
  bool maps_device_memory = false;  // MemoryType::kDeviceMapped exists
  bool coherent_map = true;         // Buffer::flush and invalidate do nothing
  bool imports_queues = false;      // Device::import_queue works
  // How many GPUs a logical device has (Device::gpu). A driver leaves it at 1: the host makes
  // logical devices.
  uint32_t gpu_count = 1;
  StringView pci_address;  // "0000:c1:00.0", as DeviceSummary has it
};

struct HeapInfo {
  uint32_t struct_size = sizeof(HeapInfo);
  MemoryType type = MemoryType::kDevice;
  uint64_t size = 0;            // bytes
  uint64_t max_allocation = 0;  // bytes
  uint64_t granule = 0;         // bytes; an allocation takes a multiple of it
  // Since 2.1; 0: not known.
  uint32_t clock_mhz = 0;  // the most that the memory's clock has
  uint32_t bus_bits = 0;   // of the memory's interface
};

// What tuning wants to know of a GPU. Each figure is 0 where the vendor's runtime does not tell.
struct DeviceDetails {
  uint32_t struct_size = sizeof(DeviceDetails);
  int32_t numa_node = -1;  // of the host, nearest to the GPU; -1: not known
  uint32_t cache_line_bytes = 0;
  uint32_t l1_cache_bytes = 0;  // of each compute unit
  uint32_t l2_cache_bytes = 0;  // of the GPU
  uint32_t l3_cache_bytes = 0;
  uint32_t simds_per_compute_unit = 0;
  uint32_t waves_per_compute_unit = 0;  // that can be resident, of any kernel
  uint32_t shader_engines = 0;
  uint32_t copy_engines = 0;
  uint32_t max_queues = 0;         // of the hardware, of all processes
  uint32_t min_queue_packets = 0;  // of one queue
  uint32_t max_queue_packets = 0;
  uint32_t reserved = 0;
};

// What has been allocated from a heap through this device.
struct HeapStatistics {
  uint32_t struct_size = sizeof(HeapStatistics);
  uint64_t live_bytes = 0;
  uint64_t live_buffers = 0;
  uint64_t peak_bytes = 0;
};

struct QueueOptions {
  uint32_t struct_size = sizeof(QueueOptions);
  enum class Priority : uint32_t { kLow, kNormal, kHigh } priority = Priority::kNormal;
  // Operations on the device before a submission waits for room (what the host holds back does not
  // count); rounded up to a power of two within the driver's bounds. 0: the driver's default.
  uint32_t capacity = 0;
  // Which GPU of a logical device runs the queue's work, below Device::gpu_count().
  uint32_t gpu = 0;
};

// A link from a GPU to another one of the same driver.
struct LinkInfo {
  uint32_t struct_size = sizeof(LinkInfo);
  uint32_t peer_ordinal = 0;
  uint32_t hops = 0;
  uint32_t min_bandwidth_mbps = 0;  // MB/s; 0: not known
  uint32_t max_bandwidth_mbps = 0;
  bool coherent = false;
  // kOther where several hops differ.
  enum class Kind : uint32_t { kUnknown, kPcie, kXgmi, kOther } kind = Kind::kUnknown;
  // Which GPUs of a logical device the link is between (Device::gpu); kNoGpu for a peer that is not
  // part of it.
  uint32_t gpu = 0;
  uint32_t peer_gpu = kNoGpu;
  static constexpr uint32_t kNoGpu = UINT32_MAX;
};
const char* to_string(LinkInfo::Kind kind) noexcept;  // "unknown", "PCIe", "xGMI", "other"

// Called when memory that was imported is in use no more.
using ReleaseFunction = void (*)(void* context) noexcept;

// Memory of somebody else's that becomes a buffer; it stays theirs, and must outlive the buffer and
// all work that was given it.
struct ImportOptions {
  uint32_t struct_size = sizeof(ImportOptions);
  enum class Kind : uint32_t { kHostMemory, kDevicePointer, kIpcHandle } kind = Kind::kHostMemory;
  const void* pointer = nullptr;  // kIpcHandle: ExportedHandle::ipc; lives until both let it go
  uint64_t size = 0;              // bytes; kIpcHandle: at most what was exported
  // Tells when that is so.
  // Called once, with `release_context`, after the buffer's last reference is gone and all work
  // that was given it is done: before Device::release returns, at the latest, unless work goes on
  // that cannot be ended (docs/failures.md); then never. On whatever thread sees the work done, so
  // it does not block, and calls nothing of Halyard's. Not called if the import fails: the memory
  // is the caller's then as it was before.
  ReleaseFunction release = nullptr;
  void* release_context = nullptr;
};

// Whose memory an allocation is.
enum class AllocationOwner : uint32_t {
  kDevice = 0,      // the device's: Device::allocate, or of a pool of its
  kImported = 1,    // imported as a device pointer or an IPC handle
  kHostMemory = 2,  // the program's own, imported as host memory
};

// What Device::find_allocation finds.
struct AllocationInfo {
  uint32_t struct_size = sizeof(AllocationInfo);
  MemoryType type = MemoryType::kDevice;
  AllocationOwner owner = AllocationOwner::kDevice;
  uint64_t device_address = 0;   // of the first byte
  uint64_t size = 0;             // bytes
  void* host_pointer = nullptr;  // to the first byte; null if the host does not see the memory
};

// What another process, with the same or another of Halyard's drivers, imports.
struct ExportedSemaphore {
  uint32_t struct_size = sizeof(ExportedSemaphore);
  uint8_t ipc[64] = {};
};

// The clocks of the device and of the host, read at one moment.
struct ClockReading {
  uint32_t struct_size = sizeof(ClockReading);
  alignas(8) uint64_t device_ticks = 0;  // what s_memrealtime and wall_clock64() read in a kernel
  uint64_t device_hz = 0;                // how fast these grow
  uint64_t host_ns = 0;                  // of CLOCK_MONOTONIC
  uint64_t uncertainty_ns = 0;           // the host's clock was read this much apart, at most
};
// What another process, with the same driver, imports. A device pointer is exported as it is:
// Buffer::device_address.
struct ExportedHandle {
  uint32_t struct_size = sizeof(ExportedHandle);
  uint8_t ipc[64] = {};  // hsa_amd_ipc_memory_t uses 32 bytes, hipIpcMemHandle_t all 64
};

enum class WaitMode : uint32_t { kAny, kAll };

// Any thread may use any method. Whatever a device makes keeps the device alive. The release of the
// last reference waits for work in flight, some seconds at most (docs/failures.md); what
// takes longer goes on, and its memory is given back when it ends.
class Device : public Object<HalyardDevice> {
 public:
  const DeviceInfo& info() const noexcept;

  // Of a logical device the first GPU's; the others' are at gpu(i).
  size_t heap_count() const;
  Result<HeapInfo> heap(size_t index) const;
  Result<HeapStatistics> heap_statistics(size_t index) const;

  // Zeros for a type that has no pool yet. Of a logical device what its GPUs' pools have together.
  Result<PoolStatistics> pool_statistics(MemoryType type) const;
  // Gives unused blocks of the pool back to the heap, until it has at most `keep_bytes` reserved or
  // only blocks in use. Work in flight is not waited for: what it uses stays.
  Status trim_pool(MemoryType type, uint64_t keep_bytes);
  // A pool beside those, for PoolOptions::pool. Takes nothing from the heap yet.
  Result<Ref<MemoryPool>> create_pool(const PoolInfo& info);

  Result<Ref<Queue>> create_queue(const QueueOptions& options = {});
  // A queue over the vendor runtime's own (hipStream_t), which stays the caller's and must outlive
  // it; work submitted to either is ordered as it arrives. FAILED_PRECONDITION where
  // DeviceInfo::imports_queues is false.
  Result<Ref<Queue>> import_queue(void* native_queue);
  // Where only memory that was let go of while work in flight uses it would do, waits for that
  // work, 10 s at most. RESOURCE_EXHAUSTED names the size asked for, the limit and what is in use.
  Result<Ref<Buffer>> allocate(uint64_t size, const BufferOptions& options = {});
  Result<Ref<Buffer>> import_buffer(const ImportOptions& options);
  // The buffer stays this process's, and must outlive the imports. FAILED_PRECONDITION for a part
  // of an allocation, and for memory that is not the device's own.
  Result<ExportedHandle> export_buffer(Buffer& buffer);
  // The buffer of this device's, not a view, that has the byte at `pointer`: an address of the
  // device's, or of the host's. Of several, which imports make possible, one that the device has
  // allocated. From the making of the buffer until its last reference is gone, or
  // Queue::dealloca_buffer is called. NOT_FOUND if there is none.
  Result<AllocationInfo> find_allocation(const void* pointer) const;
  Result<Ref<Semaphore>> create_semaphore(uint64_t initial_value = 0);
  // One timeline in several processes: what one signals, from the host or by work, is reached in
  // all, some milliseconds later at most, and a failure of one is a failure of all. Each has a
  // semaphore of its own, which it may use like any other and export in turn; the last to release
  // its own ends the timeline. If a process ends that has not released its semaphore, the others'
  // fail (ABORTED). Processes of one user on one system. FAILED_PRECONDITION if the exporter has
  // released its semaphore, or ended, before the import.
  Result<ExportedSemaphore> export_semaphore(Semaphore& semaphore);
  Result<Ref<Semaphore>> import_semaphore(const ExportedSemaphore& exported);
  // Returns when one, or all, of the points are reached. With kAny the index of a reached point is
  // put into `index`, if that is not null.
  Status wait(Span<const SemaphorePoint> points, WaitMode mode,
              Deadline deadline = Deadline::infinite(), size_t* index = nullptr);
  Result<Ref<CommandBuffer>> create_command_buffer();
  // `data` is a code object or anything else that hal/module.h reads: an offload bundle, a program
  // of hipcc's, an archive. It is copied if it is still needed when the call returns. The variants
  // for this device are loaded; if there are several (the bundles of several translation units),
  // the executable has the functions of all, the first of those with one name.
  // FAILED_PRECONDITION for a module with no variant for the device says why none fits.
  Result<Ref<Executable>> load_executable(const void* data, size_t size);
  // The same of a module that has been read, which may be a folder.
  Result<Ref<Executable>> load_executable(const Module& module);

  // Whether this device's work can use buffers in `peer`'s memory: always true of itself, and never
  // of a device of another driver. Buffers in host memory it can use of every device of its driver.
  bool can_access(const Device& peer) const noexcept;
  // Lets this device's work use `buffer`, of another device, from now on, also by its address alone
  // (Argument::address, pointers in memory). An operation that is given the buffer does that
  // itself. FAILED_PRECONDITION unless can_access.
  Status let_in(Buffer& buffer);
  // Links to the other GPUs of the driver, whether they are part of this device or not. Of a
  // logical device those of each of its GPUs.
  size_t link_count() const;
  Result<LinkInfo> link(size_t index) const;

  // The GPUs of a logical device; 1 for any other. Queues and allocations name theirs
  // (QueueOptions::gpu, BufferOptions::gpu); whatever names none is of the first. Each GPU is a
  // device of its own as well: Buffer::device and Semaphore::device are the GPU's, Queue::device,
  // Executable::device and CommandBuffer::device the logical device. An executable is loaded on
  // each GPU with that GPU's variant, and a recording may be executed on each.
  size_t gpu_count() const noexcept { return info().gpu_count; }
  // `index` < gpu_count(). A device of one GPU is its own.
  Device& gpu(size_t index) const noexcept;
  // Operations that are submitted between the two calls are timed; end_profile waits for them and
  // gives each to `sink`. An exception that the sink throws becomes the failure of end_profile; it
  // is not called again then. What is timed is slower, and does not overlap what is beside it on
  // its queue; recorded commands overlap as they do without a profile.
  Status begin_profile();
  Status begin_profile(const ProfileOptions& options);
  Status end_profile(ProfileSink sink, void* context);

  // UNIMPLEMENTED where the vendor's runtime does not tell the device's time.
  Result<ClockReading> read_clocks() const;

  // Since 2.1: UNIMPLEMENTED with a driver that is older, or does not know. Of a logical device the
  // first GPU's.
  Result<DeviceDetails> details() const;

  // OK while the device works; afterwards the failure that lost it, for as long as it lives. A
  // queue that is lost (Queue::fault) loses no device.
  Status fault() const;
  // Validation in front of the driver is on unless a benchmark turns it off.
  bool validates() const noexcept;
  void set_validation(bool on) noexcept;

 protected:
  Device() noexcept = default;  // by the driver SDK
  ~Device() = default;
};

inline Device& Buffer::device() const noexcept {
  return *Device::from_contract<Device>(contract()->device);
}
inline Device& CommandBuffer::device() const noexcept {
  return *Device::from_contract<Device>(contract()->device);
}
inline Device& Executable::device() const noexcept {
  return *Device::from_contract<Device>(contract()->device);
}
inline Device& MemoryPool::device() const noexcept {
  return *Device::from_contract<Device>(contract()->device);
}
inline Device& Queue::device() const noexcept {
  return *Device::from_contract<Device>(contract()->device);
}
inline Device& Semaphore::device() const noexcept {
  return *Device::from_contract<Device>(contract()->device);
}

}  // namespace halyard
