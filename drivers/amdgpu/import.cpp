#include "drivers/amdgpu/import.h"

#include <bit>
#include <vector>

#include "drivers/amdgpu/access.h"
#include "drivers/amdgpu/buffer.h"
#include "drivers/amdgpu/device.h"
#include "drivers/amdgpu/dmabufs.h"
#include "hal/error.h"
#include "plugins/sdk/dmabuf.h"
#include "plugins/sdk/ipc_handle.h"

namespace halyard::amdgpu {

namespace {

// The program's own memory, pinned for as long as the buffer lives.
Result<Backing> import_host(DeviceImpl& device, const ImportOptions& options) {
  const Hsa& hsa = device.hsa();
  void* const host = const_cast<void*>(options.pointer);
  // Into the fine-grained pool: hsa_amd_memory_lock would make it coarse-grained, which the L2
  // keeps and a kernel in flight does not share with the host. Access cannot be given later on.
  std::vector<hsa_agent_t> agents = device.all_gpus();
  void* address = nullptr;
  HALYARD_RETURN_IF_ERROR(check(
      hsa,
      hsa.hsa_amd_memory_lock_to_pool(host, options.size, agents.data(),
                                      static_cast<int>(agents.size()),
                                      device.memory().pool(MemoryType::kHost).handle, 0, &address),
      fmt::format("Pinning {} bytes of host memory at {}", options.size, host)));
  Backing backing;
  backing.release = [&hsa, host] { hsa.hsa_amd_memory_unlock(host); };
  backing.type = MemoryType::kHost;
  backing.origin = Origin::kHost;
  backing.is_visible_to_peers = true;
  backing.device = address;
  backing.host = host;
  backing.size = options.size;
  return backing;
}

// An address of an allocation of the same runtime's in this process.
Result<Backing> import_pointer(DeviceImpl& device, const ImportOptions& options) {
  const Hsa& hsa = device.hsa();
  void* const pointer = const_cast<void*>(options.pointer);
  hsa_amd_pointer_info_t info = {};
  info.size = sizeof info;
  HALYARD_RETURN_IF_ERROR(check(hsa,
                                hsa.hsa_amd_pointer_info(pointer, &info, nullptr, nullptr, nullptr),
                                fmt::format("Asking for the memory at {}", pointer)));
  if (info.type == HSA_EXT_POINTER_TYPE_UNKNOWN) {
    return error(StatusCode::kInvalidArgument,
                 "Device::import_buffer is given a device pointer ({}) that is in no allocation of "
                 "the HSA runtime's. Import ordinary host memory with Kind::kHostMemory.",
                 pointer);
  }
  const auto address = reinterpret_cast<uint64_t>(pointer);
  const auto base = reinterpret_cast<uint64_t>(info.agentBaseAddress);
  if (address < base || address - base > info.sizeInBytes ||
      options.size > info.sizeInBytes - (address - base)) {
    return error(StatusCode::kOutOfRange,
                 "Device::import_buffer is given {} bytes at {}, which do not fit into the "
                 "allocation there ({} bytes at {}).",
                 options.size, pointer, info.sizeInBytes, info.agentBaseAddress);
  }
  const bool own = info.agentOwner.handle == device.agent().handle;
  const bool host = info.agentOwner.handle == device.host_agent().handle;
  if (!own && info.type == HSA_EXT_POINTER_TYPE_HSA) {
    const bool host_sees = (info.global_flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED) != 0;
    HALYARD_RETURN_IF_ERROR(give_access(
        hsa, pointer, device.agent(), host || host_sees ? device.host_agent() : hsa_agent_t{},
        fmt::format("Giving {} access to the memory at {}", device.info().name, pointer)));
  }
  Backing backing;
  backing.type = host ? MemoryType::kHost : MemoryType::kDevice;
  backing.origin = Origin::kImported;
  backing.unheard.hold();
  backing.device = pointer;
  backing.host = pointer;
  // Locked memory has an address for each side.
  if (host && info.hostBaseAddress != nullptr) {
    backing.host = static_cast<std::byte*>(info.hostBaseAddress) + (address - base);
  }
  backing.size = options.size;
  return backing;
}

// Memory of another process, which the runtime has mapped for the host and every GPU.
Backing mapped_backing(std::byte* place, uint64_t size) {
  Backing backing;
  backing.origin = Origin::kImported;
  backing.unheard.hold();
  backing.device = place;
  backing.host = place;
  backing.size = size;
  backing.is_visible_to_peers = true;
  return backing;
}

Result<Backing> import_ipc(DeviceImpl& device, const ImportOptions& options) {
  const Hsa& hsa = device.hsa();
  HALYARD_ASSIGN_OR_RETURN(const IpcHandle handle, IpcHandle::read(options));
  const auto memory = std::bit_cast<hsa_amd_ipc_memory_t>(handle.runtime);
  // The runtime cannot make what is attached visible to other GPUs later on (Runtime::AllowAccess
  // in 5.2.3 follows a null pointer).
  const std::vector<hsa_agent_t> agents = device.agents_with_access();
  void* mapped = nullptr;
  HALYARD_RETURN_IF_ERROR(check(
      hsa,
      hsa.hsa_amd_ipc_memory_attach(&memory, handle.allocation_size,
                                    static_cast<uint32_t>(agents.size()), agents.data(), &mapped),
      fmt::format("Attaching to {} bytes that a process exports, which may have freed them or have "
                  "ended,",
                  handle.allocation_size)));
  Release release = [&hsa, mapped] { hsa.hsa_amd_ipc_memory_detach(mapped); };
  hsa_amd_pointer_info_t info = {};
  info.size = sizeof info;
  const bool known =
      hsa.hsa_amd_pointer_info(mapped, &info, nullptr, nullptr, nullptr) == HSA_STATUS_SUCCESS;
  if (!known || info.sizeInBytes < handle.offset + options.size) {
    return error(StatusCode::kOutOfRange,
                 "Device::import_buffer is given {} bytes for the IPC handle of an allocation that "
                 "has {}.",
                 options.size, info.sizeInBytes);
  }
  Backing backing = mapped_backing(static_cast<std::byte*>(mapped) + handle.offset, options.size);
  backing.release = std::move(release);
  return backing;
}

Result<Backing> import_dmabuf(DeviceImpl& device, const ImportOptions& options) {
  const Hsa& hsa = device.hsa();
  const auto& dmabuf = *static_cast<const Dmabuf*>(options.pointer);
  HALYARD_RETURN_IF_ERROR(check_dmabuf_range(dmabuf, options.size));
  // As of IPC memory: the runtime cannot make it visible to other GPUs later on.
  std::vector<hsa_agent_t> agents = device.agents_with_access();
  size_t size = 0;
  void* mapped = nullptr;
  HALYARD_RETURN_IF_ERROR(check(
      hsa,
      hsa.hsa_amd_interop_map_buffer(static_cast<uint32_t>(agents.size()), agents.data(), dmabuf.fd,
                                     0, &size, &mapped, nullptr, nullptr),
      fmt::format("Mapping the dma-buf of the descriptor {}, which may be no dma-buf that {} can "
                  "use",
                  dmabuf.fd, device.info().name)));
  Release release = [&hsa, mapped] { hsa.hsa_amd_interop_unmap_buffer(mapped); };
  if (dmabuf.offset > size || options.size > size - dmabuf.offset)
    return too_small_dmabuf(dmabuf, options.size, size);
  Backing backing = mapped_backing(static_cast<std::byte*>(mapped) + dmabuf.offset, options.size);
  backing.release = std::move(release);
  return backing;
}

Result<Backing> import_backing(DeviceImpl& device, const ImportOptions& options) {
  switch (options.kind) {
    case ImportOptions::Kind::kHostMemory:
      return import_host(device, options);
    case ImportOptions::Kind::kDevicePointer:
      return import_pointer(device, options);
    case ImportOptions::Kind::kDmabuf:
      return import_dmabuf(device, options);
    default:
      return import_ipc(device, options);
  }
}

// What other processes may be given: a whole allocation of device memory, not of a pool.
Status check_exportable(const char* operation, const BufferImpl& buffer) {
  const Backing& backing = buffer.backing();
  if (!buffer.is_view() && backing.allocation != nullptr && backing.type == MemoryType::kDevice)
    return {};
  const char* const what = buffer.is_view()                      ? "a part of another buffer"
                           : backing.type != MemoryType::kDevice ? "not device memory"
                           : backing.reserved != nullptr ? "reserved"
                                                         : "imported, or from a queue's pool";
  return not_exportable(operation, buffer, what);
}

}  // namespace

Result<Ref<Buffer>> import_buffer(DeviceImpl& device, const ImportOptions& options) {
  HALYARD_ASSIGN_OR_RETURN(Backing backing, import_backing(device, options));
  backing.owner = options.kind == ImportOptions::Kind::kHostMemory ? AllocationOwner::kHostMemory
                                                                   : AllocationOwner::kImported;
  Ref<Buffer> buffer = BufferImpl::adopt(device, std::move(backing));
  impl(*buffer).tell_owner(options.release, options.release_context);
  return buffer;
}

Status export_buffer(BufferImpl& buffer, ExportedHandle* exported) {
  HALYARD_RETURN_IF_ERROR(check_exportable("Device::export_buffer", buffer));
  const Backing& backing = buffer.backing();
  const Hsa& hsa = static_cast<DeviceImpl&>(buffer.device()).hsa();
  buffer.mark_exported();
  hsa_amd_ipc_memory_t memory = {};
  HALYARD_RETURN_IF_ERROR(check(
      hsa, hsa.hsa_amd_ipc_memory_create(backing.allocation, backing.allocation_size, &memory),
      fmt::format("Exporting {} bytes", buffer.size())));
  IpcHandle handle = {};
  handle.runtime = std::bit_cast<decltype(handle.runtime)>(memory);
  handle.allocation_size = backing.allocation_size;
  handle.offset = buffer.device_address() - reinterpret_cast<uint64_t>(backing.allocation);
  handle.size = buffer.size();
  handle.write(exported);
  return {};
}

Status export_dmabuf(BufferImpl& buffer, Dmabuf* exported) {
  HALYARD_RETURN_IF_ERROR(check_exportable("Device::export_dmabuf", buffer));
  const Hsa& hsa = static_cast<DeviceImpl&>(buffer.device()).hsa();
  HALYARD_RETURN_IF_ERROR(check_has_dmabufs(hsa));
  buffer.mark_exported();
  int fd = -1;
  uint64_t offset = 0;
  HALYARD_RETURN_IF_ERROR(
      check(hsa, hsa.hsa_amd_portable_export_dmabuf(buffer.at(0), buffer.size(), &fd, &offset),
            fmt::format("Exporting {} bytes as a dma-buf", buffer.size())));
  exported->fd = fd;
  exported->offset = offset;
  return {};
}

}  // namespace halyard::amdgpu
