// Requests for memory.
#include <cerrno>
#include <vector>

#include "vgpu/kfd/addresses.h"
#include "vgpu/kfd/dmabuf.h"
#include "vgpu/kfd/gpu_ids.h"
#include "vgpu/kfd/kfd.h"
#include "vgpu/kfd/user_memory.h"

namespace halyard::vgpu::kfd {

int Kfd::alloc_memory(abi::AllocMemory& arguments) {
  const uint32_t node = node_of(arguments.gpu_id);
  if (node == 0 || arguments.size == 0) return -EINVAL;
  if ((arguments.flags & abi::kDoorbell) != 0 && arguments.size != Queues::kDoorbellBytes)
    return -EINVAL;
  if ((arguments.flags & abi::kMmioRemap) != 0 && arguments.size != kPage) return -EINVAL;
  const int result = buffers_.allocate(node, arguments);
  // The page of registers is mapped through /dev/kfd, memory through the render node.
  if (result == 0 && (arguments.flags & abi::kMmioRemap) != 0)
    arguments.mmap_offset = Queues::registers_offset(node);
  return result;
}

int Kfd::free_memory(abi::FreeMemory& arguments) {
  return buffers_.free(arguments.handle);
}

// One GPU after the other. `done` counts the finished GPUs; a repeated call continues there.
int Kfd::change_mapping(abi::MapMemory& arguments, int (Buffers::*change)(uint64_t, uint32_t)) {
  if (arguments.count == 0 || arguments.done > arguments.count) return -EINVAL;
  // No list is longer than the machine has GPUs.
  if (arguments.count >= machine_.node_count()) return -EINVAL;
  for (; arguments.done < arguments.count; ++arguments.done) {
    uint32_t gpu_id = 0;
    const uint64_t at = arguments.gpu_ids_pointer + uint64_t{arguments.done} * sizeof gpu_id;
    if (!copy_from_user(&gpu_id, at, sizeof gpu_id)) return -EFAULT;
    const uint32_t node = node_of(gpu_id);
    if (node == 0) return -EINVAL;
    if (const int result = (buffers_.*change)(arguments.handle, node); result != 0) return result;
  }
  return 0;
}

int Kfd::map_memory(abi::MapMemory& arguments) {
  return change_mapping(arguments, &Buffers::map);
}

int Kfd::unmap_memory(abi::MapMemory& arguments) {
  return change_mapping(arguments, &Buffers::unmap);
}

// The engine keeps each wave's scratch itself.
int Kfd::set_scratch_backing(abi::SetScratchBackingVa& arguments) {
  return node_of(arguments.gpu_id) != 0 ? 0 : -EINVAL;
}

int Kfd::available_memory(abi::AvailableMemory& arguments) {
  const uint32_t node = node_of(arguments.gpu_id);
  if (node == 0) return -EINVAL;
  // Whole blocks of 2 MiB, as amdkfd reports: the rest is in pieces.
  constexpr uint64_t kBlock = uint64_t{2} << 20;
  arguments.available = buffers_.available(node) / kBlock * kBlock;
  return 0;
}

int Kfd::ipc_export(abi::IpcExport& arguments) {
  return node_of(arguments.gpu_id) != 0 ? buffers_.share(arguments) : -EINVAL;
}

int Kfd::ipc_import(abi::IpcImport& arguments) {
  const uint32_t node = node_of(arguments.gpu_id);
  return node != 0 ? buffers_.import(node, arguments) : -EINVAL;
}

int Kfd::get_dmabuf_info(abi::GetDmabufInfo& arguments) {
  DmabufContents contents;
  if (const int failed = read_dmabuf(static_cast<int>(arguments.dmabuf_fd), contents); failed != 0)
    return failed;
  if (contents.node >= machine_.node_count()) return -EINVAL;
  arguments.size = contents.bytes;
  const std::vector<unsigned char> metadata =
      gem_.metadata_of(static_cast<int>(arguments.dmabuf_fd));
  const auto room = arguments.metadata_size;
  arguments.metadata_size = static_cast<uint32_t>(metadata.size());
  // The caller asks again with that much room.
  if (room != 0 && room < metadata.size()) return -EINVAL;
  if (room != 0 && !metadata.empty() &&
      !copy_to_user(arguments.metadata_pointer, metadata.data(), metadata.size()))
    return -EFAULT;
  arguments.gpu_id = gpu_id_of(contents.node - 1);
  arguments.flags = contents.flags;
  return 0;
}

int Kfd::export_dmabuf(abi::ExportDmabuf& arguments) {
  return buffers_.export_dmabuf(arguments);
}

int Kfd::import_dmabuf(abi::ImportDmabuf& arguments) {
  const uint32_t node = node_of(arguments.gpu_id);
  return node != 0 ? buffers_.import_dmabuf(node, arguments) : -EINVAL;
}

}  // namespace halyard::vgpu::kfd
