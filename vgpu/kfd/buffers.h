// Buffer objects: memory as the kernel driver hands it out, by handle, at addresses that the
// program has chosen.
//
// A GPU's address is the host's, but for memory that the program has already (a user pointer). A
// program reserves addresses first (the thunk does, without access), and the buffer is put in their
// place as soon as it is allocated: the GPU reaches it there, whether or not the program maps it
// for itself. Addresses that are mapped otherwise stay as they are: a buffer is not put there. A
// user pointer stays where it is; the GPU's map knows how far that is from its own address.
//
// Memory can also have no address (0): then it is a file from the start, which is exported as a
// dma-buf and mapped by render nodes (gem.h), at any addresses and as often as the program wants.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "vgpu/kfd/abi.h"
#include "vgpu/kfd/reservations.h"
#include "vgpu/kfd/usage.h"
#include "vgpu/kfd/windows.h"
#include "vgpu/machine/address_table.h"
#include "vgpu/machine/host_memory.h"
#include "vgpu/machine/machine.h"

namespace halyard::vgpu::kfd {

// Functions that can fail return 0 or an errno value below 0. Any thread.
class Buffers {
 public:
  // The machine gives the GPUs' maps of memory. Both outlive this.
  Buffers(machine::Machine& machine, Usage& usage);
  ~Buffers();
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  // `node`: of the GPU whose memory it is, or through which the memory of the host is allocated.
  int allocate(uint32_t node, abi::AllocMemory& given);
  // EBUSY while a GPU has it mapped, EPERM if it is kept. Its addresses are as they were before.
  int free(uint64_t handle);
  // Memory without an address cannot be mapped: EINVAL.
  int map(uint64_t handle, uint32_t node);
  int unmap(uint64_t handle, uint32_t node);

  // For another process. The memory lives until it is freed here and by all who imported it.
  int share(abi::IpcExport& arguments);
  int import(uint32_t node, abi::IpcImport& arguments);
  // The same by a descriptor, which keeps the memory alive too. The first export moves the memory
  // into a file (machine/memory_file.h). EBUSY while another process has it by share().
  int export_dmabuf(abi::ExportDmabuf& arguments);
  int import_dmabuf(uint32_t node, abi::ImportDmabuf& arguments);

  // The program maps `bytes` from `offset` of a render node on. Returns the address, or MAP_FAILED
  // with errno set.
  void* map_for_host(void* address, uint64_t bytes, int protection, int flags, uint64_t offset);
  // The program has unmapped, or mapped something else over, these addresses.
  void unmapped_by_host(uint64_t begin, uint64_t bytes);
  // The program has mapped these addresses privately and without access.
  void reserved_by_host(uint64_t begin, uint64_t bytes);
  // The program has changed the protection of its memory there.
  void protected_by_host(uint64_t begin, uint64_t bytes);

  // Where the buffer of a handle is, if it is of at least so many bytes and the host reaches it;
  // else null. The driver uses it from then on: it cannot be freed.
  void* keep(uint64_t handle, uint64_t bytes);
  // Whether buffers have some of the GPUs' addresses.
  bool overlap(uint64_t begin, uint64_t size) const;
  uint64_t available(uint32_t node) const;

  // Addresses of a GPU for memory that is no buffer. Several GPUs can have the same; no buffer is
  // put there. False if the GPU has a buffer at some of them. A buffer that it has not mapped may
  // be there: HSA 6.1 and 6.2 reserve addresses by registering host memory.
  bool claim_addresses(uint32_t node, uint64_t begin, uint64_t size);
  void release_addresses(uint32_t node, uint64_t begin);
  // What the program has reserved around these addresses.
  AddressRange reserved_around(uint64_t begin, uint64_t size) const;

 private:
  struct Claim {
    uint64_t size = 0;
    std::set<uint32_t> nodes;
  };
  struct Buffer {
    uint64_t begin = 0;    // GPU's address; 0: none
    uint64_t to_host = 0;  // from there to the host's (isa::MemoryRange)
    uint64_t size = 0;     // of addresses
    uint64_t bytes = 0;    // of memory: of a double-mapped ring half of them
    uint32_t node = 0;
    uint32_t flags = 0;  // abi::
    uint64_t mmap_offset = 0;
    std::set<uint32_t> mapped;  // nodes
    machine::Segment segment;   // none: private pages, or a file alone
    // The memory, once it is or was exported as a dma-buf; -1 before. The segment, if there is one,
    // then only leads to it, and is attached at `forwarding`.
    int file = -1;
    void* forwarding = nullptr;
    bool imported = false;
    bool displaced = false;  // the program has something else at its addresses
    bool kept = false;       // the driver itself uses it
    bool has_address() const { return begin != 0; }
    bool has_pages() const { return (flags & (abi::kVram | abi::kGtt)) != 0; }
    bool is_vram() const { return (flags & abi::kVram) != 0; }
    bool gpu_may_write() const { return (flags & abi::kWritable) != 0; }
    // The thunk asks for coherent memory unless it is coarse-grained, and for uncached memory if it
    // is for kernel arguments (ROCT-Thunk-Interface 5.2.3, src/fmm.c).
    bool is_coarse_grained() const { return (flags & (abi::kCoherent | abi::kUncached)) == 0; }
  };

  int allocate_pages(uint32_t node, abi::AllocMemory& arguments);
  int check(const abi::AllocMemory& arguments, uint32_t node) const;
  // Whether no buffer has these addresses of the GPU, and none has claimed them.
  bool is_free(uint64_t begin, uint64_t size) const;
  bool is_claimed(uint64_t begin, uint64_t size) const;
  // Whether memory may be put there, and then makes the addresses the caller's: reserved ones are
  // already, others only if nothing is there.
  bool take_addresses(uint64_t begin, uint64_t size);
  // Leaves the addresses as they were.
  void give_back_addresses(uint64_t begin, uint64_t size);
  int place(Buffer& buffer);
  int make_file(Buffer& buffer);
  // Before another process gets it. False if the system does not let it.
  bool tell_shared(const Buffer& buffer);
  int move_to_file(Buffer& buffer);
  uint64_t add_mappable(Buffer buffer);
  void displace(uint64_t begin, uint64_t bytes);
  uint64_t add(Buffer buffer);
  Buffer* find(uint64_t handle);
  void release(Buffer& buffer);
  // What queues themselves may touch, wherever the program names it: at the host's addresses.
  void change_known(const Buffer& buffer, bool added);
  void set_vram_used(uint32_t node, uint64_t bytes);

  machine::Machine& machine_;
  Usage& usage_;
  mutable std::mutex mutex_;
  std::map<uint64_t, Buffer> buffers_;       // by handle
  std::map<uint64_t, uint64_t> by_offset_;   // handles by mmap_offset, of buffers with pages
  std::map<uint64_t, uint64_t> by_address_;  // handles by begin, of buffers with pages
  std::map<uint64_t, uint64_t> ends_;        // of all buffers' addresses, by begin
  std::map<uint64_t, Claim> claims_;         // by begin
  Reservations reservations_;
  uint64_t next_handle_ = 1;
  uint64_t next_offset_ = uint64_t{1} << 32;
  uint32_t segments_ = 0;
  std::vector<uint64_t> vram_used_;  // by node
};

}  // namespace halyard::vgpu::kfd
