// Buffer objects of the render nodes (GEM): dma-bufs that libdrm_amdgpu imports, maps for the host,
// and gives addresses of the GPU, and memory that it allocates.
//
// A handle belongs to a render node, not to its open file as on Linux.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "vgpu/kfd/buffers.h"
#include "vgpu/kfd/dmabuf.h"
#include "vgpu/kfd/drm_abi.h"
#include "vgpu/kfd/windows.h"
#include "vgpu/machine/machine.h"

namespace halyard::vgpu::kfd {

// Functions that can fail return 0 or an errno value below 0. Any thread. `node`: of the GPU whose
// render node it is.
class Gem {
 public:
  // Both outlive this.
  Gem(machine::Machine& machine, Buffers& buffers);
  ~Gem();
  Gem(const Gem&) = delete;
  Gem& operator=(const Gem&) = delete;

  // Memory of the GPU's, or of the host's. EINVAL for what else Linux knows.
  int create(uint32_t node, drm::GemCreate& arguments);
  bool has(uint32_t node, uint32_t handle);
  // Nothing that is submitted here uses it.
  int wait(uint32_t node, drm::GemWait& arguments);
  // One dma-buf has one handle, however often it is imported.
  int import(uint32_t node, drm::PrimeHandle& arguments);
  int export_handle(uint32_t node, drm::PrimeHandle& arguments);
  // Takes its addresses from the GPU, too.
  int close(uint32_t node, const drm::GemClose& arguments);
  int find_offset(uint32_t node, drm::GemMmap& arguments);
  int get_info(uint32_t node, const drm::GemOp& arguments, drm::GemCreateInfo& info);
  // What programs attach to a buffer, for others that get it.
  int change_metadata(uint32_t node, drm::GemMetadata& arguments);
  // Of a dma-buf that a render node has open; empty for others.
  std::vector<unsigned char> metadata_of(int dmabuf);
  int change_addresses(uint32_t node, const drm::GemVa& arguments);

  // Whether an offset of a render node's file is one of find_offset().
  static bool is_offset(uint64_t offset);
  // The program maps `bytes` from such an offset on. Returns the address, or MAP_FAILED with errno
  // set.
  void* map_for_host(void* address, uint64_t bytes, int protection, int flags, uint64_t offset);

 private:
  struct Mapping {
    uint64_t begin = 0;  // the GPU's address
    uint64_t size = 0;
    uint64_t host = 0;
    bool writable = true;  // for the GPU
  };
  struct Object {
    DmabufContents contents;
    int file = -1;
    uint64_t device = 0;  // which file it is
    uint64_t inode = 0;
    uint64_t offset = 0;  // for mmap()
    std::vector<Mapping> mappings;
    drm::GemMetadata metadata;
    uint64_t memory = 0;  // of Buffers, if it was allocated here; 0: imported
  };
  using Key = std::pair<uint32_t, uint32_t>;  // node, handle

  Object* find(uint32_t node, uint32_t handle);
  int map(uint32_t node, Object& object, const drm::GemVa& arguments);
  int unmap(uint32_t node, Object& object, const drm::GemVa& arguments);
  void remove(uint32_t node, const Mapping& mapping, bool is_coarse_grained);
  void release(uint32_t node, Object& object);

  machine::Machine& machine_;
  Buffers& buffers_;
  std::mutex mutex_;
  std::map<Key, Object> objects_;
  Windows windows_;
  uint32_t next_handle_ = 1;
  uint64_t next_offset_;
};

}  // namespace halyard::vgpu::kfd
