// The binary interface of the render nodes: the implemented requests of /dev/dri/renderD* and their
// arguments (Linux, include/uapi/drm/drm.h and amdgpu_drm.h).
#pragma once

#include <asm/ioctl.h>

#include <cstdint>

namespace halyard::vgpu::kfd::drm {

inline constexpr unsigned kRequestType = 'd';
inline constexpr unsigned kVersionNumber = 0x00;
inline constexpr unsigned kGemCloseNumber = 0x09;
inline constexpr unsigned kGetCapNumber = 0x0c;
inline constexpr unsigned kPrimeHandleToFdNumber = 0x2d;
inline constexpr unsigned kPrimeFdToHandleNumber = 0x2e;
inline constexpr unsigned kFirstDriverNumber = 0x40;
inline constexpr unsigned kDriverNumbers = 0x60;
inline constexpr unsigned kAmdgpuGemCreateNumber = 0x40 + 0x00;
inline constexpr unsigned kAmdgpuGemMmapNumber = 0x40 + 0x01;
inline constexpr unsigned kAmdgpuContextNumber = 0x40 + 0x02;
inline constexpr unsigned kAmdgpuBufferListNumber = 0x40 + 0x03;
inline constexpr unsigned kAmdgpuSubmitNumber = 0x40 + 0x04;
inline constexpr unsigned kAmdgpuInfoNumber = 0x40 + 0x05;
inline constexpr unsigned kAmdgpuGemMetadataNumber = 0x40 + 0x06;
inline constexpr unsigned kAmdgpuGemWaitNumber = 0x40 + 0x07;
inline constexpr unsigned kAmdgpuGemVaNumber = 0x40 + 0x08;
inline constexpr unsigned kAmdgpuWaitNumber = 0x40 + 0x09;
inline constexpr unsigned kAmdgpuGemOpNumber = 0x40 + 0x10;
inline constexpr unsigned kAmdgpuGemUserMemoryNumber = 0x40 + 0x11;
inline constexpr unsigned kAmdgpuWaitFencesNumber = 0x40 + 0x12;
inline constexpr unsigned kAmdgpuVmNumber = 0x40 + 0x13;
inline constexpr unsigned kAmdgpuFenceToHandleNumber = 0x40 + 0x14;
inline constexpr unsigned kAmdgpuScheduleNumber = 0x40 + 0x15;

struct Version {
  int32_t major = 0;
  int32_t minor = 0;
  int32_t patch_level = 0;
  uint64_t name_length = 0;  // in: room; out: the length
  uint64_t name_pointer = 0;
  uint64_t date_length = 0;
  uint64_t date_pointer = 0;
  uint64_t description_length = 0;
  uint64_t description_pointer = 0;
};
static_assert(sizeof(Version) == 64);

struct GemClose {
  uint32_t handle = 0;
  uint32_t pad = 0;
};

struct PrimeHandle {
  uint32_t handle = 0;
  uint32_t flags = 0;  // of open(): O_CLOEXEC
  int32_t fd = -1;
};
static_assert(sizeof(PrimeHandle) == 12);

struct GetCap {
  uint64_t capability = 0;
  uint64_t value = 0;  // out
};
inline constexpr uint64_t kCapPrime = 5;
inline constexpr uint64_t kPrimeBothWays = 3;
inline constexpr uint64_t kCapMonotonic = 6;  // of time stamps
inline constexpr uint64_t kCapSyncObjects = 0x13;
inline constexpr uint64_t kCapTimelines = 0x14;
inline constexpr uint64_t kCapMost = 0x15;

inline constexpr uint64_t kDomains = 0x3f;
inline constexpr uint64_t kDomainsOfMemory = 0x7;  // CPU, GTT, VRAM; the others are on the chip
// Of access, caching, clearing, binding, synchronisation and eviction.
inline constexpr uint64_t kGemCreateKnownFlags = 0x10cf;
union GemCreate {
  struct {
    uint64_t bytes;
    uint64_t alignment;
    uint64_t domains;
    uint64_t flags;
  } in = {};
  struct {
    uint32_t handle;
    uint32_t pad;
  } out;
};
static_assert(sizeof(GemCreate) == 32);

union GemWait {
  struct {
    uint32_t handle;
    uint32_t flags;
    uint64_t timeout;
  } in = {};
  struct {
    uint32_t busy;
    uint32_t domain;
  } out;
};
static_assert(sizeof(GemWait) == 16);

enum class ContextOperation : uint32_t {
  kAllocate = 1,
  kFree = 2,
  kQueryState = 3,
  kQueryState2 = 4,
  kGetPowerState = 5,
};
inline constexpr int32_t kHighPriority = 512;
inline constexpr int32_t kVeryHighPriority = 1023;
union Context {
  struct {
    uint32_t operation;
    uint32_t flags;
    uint32_t id;
    int32_t priority;
  } in = {};
  struct {
    uint32_t id;
    uint32_t pad;
  } allocated;
};
static_assert(sizeof(Context) == 16);

enum class BufferListOperation : uint32_t { kCreate = 0, kDestroy = 1, kUpdate = 2 };
union BufferList {
  struct {
    uint32_t operation;
    uint32_t list;
    uint32_t count;
    uint32_t entry_bytes;
    uint64_t pointer;  // to entries, which begin with a handle
  } in = {};
  struct {
    uint32_t list;
    uint32_t pad;
  } out;
};
static_assert(sizeof(BufferList) == 24);

// What is only refused: as many bytes as Linux reads.
struct Submit {
  uint64_t words[3] = {};
};
struct WaitForSubmission {
  uint64_t words[4] = {};
};
struct Vm {
  uint32_t operation = 0;
  uint32_t flags = 0;
};
inline constexpr uint32_t kReserveVmid = 1;
inline constexpr uint32_t kUnreserveVmid = 2;

union GemMmap {
  struct {
    uint32_t handle;
    uint32_t pad;
  } in = {};
  uint64_t offset;  // out
};
static_assert(sizeof(GemMmap) == 8);

inline constexpr uint32_t kGemSetMetadata = 1;
inline constexpr uint32_t kGemGetMetadata = 2;
struct GemMetadata {
  uint32_t handle = 0;
  uint32_t op = 0;
  uint64_t flags = 0;   // out
  uint64_t tiling = 0;  // out
  uint32_t bytes = 0;   // out
  uint32_t data[64] = {};
};
static_assert(sizeof(GemMetadata) == 288);

inline constexpr uint32_t kVaReadable = 1u << 1;
inline constexpr uint32_t kVaWriteable = 1u << 2;
inline constexpr uint32_t kVaMap = 1;
inline constexpr uint32_t kVaUnmap = 2;
// Of memory types (bits 5 to 8), access, and when and how tables are updated.
inline constexpr uint32_t kVaKnownFlags = 0x3ef;
struct GemVa {
  uint32_t handle = 0;
  uint32_t pad = 0;
  uint32_t operation = 0;
  uint32_t flags = 0;
  uint64_t address = 0;
  uint64_t offset = 0;
  uint64_t size = 0;
};
static_assert(sizeof(GemVa) == 40);

inline constexpr uint32_t kGemGetCreateInfo = 0;
struct GemOp {
  uint32_t handle = 0;
  uint32_t op = 0;
  uint64_t value = 0;  // a GemCreateInfo's address
};
inline constexpr uint64_t kDomainGtt = 2;
inline constexpr uint64_t kDomainVram = 4;
inline constexpr uint64_t kCpuAccessRequired = 1;
struct GemCreateInfo {
  uint64_t bytes = 0;
  uint64_t alignment = 0;
  uint64_t domains = 0;
  uint64_t flags = 0;
};

enum class Query : uint32_t {
  kAccelWorking = 0x00,
  kHwIpInfo = 0x02,
  kHwIpCount = 0x03,
  kTimestamp = 0x05,
  kFirmwareVersion = 0x0e,
  kVramUsage = 0x10,
  kGttUsage = 0x11,
  kVramGtt = 0x14,
  kReadRegisters = 0x15,
  kDeviceInfo = 0x16,
  kVisibleVramUsage = 0x17,
  kMemory = 0x19,
};

struct Info {
  uint64_t return_pointer = 0;
  uint32_t return_size = 0;
  Query query = {};
  uint32_t words[4] = {};  // what the query needs
};
static_assert(sizeof(Info) == 32);

// Of rings: there are none.
struct HwIpInfo {
  uint32_t words[8] = {};
};
inline constexpr uint32_t kHwIpTypes = 9;

struct VramGtt {
  uint64_t vram = 0;
  uint64_t visible_vram = 0;
  uint64_t gtt = 0;
};

struct Heap {
  uint64_t total = 0;
  uint64_t usable = 0;
  uint64_t used = 0;
  uint64_t largest_allocation = 0;
};

struct MemoryInfo {
  Heap vram;
  Heap visible_vram;
  Heap gtt;
};

inline constexpr uint32_t kFamilyArcticIslands = 141;  // Vega, and what came of it

struct DeviceInfo {
  uint32_t device_id = 0;
  uint32_t chip_revision = 0;
  uint32_t external_revision = 0;
  uint32_t pci_revision = 0;
  uint32_t family = kFamilyArcticIslands;
  uint32_t shader_engines = 0;
  uint32_t shader_arrays_per_engine = 1;
  uint32_t counter_khz = 0;
  uint64_t max_engine_khz = 0;
  uint64_t max_memory_khz = 0;
  uint32_t active_units = 0;
  uint32_t always_on_mask = 0;
  uint32_t unit_bitmap[4][4] = {};
  uint32_t backend_mask = 0;
  uint32_t backends = 0;
  uint32_t hardware_contexts = 8;
  uint32_t pad = 0;
  uint64_t flags = 0;
  uint64_t address_offset = 0;
  uint64_t address_max = 0;
  uint32_t address_alignment = 4096;
  uint32_t fragment_bytes = uint32_t{2} << 20;
  uint32_t gart_page_bytes = 4096;
  uint32_t constant_ram_bytes = 0;
  uint32_t vram_type = 6;  // HBM
  uint32_t vram_bits = 0;
  uint32_t vce_harvest = 0;
  uint32_t double_offchip_lds = 0;
  uint64_t ngg_buffers[4] = {};
  uint32_t ngg_buffer_bytes[4] = {};
  uint32_t wave_size = 64;
  uint32_t visible_vgprs = 256;
  uint32_t units_per_array = 0;
  uint32_t l2_channels = 0;
  uint32_t gs_vgt_table_depth = 0;
  uint32_t gs_prim_buffer_depth = 0;
  uint32_t max_gs_waves_per_vgt = 0;
  uint32_t pad1 = 0;
  uint32_t always_on_bitmap[4][4] = {};
  uint64_t high_address_offset = 0;
  uint64_t high_address_max = 0;
  uint32_t tile_steering_override = 0;
  uint64_t disabled_l2_channels = 0;
};
static_assert(sizeof(DeviceInfo) == 368);

}  // namespace halyard::vgpu::kfd::drm
