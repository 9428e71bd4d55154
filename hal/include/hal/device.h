// Device: a GPU, its facts, its memory and the objects that are made on it.
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

// The constant facts and limits of a device. For a logical device they are the first GPU's, except
// that the limits of a dispatch (work-group, grid, LDS) hold for every GPU.
struct DeviceInfo {
  uint32_t struct_size = sizeof(DeviceInfo);
  StringView driver;  // "amdgpu"
  StringView name;    // "Radeon RX Vega 64"
  StringView uuid;    // "GPU-…"; empty if the device has none
  StringView target;  // "gfx90a:sramecc+:xnack-"
  uint32_t compute_units = 0;
  uint32_t wavefront_size = 0;        // work-items
  uint32_t max_workgroup_size = 0;    // work-items in total
  Dim3 max_workgroup = {0, 0, 0};     // work-items in each dimension
  Dim3 max_grid = {0, 0, 0};          // work-items in each dimension
  uint64_t max_grid_size = 0;         // work-items in total
  uint32_t lds_bytes = 0;             // per work-group
  uint64_t memory_bytes = 0;          // the device's own
  uint64_t max_allocation_bytes = 0;  // one buffer
  uint32_t allocation_alignment = 0;  // bytes
  uint32_t max_clock_mhz = 0;
  uint64_t timestamp_hz = 0;        // the clock of profiling timestamps
  bool maps_device_memory = false;  // MemoryType::kDeviceMapped exists
  bool coherent_map = true;         // Buffer::flush and invalidate do nothing
  bool imports_queues = false;      // Device::import_queue works
  // The number of GPUs of a logical device (Device::gpu). A driver leaves it at 1: only the host
  // makes logical devices.
  uint32_t gpu_count = 1;
  StringView pci_address;  // "0000:c1:00.0", as DeviceSummary has it
  // BufferOptions::managed, Queue::prefetch and Device::advise work. Since 2.1.
  bool managed_memory = false;
  // Bytes: what a reserved buffer (BufferOptions::reserve) and the ranges of Device::commit are
  // multiples of. 0: there are none. Since 2.1.
  uint64_t commit_granule = 0;
};

struct HeapInfo {
  uint32_t struct_size = sizeof(HeapInfo);
  MemoryType type = MemoryType::kDevice;
  uint64_t size = 0;            // bytes
  uint64_t max_allocation = 0;  // bytes
  uint64_t granule = 0;         // bytes; an allocation takes a multiple of it
  // Since 2.1; 0: unknown.
  uint32_t clock_mhz = 0;  // the highest memory clock
  uint32_t bus_bits = 0;   // of the memory's interface
};

// Facts for tuning. A figure is 0 if the vendor's runtime does not report it.
struct DeviceDetails {
  uint32_t struct_size = sizeof(DeviceDetails);
  int32_t numa_node = -1;  // the host's node nearest to the GPU; -1: unknown
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

// The allocations from a heap through this device.
struct HeapStatistics {
  uint32_t struct_size = sizeof(HeapStatistics);
  uint64_t live_bytes = 0;
  uint64_t live_buffers = 0;
  uint64_t peak_bytes = 0;
};

struct QueueOptions {
  uint32_t struct_size = sizeof(QueueOptions);
  enum class Priority : uint32_t { kLow, kNormal, kHigh } priority = Priority::kNormal;
  // The number of operations on the device above which a submission waits; operations that the host
  // holds do not count. Rounded up to a power of two within the driver's bounds. 0: default.
  uint32_t capacity = 0;
  // The GPU of a logical device that runs the queue's work, below Device::gpu_count().
  uint32_t gpu = 0;
};

// A link from a GPU to another GPU of the same driver.
struct LinkInfo {
  uint32_t struct_size = sizeof(LinkInfo);
  uint32_t peer_ordinal = 0;
  uint32_t hops = 0;
  uint32_t min_bandwidth_mbps = 0;  // MB/s; 0: unknown
  uint32_t max_bandwidth_mbps = 0;
  bool coherent = false;
  // kOther if the hops are of different kinds.
  enum class Kind : uint32_t { kUnknown, kPcie, kXgmi, kOther } kind = Kind::kUnknown;
  // The GPUs of a logical device at both ends (Device::gpu); kNoGpu for a peer that is not part of
  // it.
  uint32_t gpu = 0;
  uint32_t peer_gpu = kNoGpu;
  static constexpr uint32_t kNoGpu = UINT32_MAX;
};
const char* to_string(LinkInfo::Kind kind) noexcept;  // "unknown", "PCIe", "xGMI", "other"

// Memory of a Linux dma-buf: GPU memory that other processes, drivers and devices (network cards,
// cameras, displays) can use too.
struct Dmabuf {
  uint32_t struct_size = sizeof(Dmabuf);
  int32_t fd = -1;                 // the descriptor, which its owner closes
  alignas(8) uint64_t offset = 0;  // bytes: where the memory begins in the dma-buf
};

// Called when nothing uses the imported memory any longer.
using ReleaseFunction = void (*)(void* context) noexcept;

// Existing memory that becomes a buffer. Its owner keeps it, and it must outlive the buffer and all
// work that was given the buffer.
struct ImportOptions {
  uint32_t struct_size = sizeof(ImportOptions);
  // kDmabuf: UNIMPLEMENTED if the driver, or its runtime, has no dma-bufs. Device::import_buffer
  // leaves the descriptor open; the caller may close it then.
  enum class Kind : uint32_t {
    kHostMemory,
    kDevicePointer,
    kIpcHandle,
    kDmabuf
  } kind = Kind::kHostMemory;
  // kIpcHandle: ExportedHandle::ipc; lives until both free it. kDmabuf: a Dmabuf.
  const void* pointer = nullptr;
  // Bytes. kIpcHandle: at most the exported size. kDmabuf: at most what is behind the offset.
  uint64_t size = 0;
  // Tells the owner when that is so. Called once, with `release_context`, after the
  // buffer's last reference is gone and all work that was given it is done: at the latest
  // before Device::release returns. If such work never ends (docs/failures.md), it is never
  // called. The driver calls it on the thread that notices the end of the work, so it must
  // not block or call Halyard. Not called if the import fails, which leaves the memory
  // unchanged.
  ReleaseFunction release = nullptr;
  void* release_context = nullptr;
};

// The owner of an allocation's memory.
enum class AllocationOwner : uint32_t {
  kDevice = 0,      // the device's: from Device::allocate or a pool
  kImported = 1,    // imported as a device pointer, an IPC handle or a dma-buf
  kHostMemory = 2,  // the program's own, imported as host memory
};

// The result of Device::find_allocation.
struct AllocationInfo {
  uint32_t struct_size = sizeof(AllocationInfo);
  MemoryType type = MemoryType::kDevice;
  AllocationOwner owner = AllocationOwner::kDevice;
  uint64_t device_address = 0;   // of the first byte
  uint64_t size = 0;             // bytes
  void* host_pointer = nullptr;  // to the first byte; null if the host cannot access it
};

// A handle that another process imports, with the same or another driver of Halyard's.
struct ExportedSemaphore {
  uint32_t struct_size = sizeof(ExportedSemaphore);
  uint8_t ipc[64] = {};
};

// The clocks of the device and of the host, read at one moment.
struct ClockReading {
  uint32_t struct_size = sizeof(ClockReading);
  alignas(8) uint64_t device_ticks = 0;  // what s_memrealtime and wall_clock64() read in a kernel
  uint64_t device_hz = 0;                // their frequency
  uint64_t host_ns = 0;                  // of CLOCK_MONOTONIC
  uint64_t uncertainty_ns = 0;           // the longest time between the two readings
};
// A handle that another process with the same driver imports. Device pointers need no handle: use
// Buffer::device_address.
struct ExportedHandle {
  uint32_t struct_size = sizeof(ExportedHandle);
  uint8_t ipc[64] = {};  // hsa_amd_ipc_memory_t uses 32 bytes, hipIpcMemHandle_t all 64
};

// Advice on the use of managed memory: Device::advise. `Device` is the GPU that is asked.
enum class MemoryAdvice : uint32_t {
  kReadMostly = 0,  // mostly read: the runtime may keep copies
  kNotReadMostly = 1,
  kPreferDevice = 2,      // its pages should be in the GPU's memory,
  kPreferHost = 3,        // or in the host's,
  kPreferNothing = 4,     // or where the last access or prefetch leaves them
  kAccessedByDevice = 5,  // the GPU should reach the pages where they are, without moving them
  kNotAccessedByDevice = 6,
};
const char* to_string(MemoryAdvice advice) noexcept;  // "read mostly", "prefer device", …

enum class WaitMode : uint32_t { kAny, kAll };

// Any thread may use any method. Objects that a device creates keep it alive. The release of the
// last reference waits some seconds at most for work in flight (docs/failures.md). Work that takes
// longer continues, and its memory is freed when it ends.
class Device : public Object<HalyardDevice> {
 public:
  const DeviceInfo& info() const noexcept;

  // For a logical device: the first GPU's. gpu(i) has the others'.
  size_t heap_count() const;
  Result<HeapInfo> heap(size_t index) const;
  Result<HeapStatistics> heap_statistics(size_t index) const;

  // Zeros for a type that has no pool yet. For a logical device: the sum over its GPUs' pools.
  Result<PoolStatistics> pool_statistics(MemoryType type) const;
  // Frees unused blocks of the pool until it has at most `keep_bytes` reserved, or only used
  // blocks. Does not wait for work in flight, whose blocks stay.
  Status trim_pool(MemoryType type, uint64_t keep_bytes);
  // A further pool, for PoolOptions::pool. Does not allocate from the heap yet.
  Result<Ref<MemoryPool>> create_pool(const PoolInfo& info);

  Result<Ref<Queue>> create_queue(const QueueOptions& options = {});
  // A queue over a queue of the vendor runtime (hipStream_t), which the caller keeps and which must
  // outlive it. Work on either is ordered by its submission. FAILED_PRECONDITION if
  // DeviceInfo::imports_queues is false.
  Result<Ref<Queue>> import_queue(void* native_queue);
  // If the heap is full, waits up to 10 s for work that still uses released memory.
  // RESOURCE_EXHAUSTED names the requested size, the limit and the memory in use.
  Result<Ref<Buffer>> allocate(uint64_t size, const BufferOptions& options = {});
  Result<Ref<Buffer>> import_buffer(const ImportOptions& options);
  // This process keeps the buffer, which must outlive the imports. FAILED_PRECONDITION for a part
  // of an allocation, and for memory other than the device's own.
  Result<ExportedHandle> export_buffer(Buffer& buffer);
  // A new descriptor of the buffer's memory, closed on exec. The caller closes it. Another process
  // that gets it (SCM_RIGHTS) can import it, with any driver, or map it. This process keeps the
  // buffer while others use the memory. FAILED_PRECONDITION as for export_buffer; UNIMPLEMENTED if
  // the vendor's runtime cannot export dma-bufs (HSA runtimes before 5.6).
  Result<Dmabuf> export_dmabuf(Buffer& buffer);
  // Finds this device's buffer (not a view) that contains `pointer`, an address of the device or
  // the host. Imports can overlap; then a buffer that the device has allocated is preferred. A
  // buffer is found from its creation until its last reference is gone or Queue::dealloca_buffer is
  // called. NOT_FOUND if there is none.
  Result<AllocationInfo> find_allocation(const void* pointer) const;
  Result<Ref<Semaphore>> create_semaphore(uint64_t initial_value = 0);
  // Shares one timeline between processes of one user on one system. A value that one process or
  // its work signals is reached in all after some milliseconds at most; a failure in one is a
  // failure in all. Each process has its own semaphore, which it can use like any other and export
  // in turn. The timeline ends with the last of them. If a process ends without releasing its
  // semaphore, the others fail (ABORTED). FAILED_PRECONDITION if the exporter has released its
  // semaphore, or has ended, before the import.
  Result<ExportedSemaphore> export_semaphore(Semaphore& semaphore);
  Result<Ref<Semaphore>> import_semaphore(const ExportedSemaphore& exported);
  // Returns when any, or all, of the points are reached. With kAny, `index` gets the index of a
  // reached point, unless it is null.
  Status wait(Span<const SemaphorePoint> points, WaitMode mode,
              Deadline deadline = Deadline::infinite(), size_t* index = nullptr);
  Result<Ref<CommandBuffer>> create_command_buffer();
  // `data` is a code object or another format that hal/module.h reads: an offload bundle, a program
  // made by hipcc, an archive. It is not needed after the call. Halyard loads the variants for this
  // device. If there are several (bundles of several translation units), the executable has the
  // functions of all; the first one of each name counts. FAILED_PRECONDITION if no variant fits the
  // device, with the reasons.
  Result<Ref<Executable>> load_executable(const void* data, size_t size);
  // The same for a module that has been read, such as a folder.
  Result<Ref<Executable>> load_executable(const Module& module);

  // Whether this device can use memory of `peer`: always for itself, never for another driver's
  // device. It can always use host memory of its driver's devices.
  bool can_access(const Device& peer) const noexcept;
  // Gives this device access to `buffer` of another device, also by address alone
  // (Argument::address, pointers in memory). An operation that is given the buffer does this
  // itself. FAILED_PRECONDITION unless can_access.
  Status let_in(Buffer& buffer);
  // Links to the other GPUs of the driver, whether they are part of this device or not. For a
  // logical device: the links of all its GPUs.
  size_t link_count() const;
  Result<LinkInfo> link(size_t index) const;

  // The number of GPUs of a logical device; 1 for any other. Queues and allocations select one
  // (QueueOptions::gpu, BufferOptions::gpu); the first one is the default. Each GPU is also a
  // device: Buffer::device and Semaphore::device return the GPU's device, but Queue::device,
  // Executable::device and CommandBuffer::device the logical one. Each GPU loads its own variant of
  // an executable, and can execute a recording.
  size_t gpu_count() const noexcept { return info().gpu_count; }
  // `index` < gpu_count(). For a device of one GPU, the device itself.
  Device& gpu(size_t index) const noexcept;
  // Records the times of operations that are submitted between the two calls. end_profile waits for
  // them and passes each to `sink`. If the sink throws, end_profile stops calling it and fails.
  // Recorded operations are slower, and do not overlap their neighbours on the queue; commands of a
  // command buffer overlap as without a profile.
  Status begin_profile();
  Status begin_profile(const ProfileOptions& options);
  Status end_profile(ProfileSink sink, void* context);

  // Advises the runtime on the pages of managed memory (BufferOptions::managed) that hold the
  // range, at once. Contents and addresses stay the same. For a logical device: its first GPU is
  // asked; use gpu(i) for others. FAILED_PRECONDITION for other memory. Since 2.1: UNIMPLEMENTED
  // with an older driver or one without managed memory.
  Status advise(const BufferRange& range, MemoryAdvice advice);

  // Puts memory behind a range of a reserved buffer (BufferOptions::reserve), in whole granules
  // (DeviceInfo::commit_granule). Its contents are undefined. FAILED_PRECONDITION if a part of the
  // range is committed, or for another buffer; RESOURCE_EXHAUSTED if the heap is full. It does not
  // wait for memory of work in flight. Since 2.1: UNIMPLEMENTED with an older driver or one that
  // reserves nothing.
  Status commit(const BufferRange& range);
  // Gives the memory back at once: work that uses it must be done. The range is one or several
  // ranges of commit(), each as a whole; else FAILED_PRECONDITION. The last reference to the buffer
  // gives back all of its memory, once work that was given the buffer is done.
  Status decommit(const BufferRange& range);

  // UNIMPLEMENTED if the vendor's runtime does not report the device's time.
  Result<ClockReading> read_clocks() const;

  // Since 2.1: UNIMPLEMENTED with an older driver or one without this data. For a logical device:
  // the first GPU's.
  Result<DeviceDetails> details() const;

  // OK while the device works; then the failure that lost it, permanently. A lost queue
  // (Queue::fault) does not lose the device.
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
