// Buffers over memory of somebody else's, and memory for somebody else.
#include <cstddef>
#include <cstring>

#include "drivers/hip/agents.h"
#include "drivers/hip/buffer.h"
#include "drivers/hip/device.h"
#include "drivers/hip/peers.h"
#include "drivers/hip/registrations.h"
#include "hal/error.h"
#include "plugins/sdk/checksum.h"
#include "plugins/sdk/dmabuf.h"

namespace halyard::hip {

Result<Ref<Buffer>> BufferImpl::import(DeviceImpl& device, const ImportOptions& options) {
  const auto make = [&] {
    using enum ImportOptions::Kind;
    if (options.kind == kHostMemory) return import_host(device, options);
    if (options.kind == kDevicePointer) return import_pointer(device, options);
    if (options.kind == kDmabuf) return import_dmabuf(device, options);
    return import_ipc(device, options);
  };
  HALYARD_ASSIGN_OR_RETURN(BufferImpl* const buffer, make());
  buffer->release_ = options.release;
  buffer->release_context_ = options.release_context;
  buffer->be_found(options.kind == ImportOptions::Kind::kHostMemory ? AllocationOwner::kHostMemory
                                                                    : AllocationOwner::kImported);
  return Ref<Buffer>::adopt(buffer);
}

Result<BufferImpl*> BufferImpl::import_host(DeviceImpl& device, const ImportOptions& options) {
  const Hip& hip = device.hip();
  const CurrentDevice current(hip, device.facts().device);
  void* const host = const_cast<void*>(options.pointer);
  HALYARD_ASSIGN_OR_RETURN(const bool ours, Registrations::instance().add(hip, host, options.size));
  void* seen = nullptr;
  const Status status = check(hip, hip.hipHostGetDevicePointer(&seen, host, 0),
                              "Asking for the device's address of host memory");
  if (!status.ok()) {
    if (ours) Registrations::instance().remove(hip, host);
    return status;
  }
  // HIP 5 ends the process when it unregisters memory that host and device see at one address
  // (ihipHostUnregister forgets it twice). Such memory stays registered.
  const bool stays = !ours || (hip.major() < 6 && seen == host);
  auto* const buffer = new BufferImpl(device, MemoryType::kHost, options.size, seen,
                                      stays ? Origin::kBorrowed : Origin::kRegistered);
  buffer->host_ = static_cast<std::byte*>(host);
  buffer->imported_ = host;
  return buffer;
}

namespace {

// HIP 6 succeeds for any pointer, and says so.
constexpr int kMemoryTypeUnregistered6 = 0;

Status in_no_allocation(const void* pointer) {
  return error(
      StatusCode::kInvalidArgument,
      "Device::import_buffer is given a device pointer ({}) that is in no allocation of the "
      "vendor's runtime. Import ordinary host memory with Kind::kHostMemory.",
      pointer);
}

// With XNACK the GPU may use any memory of the process, and HIP 5.2.3 has one object for all of it,
// which reaches beyond the last address (ROCclr's arena). It is found for every pointer.
bool is_everything(const void* base, size_t size) {
  return size > UINTPTR_MAX - reinterpret_cast<uintptr_t>(base);
}

}  // namespace

Result<BufferImpl*> BufferImpl::import_pointer(DeviceImpl& device, const ImportOptions& options) {
  const Hip& hip = device.hip();
  const CurrentDevice current(hip, device.facts().device);
  void* const pointer = const_cast<void*>(options.pointer);
  hipPointerAttribute_t attributes = {};
  HALYARD_RETURN_IF_ERROR(check(hip, hip.hipPointerGetAttributes(&attributes, pointer),
                                fmt::format("Importing the device pointer {}", pointer)));
  void* base = nullptr;
  size_t size = 0;
  const bool has_range = hip.hipMemGetAddressRange(&base, &size, pointer) == hipSuccess;
  const bool is_unknown = hip.major() >= 6 && attributes.memoryType == kMemoryTypeUnregistered6;
  if (is_unknown || (has_range && is_everything(base, size))) return in_no_allocation(pointer);
  const int host_memory = hip.major() >= 6 ? kMemoryTypeHost6 : kMemoryTypeHost5;
  const bool on_host = attributes.memoryType == host_memory;
  if (!on_host && !owns_memory(hip, device.facts(), pointer, attributes.device)) {
    return error(StatusCode::kInvalidArgument,
                 "The device pointer ({}) to import belongs to another device than {} (HIP device "
                 "{}). Import it on the device that it is of.",
                 pointer, device.info().name, device.facts().device);
  }
  if (has_range) {
    const uint64_t left = size - static_cast<uint64_t>(static_cast<std::byte*>(pointer) -
                                                       static_cast<std::byte*>(base));
    if (options.size > left) {
      return error(StatusCode::kOutOfRange,
                   "The device pointer ({}) to import is said to have {} bytes; {} are left of its "
                   "allocation.",
                   pointer, options.size, left);
    }
  }
  return new BufferImpl(device, on_host ? MemoryType::kHost : MemoryType::kDevice, options.size,
                        pointer, Origin::kBorrowed);
}

namespace {

// What HIP 5 and 6 put into a handle (ihipIpcMemHandle_t in hipamd). With an offset behind the end,
// hipIpcOpenMemHandle ends the process.
struct HandleContents {
  char memory[32];
  size_t size;     // of the allocation, bytes
  size_t offset;   // in it, of what was exported
  char others[8];  // newer releases have the exporter's process here
  // check_of() all before it. HIP has nothing here: 0 is a handle that other code has made. The
  // vendor's thunk 5.2.3 crashes for some handles that are damaged.
  uint64_t check;
};
static_assert(sizeof(HandleContents) == sizeof(hipIpcMemHandle_t));

uint64_t check_of(const HandleContents& contents) {
  const uint64_t sum = checksum(&contents, offsetof(HandleContents, check));
  return sum != 0 ? sum : 1;
}

// Checks it, and makes it what HIP has made.
Status check_ipc_handle(hipIpcMemHandle_t& handle, uint64_t size) {
  HandleContents contents;
  std::memcpy(&contents, &handle, sizeof(contents));
  const bool is_damaged = contents.check != 0 && contents.check != check_of(contents);
  contents.check = 0;
  std::memcpy(&handle, &contents, sizeof(handle));
  if (is_damaged || contents.offset >= contents.size) {
    return error(StatusCode::kInvalidArgument,
                 "Device::import_buffer is given an IPC handle that is damaged, or not one of "
                 "HIP's. Pass on all {} bytes of ExportedHandle::ipc or of a hipIpcMemHandle_t.",
                 sizeof(handle));
  }
  if (size > contents.size - contents.offset) {
    return error(StatusCode::kOutOfRange,
                 "Device::import_buffer is given {} bytes for an IPC handle of {}.", size,
                 contents.size - contents.offset);
  }
  return {};
}

}  // namespace

Result<BufferImpl*> BufferImpl::import_ipc(DeviceImpl& device, const ImportOptions& options) {
  const Hip& hip = device.hip();
  hipIpcMemHandle_t handle;
  std::memcpy(&handle, options.pointer, sizeof(handle));
  HALYARD_RETURN_IF_ERROR(check_ipc_handle(handle, options.size));
  if (std::shared_ptr<ExportedMemory> memory = ExportedMemory::find(handle)) {
    return import_shared(device, options, std::move(memory));
  }
  void* pointer = nullptr;
  HALYARD_RETURN_IF_ERROR(
      check(hip, Peers::instance().open_memory(hip, device.facts().device, handle, &pointer),
            "Opening memory that a process exports, which may have freed it or have ended,"));
  auto* const buffer =
      new BufferImpl(device, MemoryType::kDevice, options.size, pointer, Origin::kIpc);
  buffer->imported_ = pointer;
  return buffer;
}

Result<BufferImpl*> BufferImpl::import_shared(DeviceImpl& device, const ImportOptions& options,
                                              std::shared_ptr<ExportedMemory> memory) {
  const int owner = memory->device();
  if (!Peers::instance().enable(device.hip(), device.facts().device, owner)) {
    return error(
        StatusCode::kFailedPrecondition,
        "Device::import_buffer is given an IPC handle of memory that HIP device {} of this "
        "process has, and {} ({}) cannot access that device's memory. Copy what is there.",
        owner, device.facts().device, device.info().name);
  }
  auto* const buffer =
      new BufferImpl(device, MemoryType::kDevice, options.size, memory->pointer(), Origin::kShared);
  buffer->exported_ = std::move(memory);
  return buffer;
}

Result<BufferImpl*> BufferImpl::import_dmabuf(DeviceImpl& device, const ImportOptions& options) {
  const Hip& hip = device.hip();
  const auto& dmabuf = *static_cast<const Dmabuf*>(options.pointer);
  HALYARD_RETURN_IF_ERROR(check_has_dmabufs(hip));
  HALYARD_RETURN_IF_ERROR(check_dmabuf_range(dmabuf, options.size));
  if (!can_map_dmabuf(hip, device.facts(), dmabuf.fd)) {
    return error(
        StatusCode::kInvalidArgument,
        "Device::import_buffer is given a descriptor ({}) that is not of a dma-buf that {} "
        "can use.",
        dmabuf.fd, device.info().name);
  }
  const CurrentDevice current(hip, device.facts().device);
  hipExternalMemoryHandleDesc handle;
  handle.type = hipExternalMemoryHandleTypeOpaqueFd;
  handle.handle.fd = dmabuf.fd;
  // From the dma-buf's first byte on: HIP finds memory by the address of what it maps, and takes
  // an offset there for none (hipExternalMemoryGetMappedBuffer, HIP 5.7 and 6.4).
  handle.size = dmabuf.offset + options.size;
  hipExternalMemory_t external = nullptr;
  HALYARD_RETURN_IF_ERROR(
      check(hip, hip.hipImportExternalMemory(&external, &handle),
            fmt::format("Importing the dma-buf of the descriptor {}", dmabuf.fd)));
  hipExternalMemoryBufferDesc whole;
  whole.size = handle.size;
  void* base = nullptr;
  const Status mapped = check(hip, hip.hipExternalMemoryGetMappedBuffer(&base, external, &whole),
                              fmt::format("Mapping {} bytes of a dma-buf", whole.size));
  if (!mapped.ok()) {
    hip.hipDestroyExternalMemory(external);
    return mapped;
  }
  auto* const buffer =
      new BufferImpl(device, MemoryType::kDevice, options.size,
                     static_cast<std::byte*>(base) + dmabuf.offset, Origin::kDmabuf);
  buffer->imported_ = base;
  buffer->external_ = external;
  return buffer;
}

Status BufferImpl::check_exportable(const char* operation) const {
  if (origin_ == Origin::kAllocated && type() == MemoryType::kDevice && pointer_ == block_.base)
    return {};
  return error(StatusCode::kFailedPrecondition,
               "{} is given {}, which another process cannot open. Export a whole buffer of device "
               "memory that Device::allocate has made.",
               operation,
               type() != MemoryType::kDevice   ? "memory that is not the device's"
               : origin_ == Origin::kView      ? "a part of a buffer"
               : origin_ == Origin::kAllocated ? "a buffer with an alignment of its own"
                                               : "a buffer of imported or pooled memory");
}

Status BufferImpl::export_dmabuf(Dmabuf* exported) {
  HALYARD_RETURN_IF_ERROR(check_exportable("Device::export_dmabuf"));
  const Hip& hip = static_cast<DeviceImpl&>(*keep_alive_).hip();
  HALYARD_RETURN_IF_ERROR(check_has_dmabufs(hip));
  int fd = -1;
  uint64_t offset = 0;
  const hsa_status_t status = hip.hsa_amd_portable_export_dmabuf(pointer_, size(), &fd, &offset);
  if (status != HSA_STATUS_SUCCESS) {
    return error(StatusCode::kResourceExhausted,
                 "Exporting {} bytes as a dma-buf fails: the HSA runtime below HIP returns {:#x}. "
                 "The process may have no descriptor left (ulimit -n).",
                 size(), static_cast<unsigned>(status));
  }
  exported->fd = fd;
  exported->offset = offset;
  return {};
}

Status BufferImpl::export_ipc(ExportedHandle* handle) {
  HALYARD_RETURN_IF_ERROR(check_exportable("Device::export_buffer"));
  auto& device = static_cast<DeviceImpl&>(*keep_alive_);
  const Hip& hip = device.hip();
  const CurrentDevice current(hip, device.facts().device);
  hipIpcMemHandle_t exported = {};
  HALYARD_RETURN_IF_ERROR(check(hip, hip.hipIpcGetMemHandle(&exported, pointer_),
                                "Making a handle for another process"));
  static_assert(sizeof(handle->ipc) == sizeof(exported));
  {
    const std::lock_guard lock(export_mutex_);
    if (!exported_) exported_ = std::make_shared<ExportedMemory>(device, block_);
    ExportedMemory::announce(exported, exported_);
  }
  HandleContents contents;
  std::memcpy(&contents, &exported, sizeof(contents));
  contents.check = check_of(contents);
  std::memcpy(handle->ipc, &contents, sizeof(contents));
  return {};
}

}  // namespace halyard::hip
