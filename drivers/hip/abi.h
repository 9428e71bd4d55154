// What of HIP's binary interface the driver uses, declared here because a machine that runs it has
// libamdhip64 but not always its headers. Names and numbers are those of hip/hip_runtime_api.h;
// they are the same in HIP 5 and 6 but where said.
#pragma once

#include <cstddef>
#include <cstdint>

namespace halyard::hip {

// HIP's names.
// NOLINTBEGIN(readability-identifier-naming)

using hipError_t = int;  // an enumeration
using hipDevice_t = int;
using hipDeviceptr_t = void*;

struct ihipStream_t;
struct ihipEvent_t;
struct ihipModule_t;
struct ihipModuleSymbol_t;
using hipStream_t = ihipStream_t*;
using hipEvent_t = ihipEvent_t*;
using hipModule_t = ihipModule_t*;
using hipFunction_t = ihipModuleSymbol_t*;

using hipStreamCallback_t = void (*)(hipStream_t stream, hipError_t status, void* data);
using hipHostFn_t = void (*)(void* data);

struct hipUUID {
  char bytes[16];
};
struct hipIpcMemHandle_t {
  char reserved[64];
};

struct hipExternalMemory;  // HIP has it as void
using hipExternalMemory_t = hipExternalMemory*;
inline constexpr int hipExternalMemoryHandleTypeOpaqueFd = 1;
struct hipExternalMemoryHandleDesc {
  int type = 0;  // an enumeration
  union {
    int fd;
    struct {
      void* handle;
      const void* name;
    } win32;
    const void* other;
  } handle = {};
  unsigned long long size = 0;
  unsigned flags = 0;
  unsigned reserved[16] = {};  // HIP 5 has none
};
struct hipExternalMemoryBufferDesc {
  unsigned long long offset = 0;
  unsigned long long size = 0;
  unsigned flags = 0;
  unsigned reserved[16] = {};  // HIP 5 has none
};

inline constexpr int kMemoryTypeHost5 = 0;
inline constexpr int kMemoryTypeHost6 = 1;
struct hipPointerAttribute_t {
  int memoryType;
  int device;
  void* devicePointer;
  void* hostPointer;
  int isManaged;
  unsigned allocationFlags;
};

// hipDeviceProp_t differs between HIP 5 (792 bytes) and HIP 6 (1472); the driver reads three of its
// members.
struct DeviceProperties {
  static constexpr size_t kNameOffset = 0;
  static constexpr size_t kArchOffset5 = 396;   // gcnArchName
  static constexpr size_t kArchOffset6 = 1160;  // … of hipDeviceProp_tR0600
  static constexpr size_t kTextSize = 256;
  static constexpr size_t kLargeBarOffset5 = 764;  // isLargeBar, an int
  static constexpr size_t kLargeBarOffset6 = 1464;

  alignas(8) char bytes[4096] = {};
};

enum : hipError_t {
  hipSuccess = 0,
  hipErrorInvalidValue = 1,
  hipErrorOutOfMemory = 2,
  hipErrorNotInitialized = 3,
  hipErrorInsufficientDriver = 35,
  hipErrorNoDevice = 100,
  hipErrorInvalidDevice = 101,
  hipErrorInvalidImage = 200,
  hipErrorNoBinaryForGpu = 209,
  hipErrorInvalidKernelFile = 218,
  hipErrorSharedObjectInitFailed = 303,
  hipErrorInvalidHandle = 400,
  hipErrorNotFound = 500,
  hipErrorNotReady = 600,
  hipErrorPeerAccessAlreadyEnabled = 704,
  hipErrorHostMemoryAlreadyRegistered = 712,
  hipErrorNotSupported = 801,
};

enum hipDeviceAttribute_t : int {
  hipDeviceAttributeAsyncEngineCount = 2,
  hipDeviceAttributeClockRate = 5,  // kHz
  hipDeviceAttributeL2CacheSize = 19,
  hipDeviceAttributeManagedMemory = 24,
  hipDeviceAttributeMaxBlockDimX = 26,
  hipDeviceAttributeMaxBlockDimY = 27,
  hipDeviceAttributeMaxBlockDimZ = 28,
  hipDeviceAttributeMaxGridDimX = 29,
  hipDeviceAttributeMaxGridDimY = 30,
  hipDeviceAttributeMaxGridDimZ = 31,
  hipDeviceAttributeMaxThreadsPerBlock = 56,
  hipDeviceAttributeMaxThreadsPerMultiProcessor = 57,
  hipDeviceAttributeMemoryBusWidth = 59,   // bits
  hipDeviceAttributeMemoryClockRate = 60,  // kHz
  hipDeviceAttributeMultiprocessorCount = 63,
  hipDeviceAttributeMaxSharedMemoryPerBlock = 74,
  hipDeviceAttributeWarpSize = 87,
  hipDeviceAttributeVirtualMemoryManagementSupported = 89,
  hipDeviceAttributeHdpMemFlushCntl = 10005,  // an address: 8 bytes
  hipDeviceAttributeFineGrainSupport = 10016,
};

// Reserved addresses and memory for them. hipMemAllocationProp has another layout in HIP 5.
struct hipMemAllocation;
using hipMemGenericAllocationHandle_t = hipMemAllocation*;
inline constexpr int hipMemLocationTypeDevice = 1;
inline constexpr int hipMemAllocationTypePinned = 1;
inline constexpr int hipMemAccessFlagsProtReadWrite = 3;
inline constexpr int hipMemAllocationGranularityRecommended = 1;
struct hipMemLocation {
  int type = hipMemLocationTypeDevice;  // an enumeration
  int id = 0;                           // of the device
};
struct hipMemAllocationProp {
  int type = hipMemAllocationTypePinned;  // an enumeration
  int requestedHandleType = 0;            // an enumeration; 0: it is not shared
  hipMemLocation location;
  void* win32HandleMetaData = nullptr;
  struct {
    unsigned char compressionType = 0;
    unsigned char gpuDirectRDMACapable = 0;
    unsigned short usage = 0;
  } allocFlags;
};
struct hipMemAccessDesc {
  hipMemLocation location;
  int flags = hipMemAccessFlagsProtReadWrite;  // an enumeration
};

enum hipMemcpyKind : int { hipMemcpyDefault = 4 };

enum hipMemoryAdvise : int {
  hipMemAdviseSetReadMostly = 1,
  hipMemAdviseUnsetReadMostly = 2,
  hipMemAdviseSetPreferredLocation = 3,
  hipMemAdviseUnsetPreferredLocation = 4,
  hipMemAdviseSetAccessedBy = 5,
  hipMemAdviseUnsetAccessedBy = 6,
};
inline constexpr int hipCpuDeviceId = -1;
inline constexpr unsigned hipMemAttachGlobal = 1;

enum : unsigned {
  hipEventDefault = 0,
  hipEventDisableTiming = 2,
  hipStreamNonBlocking = 1,
  hipHostMallocPortable = 1,
  hipHostMallocMapped = 2,
  hipHostMallocCoherent = 0x40000000,
  hipHostRegisterPortable = 1,
  hipHostRegisterMapped = 2,
  hipDeviceMallocFinegrained = 1,
};

// The only flag of hipIpcOpenMemHandle, which has another number in each.
inline constexpr unsigned kIpcLazyPeerAccess5 = 0;
inline constexpr unsigned kIpcLazyPeerAccess6 = 1;

// Keys of hipModuleLaunchKernel's `extra`.
inline void* const kLaunchParamBufferPointer = reinterpret_cast<void*>(1);
inline void* const kLaunchParamBufferSize = reinterpret_cast<void*>(2);
inline void* const kLaunchParamEnd = reinterpret_cast<void*>(3);

// Of the HSA runtime beneath (hsa.h, hsa_ext_amd.h): how it tells of a memory fault, and of memory.
using hsa_status_t = int;  // an enumeration
inline constexpr hsa_status_t HSA_STATUS_SUCCESS = 0;
inline constexpr hsa_status_t HSA_STATUS_ERROR = 0x1000;
struct hsa_agent_t {
  uint64_t handle;
};
struct hsa_signal_t {
  uint64_t handle;
};
inline constexpr int HSA_AGENT_INFO_DEVICE = 17;  // int
inline constexpr int HSA_DEVICE_TYPE_GPU = 1;
inline constexpr int HSA_SYSTEM_INFO_TIMESTAMP = 2;               // uint64_t
inline constexpr int HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY = 3;     // uint64_t, Hz
inline constexpr int HSA_AMD_AGENT_INFO_DRIVER_NODE_ID = 0xa004;  // uint32_t
inline constexpr int HSA_AMD_AGENT_INFO_BDFID = 0xa006;           // uint32_t
inline constexpr int HSA_AMD_AGENT_INFO_DOMAIN = 0xa00f;          // uint32_t
inline constexpr int HSA_AMD_GPU_MEMORY_FAULT_EVENT = 0;
struct hsa_amd_event_t {
  int event_type;
  // Of a union, the member for memory faults.
  struct {
    hsa_agent_t agent;
    uint64_t virtual_address;
    uint32_t fault_reason_mask;
  } memory_fault;
};
inline constexpr int HSA_AMD_SYSTEM_INFO_DMABUF_SUPPORTED = 0x204;  // bool
inline constexpr int HSA_EXT_POINTER_TYPE_HSA = 1;
struct hsa_amd_pointer_info_t {
  uint32_t size;  // of the struct; less if the runtime knows less of it
  int type;
  void* agent_base;
  void* host_base;
  size_t bytes;
  void* user_data;
  hsa_agent_t owner;
};
using hsa_amd_system_event_callback_t = hsa_status_t (*)(const hsa_amd_event_t* event, void* data);

// NOLINTEND(readability-identifier-naming)

}  // namespace halyard::hip
