#include "vgpu/kfd/kfd.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "vgpu/host_guard.h"
#include "vgpu/kfd/addresses.h"
#include "vgpu/kfd/gpu_ids.h"
#include "vgpu/kfd/user_memory.h"

namespace halyard::vgpu::kfd {

namespace {

constexpr unsigned kNone = _IOC_NONE;
constexpr unsigned kOut = _IOC_READ;
constexpr unsigned kIn = _IOC_WRITE;
constexpr unsigned kInOut = _IOC_READ | _IOC_WRITE;
constexpr unsigned kMaxArgumentBytes = 512;

// What a range of addresses is to mmap() and its kin: a size in pages. 0 if they refuse it.
uint64_t in_pages(uint64_t begin, uint64_t bytes) {
  if (begin % kPage != 0 || begin > kUserEnd || bytes > kUserEnd - begin) return 0;
  return (bytes + kPage - 1) / kPage * kPage;
}

}  // namespace

// One request. A request that is not in the table fails as in a driver without it.
struct Kfd::Entry {
  abi::Request request;
  unsigned direction;
  uint32_t bytes;  // of the argument
  int (*call)(Kfd& kfd, void* argument);
};

template <class T, int (Kfd::*kHandler)(T&)>
int Kfd::call(Kfd& kfd, void* argument) {
  static_assert(sizeof(T) <= kMaxArgumentBytes);
  return (kfd.*kHandler)(*static_cast<T*>(argument));
}

const Kfd::Entry* Kfd::find_entry(unsigned number) {
  using abi::Request;
#define HALYARD_KFD_ENTRY(request, direction, type, handler)                             \
  Entry {                                                                                \
    Request::request, direction, sizeof(abi::type), &Kfd::call<abi::type, &Kfd::handler> \
  }
  static constexpr std::array kEntries = {
      HALYARD_KFD_ENTRY(kGetVersion, kOut, Version, get_version),
      HALYARD_KFD_ENTRY(kCreateQueue, kInOut, CreateQueue, create_queue),
      HALYARD_KFD_ENTRY(kDestroyQueue, kInOut, DestroyQueue, destroy_queue),
      HALYARD_KFD_ENTRY(kSetMemoryPolicy, kIn, SetMemoryPolicy, set_memory_policy),
      HALYARD_KFD_ENTRY(kGetClockCounters, kInOut, ClockCounters, get_clock_counters),
      HALYARD_KFD_ENTRY(kGetProcessApertures, kOut, ProcessApertures, get_process_apertures),
      HALYARD_KFD_ENTRY(kUpdateQueue, kIn, UpdateQueue, update_queue),
      HALYARD_KFD_ENTRY(kCreateEvent, kInOut, CreateEvent, create_event),
      HALYARD_KFD_ENTRY(kDestroyEvent, kIn, EventId, destroy_event),
      HALYARD_KFD_ENTRY(kSetEvent, kIn, EventId, set_event),
      HALYARD_KFD_ENTRY(kResetEvent, kIn, EventId, reset_event),
      HALYARD_KFD_ENTRY(kWaitEvents, kInOut, WaitEvents, wait_events),
      HALYARD_KFD_ENTRY(kOldDebugRegister, kNone, OldDebugging, old_debugging),
      HALYARD_KFD_ENTRY(kOldDebugUnregister, kNone, OldDebugging, old_debugging),
      HALYARD_KFD_ENTRY(kOldDebugAddressWatch, kNone, OldDebugging, old_debugging),
      HALYARD_KFD_ENTRY(kOldDebugWaveControl, kNone, OldDebugging, old_debugging),
      HALYARD_KFD_ENTRY(kSetScratchBackingVa, kInOut, SetScratchBackingVa, set_scratch_backing),
      HALYARD_KFD_ENTRY(kGetTileConfig, kInOut, TileConfig, get_tile_config),
      HALYARD_KFD_ENTRY(kSetTrapHandler, kIn, SetTrapHandler, set_trap_handler),
      HALYARD_KFD_ENTRY(kGetProcessAperturesNew, kInOut, ProcessAperturesNew,
                        get_process_apertures_new),
      HALYARD_KFD_ENTRY(kAcquireVm, kIn, AcquireVm, acquire_vm),
      HALYARD_KFD_ENTRY(kAllocMemoryOfGpu, kInOut, AllocMemory, alloc_memory),
      HALYARD_KFD_ENTRY(kFreeMemoryOfGpu, kIn, FreeMemory, free_memory),
      HALYARD_KFD_ENTRY(kMapMemoryToGpu, kInOut, MapMemory, map_memory),
      HALYARD_KFD_ENTRY(kUnmapMemoryFromGpu, kInOut, MapMemory, unmap_memory),
      HALYARD_KFD_ENTRY(kSetCuMask, kIn, SetCuMask, set_cu_mask),
      HALYARD_KFD_ENTRY(kGetDmabufInfo, kInOut, GetDmabufInfo, get_dmabuf_info),
      HALYARD_KFD_ENTRY(kImportDmabuf, kInOut, ImportDmabuf, import_dmabuf),
      HALYARD_KFD_ENTRY(kExportDmabuf, kInOut, ExportDmabuf, export_dmabuf),
      HALYARD_KFD_ENTRY(kAllocQueueGws, kInOut, AllocQueueGws, alloc_queue_gws),
      HALYARD_KFD_ENTRY(kSmiEvents, kInOut, SmiEvents, smi_events),
      HALYARD_KFD_ENTRY(kSetXnackMode, kInOut, SetXnackMode, set_xnack_mode),
      HALYARD_KFD_ENTRY(kRuntimeEnable, kInOut, RuntimeEnable, runtime_enable),
      HALYARD_KFD_ENTRY(kDebugTrap, kInOut, DebugTrap, debug_trap),
      HALYARD_KFD_ENTRY(kAvailableMemory, kInOut, AvailableMemory, available_memory),
      HALYARD_KFD_ENTRY(kIpcImportHandle, kInOut, IpcImport, ipc_import),
      HALYARD_KFD_ENTRY(kIpcExportHandle, kInOut, IpcExport, ipc_export),
  };
#undef HALYARD_KFD_ENTRY
  const auto* const found = std::find_if(
      kEntries.begin(), kEntries.end(),
      [number](const Entry& entry) { return static_cast<unsigned>(entry.request) == number; });
  return found != kEntries.end() ? found : nullptr;
}

Kfd::Kfd(machine::Machine& machine)
    : machine_(machine),
      buffers_(machine, usage_),
      svm_(machine, buffers_),
      gem_(machine, buffers_),
      smi_events_(machine.events()),
      queues_(machine) {
  install_host_guard();  // for memory that the program names
}

uint32_t Kfd::node_of(uint32_t gpu_id) const {
  return node_of_gpu_id(gpu_id, machine_.node_count() - 1);
}

// As amdkfd's kfd_ioctl(): programs may be older or newer than the driver, so that their arguments
// are shorter or longer. What they do not pass is 0, and what the driver does not know is left as
// it is.
int Kfd::ioctl(unsigned long code, void* argument) {
  if (_IOC_TYPE(code) != abi::kRequestType) return -ENOTTY;
  const unsigned number = _IOC_NR(code);
  if (number == static_cast<unsigned>(abi::Request::kSvm))
    return svm(reinterpret_cast<uintptr_t>(argument), _IOC_SIZE(code));
  const Entry* const entry = find_entry(number);
  if (entry == nullptr) {
    // Those that Linux has, but that do nothing here, differ from those that it has not.
    return number <= static_cast<unsigned>(abi::Request::kDebugTrap) ? -EINVAL : -ENOTTY;
  }
  alignas(8) unsigned char copy[kMaxArgumentBytes] = {};
  const auto user = reinterpret_cast<uintptr_t>(argument);
  const uint32_t bytes = std::min<uint32_t>(_IOC_SIZE(code), entry->bytes);
  if ((entry->direction & kIn) != 0 && !copy_from_user(copy, user, bytes)) return -EFAULT;
  const int result = entry->call(*this, copy);
  if ((entry->direction & kOut) != 0 && !copy_to_user(user, copy, bytes)) return -EFAULT;
  return result;
}

void Kfd::unmapped_by_host(uint64_t begin, uint64_t bytes) {
  const uint64_t size = in_pages(begin, bytes);
  if (size == 0) return;
  buffers_.unmapped_by_host(begin, size);
  svm_.unmapped(begin, size);
  queues_.unmapped_by_host(begin, size);
}

void Kfd::reserved_by_host(uint64_t begin, uint64_t bytes) {
  const uint64_t size = in_pages(begin, bytes);
  if (size == 0) return;
  // The program may have unmapped it unseen before.
  svm_.unmapped(begin, size);
  buffers_.reserved_by_host(begin, size);
}

void Kfd::protected_by_host(uint64_t begin, uint64_t bytes) {
  if (const uint64_t size = in_pages(begin, bytes); size != 0)
    buffers_.protected_by_host(begin, size);
}

void* Kfd::map(void* address, uint64_t bytes, int protection, int flags, uint64_t offset) {
  if ((flags & MAP_FIXED) != 0) unmapped_by_host(reinterpret_cast<uintptr_t>(address), bytes);
  return queues_.map(address, bytes, protection, flags, offset);
}

void* Kfd::map_render_node(void* address, uint64_t bytes, int protection, int flags,
                           uint64_t offset) {
  if (!Gem::is_offset(offset))
    return buffers_.map_for_host(address, bytes, protection, flags, offset);
  if ((flags & MAP_FIXED) != 0) unmapped_by_host(reinterpret_cast<uintptr_t>(address), bytes);
  return gem_.map_for_host(address, bytes, protection, flags, offset);
}

}  // namespace halyard::vgpu::kfd
