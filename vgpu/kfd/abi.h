// The binary interface of the kernel driver: requests of /dev/kfd and their arguments.
//
// As in Linux, include/uapi/linux/kfd_ioctl.h of interface 1.15, and, from 0x80 on, as AMD's own
// build of the driver has it (ROCT-Thunk-Interface 5.2.3, include/linux/kfd_ioctl.h). Declared here
// because Debian's copy of that header is older and cannot be included without libdrm-dev;
// tests/abi_test.cpp compares what both have.
#pragma once

#include <asm/ioctl.h>

#include <cstdint>

namespace halyard::vgpu::kfd::abi {

inline constexpr uint32_t kMajorVersion = 1;
inline constexpr uint32_t kMinorVersion = 15;
inline constexpr unsigned kRequestType = 'K';

// A request's number, the low byte of an ioctl's code.
enum class Request : uint8_t {
  kGetVersion = 0x01,
  kCreateQueue = 0x02,
  kDestroyQueue = 0x03,
  kSetMemoryPolicy = 0x04,
  kGetClockCounters = 0x05,
  kGetProcessApertures = 0x06,
  kUpdateQueue = 0x07,
  kCreateEvent = 0x08,
  kDestroyEvent = 0x09,
  kSetEvent = 0x0a,
  kResetEvent = 0x0b,
  kWaitEvents = 0x0c,
  kOldDebugRegister = 0x0d,
  kOldDebugUnregister = 0x0e,
  kOldDebugAddressWatch = 0x0f,
  kOldDebugWaveControl = 0x10,
  kSetScratchBackingVa = 0x11,
  kGetTileConfig = 0x12,
  kSetTrapHandler = 0x13,
  kGetProcessAperturesNew = 0x14,
  kAcquireVm = 0x15,
  kAllocMemoryOfGpu = 0x16,
  kFreeMemoryOfGpu = 0x17,
  kMapMemoryToGpu = 0x18,
  kUnmapMemoryFromGpu = 0x19,
  kSetCuMask = 0x1a,
  kGetQueueWaveState = 0x1b,
  kGetDmabufInfo = 0x1c,
  kImportDmabuf = 0x1d,
  kAllocQueueGws = 0x1e,
  kSmiEvents = 0x1f,
  kSvm = 0x20,
  kSetXnackMode = 0x21,
  kCriuOp = 0x22,
  kAvailableMemory = 0x23,
  kExportDmabuf = 0x24,
  kRuntimeEnable = 0x25,
  kDebugTrap = 0x26,
  kIpcImportHandle = 0x80,
  kIpcExportHandle = 0x81,
  kOldDebugTrap = 0x82,
  kCrossMemoryCopy = 0x83,
  kRlcSpm = 0x84,
};

// The code of a request whose argument is a T.
template <class T>
constexpr unsigned long code(Request request, unsigned direction = _IOC_READ | _IOC_WRITE) {
  return _IOC(direction, kRequestType, static_cast<unsigned>(request), sizeof(T));
}

struct Version {
  uint32_t major = 0;
  uint32_t minor = 0;
};

enum class QueueType : uint32_t { kCompute = 0, kSdma = 1, kComputeAql = 2, kSdmaXgmi = 3 };

struct CreateQueue {
  uint64_t ring_base = 0;
  uint64_t write_pointer = 0;
  uint64_t read_pointer = 0;
  uint64_t doorbell_offset = 0;  // out
  uint32_t ring_size = 0;
  uint32_t gpu_id = 0;
  QueueType type = {};
  uint32_t percentage = 0;
  uint32_t priority = 0;
  uint32_t queue_id = 0;  // out
  uint64_t eop_buffer = 0;
  uint64_t eop_buffer_size = 0;
  uint64_t save_area = 0;
  uint32_t save_area_size = 0;
  uint32_t control_stack_size = 0;
};
inline constexpr uint32_t kMaxPercentage = 100;
inline constexpr uint32_t kMaxPriority = 15;
inline constexpr uint32_t kMinRingBytes = 1024;

struct DestroyQueue {
  uint32_t queue_id = 0;
  uint32_t pad = 0;
};

struct UpdateQueue {
  uint64_t ring_base = 0;
  uint32_t queue_id = 0;
  uint32_t ring_size = 0;
  uint32_t percentage = 0;
  uint32_t priority = 0;
};

struct SetCuMask {
  uint32_t queue_id = 0;
  uint32_t bits = 0;
  uint64_t mask_pointer = 0;
};

struct AvailableMemory {
  uint64_t available = 0;  // out
  uint32_t gpu_id = 0;
  uint32_t pad = 0;
};

struct SetMemoryPolicy {
  uint64_t alternate_base = 0;
  uint64_t alternate_size = 0;
  uint32_t gpu_id = 0;
  uint32_t default_policy = 0;
  uint32_t alternate_policy = 0;
  uint32_t pad = 0;
};
inline constexpr uint32_t kMaxPolicy = 1;  // 0: coherent, 1: not coherent

struct ClockCounters {
  uint64_t gpu = 0;               // out
  uint64_t cpu = 0;               // out
  uint64_t system = 0;            // out
  uint64_t system_frequency = 0;  // out
  uint32_t gpu_id = 0;
  uint32_t pad = 0;
};

struct DeviceApertures {
  uint64_t lds_base = 0;
  uint64_t lds_limit = 0;
  uint64_t scratch_base = 0;
  uint64_t scratch_limit = 0;
  uint64_t gpuvm_base = 0;
  uint64_t gpuvm_limit = 0;
  uint32_t gpu_id = 0;
  uint32_t pad = 0;
};

inline constexpr uint32_t kOldAperturesGpus = 7;
struct ProcessApertures {
  DeviceApertures apertures[kOldAperturesGpus];  // out
  uint32_t count = 0;                            // out
  uint32_t pad = 0;
};

struct ProcessAperturesNew {
  uint64_t apertures_pointer = 0;
  uint32_t count = 0;  // in: room; out: how many there are
  uint32_t pad = 0;
};

enum class EventType : uint32_t {
  kSignal = 0,
  kHardwareException = 3,
  kDebug = 5,
  kMemory = 8,
};
inline constexpr uint32_t kEventLimit = 4096;
inline constexpr uint64_t kEventPage = uint64_t{2} << 62;  // an offset for mmap

struct CreateEvent {
  uint64_t event_page_offset = 0;   // in: the event page's memory handle, or 0; out: for mmap
  uint32_t event_trigger_data = 0;  // out
  EventType type = {};
  uint32_t auto_reset = 0;
  uint32_t node_id = 0;
  uint32_t event_id = 0;          // out
  uint32_t event_slot_index = 0;  // out
};

// Destroy, set and reset.
struct EventId {
  uint32_t event_id = 0;
  uint32_t pad = 0;
};

inline constexpr uint32_t kMemoryErrorHang = 3;  // GPU hang, of no specific cause

struct MemoryException {
  uint32_t not_present = 0;
  uint32_t read_only = 0;
  uint32_t no_execute = 0;
  uint32_t imprecise = 0;
  uint64_t address = 0;
  uint32_t gpu_id = 0;
  uint32_t error_type = 0;
};

struct EventData {
  union {
    MemoryException memory_exception = {};  // out, of a memory event
    // Of a signal's event, in: the age that the caller has seen, or 0; out: its age.
    uint64_t last_event_age;
  };
  uint64_t extension = 0;
  uint32_t event_id = 0;
  uint32_t pad = 0;
};

enum class WaitResult : uint32_t { kComplete = 0, kTimeout = 1, kFail = 2 };

struct WaitEvents {
  uint64_t events_pointer = 0;
  uint32_t count = 0;
  uint32_t wait_for_all = 0;
  uint32_t timeout = 0;         // milliseconds
  WaitResult wait_result = {};  // out
};

struct SetScratchBackingVa {
  uint64_t address = 0;
  uint32_t gpu_id = 0;
  uint32_t pad = 0;
};

struct TileConfig {
  uint64_t tile_config_pointer = 0;
  uint64_t macro_tile_config_pointer = 0;
  uint32_t tile_configs = 0;
  uint32_t macro_tile_configs = 0;
  uint32_t gpu_id = 0;
  uint32_t gb_addr_config = 0;  // out
  uint32_t banks = 0;           // out
  uint32_t ranks = 0;           // out
};

struct SetTrapHandler {
  uint64_t handler_address = 0;
  uint64_t memory_address = 0;
  uint32_t gpu_id = 0;
  uint32_t pad = 0;
};

struct AcquireVm {
  uint32_t drm_fd = 0;
  uint32_t gpu_id = 0;
};

inline constexpr uint32_t kVram = 1u << 0;
inline constexpr uint32_t kGtt = 1u << 1;
inline constexpr uint32_t kUserPointer = 1u << 2;
inline constexpr uint32_t kDoorbell = 1u << 3;
inline constexpr uint32_t kMmioRemap = 1u << 4;
inline constexpr uint32_t kUncached = 1u << 25;
inline constexpr uint32_t kCoherent = 1u << 26;
inline constexpr uint32_t kAqlQueueMemory = 1u << 27;
inline constexpr uint32_t kPublic = 1u << 29;
inline constexpr uint32_t kExecutable = 1u << 30;
inline constexpr uint32_t kWritable = 1u << 31;

struct AllocMemory {
  uint64_t address = 0;  // 0: none, for memory that render nodes map
  uint64_t size = 0;
  uint64_t handle = 0;       // out
  uint64_t mmap_offset = 0;  // in: the host's address of a user pointer; out: for mmap
  uint32_t gpu_id = 0;
  uint32_t flags = 0;
};

struct FreeMemory {
  uint64_t handle = 0;
};

// Map and unmap.
struct MapMemory {
  uint64_t handle = 0;
  uint64_t gpu_ids_pointer = 0;
  uint32_t count = 0;
  uint32_t done = 0;  // in, out: how many of them are mapped
};

struct GetDmabufInfo {
  uint64_t size = 0;  // out
  uint64_t metadata_pointer = 0;
  uint32_t metadata_size = 0;  // in: room; out: bytes
  uint32_t gpu_id = 0;         // out
  uint32_t flags = 0;          // out: kVram or kGtt, and kPublic
  uint32_t dmabuf_fd = 0;
};

struct ImportDmabuf {
  uint64_t address = 0;
  uint64_t handle = 0;  // out
  uint32_t gpu_id = 0;
  uint32_t dmabuf_fd = 0;
};

struct ExportDmabuf {
  uint64_t handle = 0;
  uint32_t flags = 0;      // of open(): O_CLOEXEC
  uint32_t dmabuf_fd = 0;  // out
};

// Those that can be chosen and happen here (enum kfd_smi_event).
enum class SmiEvent : uint32_t { kVmFault = 1 };

struct SmiEvents {
  uint32_t gpu_id = 0;
  uint32_t fd = 0;  // out
};

// Debugging before Linux 5.12: one argument for all, of which nothing is read.
struct OldDebugging {
  uint32_t gpu_id = 0;
  uint32_t pad = 0;
};

inline constexpr uint32_t kEnableRuntime = 1u << 0;
inline constexpr uint32_t kSaveTrapTemporaries = 1u << 1;
struct RuntimeEnable {
  uint64_t debug_pointer = 0;
  uint32_t mode = 0;
  uint32_t capabilities = 0;  // out
};

// What each operation of a debugger begins with.
struct DebugTrap {
  uint32_t pid = 0;
  uint32_t operation = 0;
};

struct AllocQueueGws {
  uint32_t queue_id = 0;
  uint32_t count = 0;
  uint32_t first = 0;  // out
  uint32_t pad = 0;
};

struct SetXnackMode {
  int32_t enabled = 0;  // in: below 0 asks; out: the mode
};

enum class SvmOperation : uint32_t { kSet = 0, kGet = 1 };

enum class SvmAttributeType : uint32_t {
  kPreferredLocation = 0,
  kPrefetchLocation = 1,
  kAccess = 2,  // to get: which of the three it is
  kAccessInPlace = 3,
  kNoAccess = 4,
  kSetFlags = 5,
  kClearFlags = 6,
  kGranularity = 7,
};

// Locations are ids of GPUs, or these.
inline constexpr uint32_t kSystemMemory = 0;
inline constexpr uint32_t kNoLocation = 0xffffffff;

inline constexpr uint32_t kSvmHostAccess = 1u << 0;
inline constexpr uint32_t kSvmCoherent = 1u << 1;
inline constexpr uint32_t kSvmGpuReadOnly = 1u << 3;

struct SvmAttribute {
  SvmAttributeType type = {};
  uint32_t value = 0;
};

// As many attributes follow.
struct Svm {
  uint64_t begin = 0;
  uint64_t size = 0;
  SvmOperation operation = {};
  uint32_t count = 0;
};

struct IpcExport {
  uint64_t handle = 0;
  uint32_t share_handle[4] = {};  // out
  uint32_t gpu_id = 0;
  uint32_t flags = 0;
};

struct IpcImport {
  uint64_t handle = 0;  // out
  uint64_t address = 0;
  uint64_t mmap_offset = 0;  // out
  uint32_t share_handle[4] = {};
  uint32_t gpu_id = 0;
  uint32_t flags = 0;  // out
};

}  // namespace halyard::vgpu::kfd::abi
