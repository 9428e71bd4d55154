#include "vgpu/kfd/buffers.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include "vgpu/kfd/addresses.h"
#include "vgpu/kfd/dmabuf.h"
#include "vgpu/kfd/shared_handle.h"
#include "vgpu/machine/memory_file.h"
#include "vgpu/shared_memory_access.h"

namespace halyard::vgpu::kfd {
namespace {

constexpr uint32_t kKinds =
    abi::kVram | abi::kGtt | abi::kUserPointer | abi::kDoorbell | abi::kMmioRemap;

constexpr const char* kNoSegment =
    "halyard vgpu: this memory cannot be shared with another process: when it was allocated, the "
    "system had no System V shared memory segment left for it, or the process had taken its share "
    "of 1024. Allocate what is to be shared first, or in fewer and larger pieces; ipcs -m shows "
    "who has segments, kernel.shmmni says how many there are.";

constexpr const char* kNoDescriptor =
    "halyard vgpu: memory without an address (hsa_amd_vmem_handle_create, hipMemCreate) cannot be "
    "allocated: it is a file, and the process has no file descriptor left. Raise the limit "
    "(ulimit -n), or allocate fewer and larger pieces.";

constexpr const char* kAttached =
    "halyard vgpu: this memory cannot be exported as a dma-buf now: another process has it open by "
    "an IPC handle, or the host has it mapped twice. Export the dma-buf first, or have the other "
    "process close the handle.";

bool is_page_range(uint64_t begin, uint64_t size) {
  return begin != 0 && size != 0 && begin % kPage == 0 && size % kPage == 0 && size <= kUserEnd &&
         begin <= kUserEnd - size;
}

// Whether the process has memory on every page of the range. msync looks at the mappings only; with
// MS_ASYNC it has no other effect.
bool is_mapped(uint64_t begin, uint64_t size) {
  return msync(pointer(begin), size, MS_ASYNC) == 0;
}

// Reserves addresses without memory, so that no other code gets them.
bool reserve_again(uint64_t begin, uint64_t size) {
  return mmap(pointer(begin), size, PROT_NONE, kReservation | MAP_FIXED, -1, 0) != MAP_FAILED;
}

}  // namespace

Buffers::Buffers(machine::Machine& machine, Usage& usage)
    : machine_(machine), usage_(usage), vram_used_(machine.node_count(), uint64_t{0}) {}

Buffers::~Buffers() {
  for (auto& [handle, buffer] : buffers_) release(buffer);
}

// As amdkfd, kfd_ioctl_alloc_memory_of_gpu, and what this driver does not do.
int Buffers::check(const abi::AllocMemory& arguments, uint32_t node) const {
  const uint32_t kind = arguments.flags & kKinds;
  if (kind == 0 || (kind & (kind - 1)) != 0) return -EINVAL;
  const bool is_ring = (arguments.flags & abi::kAqlQueueMemory) != 0;
  const bool can_be_anywhere = !is_ring && (kind == abi::kVram || kind == abi::kGtt);
  const bool has_address = arguments.address != 0 || !can_be_anywhere;
  if (!is_page_range(has_address ? arguments.address : kPage, arguments.size)) return -EINVAL;
  const bool is_public_vram = kind == abi::kVram && (arguments.flags & abi::kPublic) != 0;
  if (is_public_vram && !machine_.gpu(node)->large_bar) return -EINVAL;
  if (kind != abi::kUserPointer) return 0;
  if (!is_page_range(arguments.mmap_offset, arguments.size)) return -EINVAL;
  return is_mapped(arguments.mmap_offset, arguments.size) ? 0 : -EFAULT;
}

// What the program asks for is given in whole pages (amdgpu_amdkfd_gpuvm_alloc_memory_of_gpu).
int Buffers::allocate(uint32_t node, abi::AllocMemory& given) {
  abi::AllocMemory arguments = given;
  const bool is_ring = (arguments.flags & abi::kAqlQueueMemory) != 0;
  const uint64_t unit = is_ring ? 2 * kPage : kPage;
  if (arguments.size > kUserEnd) return -ENOMEM;
  arguments.size = (arguments.size + unit - 1) / unit * unit;
  const int result = allocate_pages(node, arguments);
  arguments.size = given.size;
  if (result == 0) given = arguments;
  return result;
}

int Buffers::allocate_pages(uint32_t node, abi::AllocMemory& arguments) {
  if (const int refused = check(arguments, node); refused != 0) return refused;
  Buffer buffer;
  buffer.begin = arguments.address;
  buffer.size = arguments.size;
  buffer.bytes =
      (arguments.flags & abi::kAqlQueueMemory) != 0 ? arguments.size / 2 : arguments.size;
  buffer.node = node;
  buffer.flags = arguments.flags;
  if ((arguments.flags & abi::kUserPointer) != 0)
    buffer.to_host = arguments.mmap_offset - arguments.address;
  const std::lock_guard lock(mutex_);
  if (buffer.has_address() && !is_free(buffer.begin, buffer.size)) return -EINVAL;
  const uint64_t room = machine_.profile().gpus[node - 1].memory_bytes - vram_used_[node];
  if (buffer.is_vram() && buffer.bytes > room) return -ENOMEM;
  if (buffer.has_pages()) {
    if (const int failed = buffer.has_address() ? place(buffer) : make_file(buffer); failed != 0)
      return failed;
    buffer.mmap_offset = next_offset_;
    next_offset_ += (buffer.bytes + kOffsetAlignment - 1) / kOffsetAlignment * kOffsetAlignment;
    arguments.mmap_offset = buffer.mmap_offset;
  }
  if (buffer.is_vram()) set_vram_used(node, vram_used_[node] + buffer.bytes);
  arguments.handle = add(std::move(buffer));
  return 0;
}

bool Buffers::is_claimed(uint64_t begin, uint64_t size) const {
  const auto above = claims_.lower_bound(begin);
  if (above != claims_.end() && above->first < begin + size) return true;
  return above != claims_.begin() &&
         std::prev(above)->first + std::prev(above)->second.size > begin;
}

bool Buffers::is_free(uint64_t begin, uint64_t size) const {
  if (is_claimed(begin, size)) return false;
  const auto above = ends_.lower_bound(begin);
  if (above != ends_.end() && above->first < begin + size) return false;
  return above == ends_.begin() || std::prev(above)->second <= begin;
}

bool Buffers::take_addresses(uint64_t begin, uint64_t size) {
  if (reservations_.contains(begin, begin + size)) return true;
  void* const at = mmap(pointer(begin), size, PROT_NONE, kReservation | MAP_FIXED_NOREPLACE, -1, 0);
  if (at == MAP_FAILED) return false;
  if (at == pointer(begin)) return true;
  // Kernels before 4.17 take the address for a wish.
  munmap(at, size);
  return false;
}

void Buffers::give_back_addresses(uint64_t begin, uint64_t size) {
  if (reservations_.contains(begin, begin + size)) {
    reserve_again(begin, size);
  } else {
    munmap(pointer(begin), size);
  }
}

// Places memory at the program's addresses: addresses that it has reserved, or free ones.
int Buffers::place(Buffer& buffer) {
  if (!take_addresses(buffer.begin, buffer.size)) return -EINVAL;
  void* const begin = pointer(buffer.begin);
  const auto make_pages = [this, &buffer, begin] {
    if (mmap(begin, buffer.bytes, PROT_READ | PROT_WRITE, kReservation | MAP_FIXED, -1, 0) ==
        MAP_FAILED)
      return false;
    // Whether a program will export it is not known.
    const bool is_ring = buffer.bytes != buffer.size;
    if ((is_ring || segments_ < machine::kMaxSegments) &&
        !machine::share_pages(begin, buffer.bytes, &buffer.segment))
      return false;
    return !is_ring || (buffer.segment.exists() &&
                        machine::attach_pages(buffer.segment, pointer(buffer.begin + buffer.bytes),
                                              buffer.bytes));
  };
  if (!make_pages()) {
    give_back_addresses(buffer.begin, buffer.size);
    return -ENOMEM;
  }
  if (buffer.segment.exists()) ++segments_;
  // Memory of the GPU is not the child's: a child's copy-on-write copies would come between.
  madvise(begin, buffer.size, MADV_DONTFORK);
  return 0;
}

int Buffers::make_file(Buffer& buffer) {
  const int file = make_dmabuf(
      {buffer.node, buffer.flags & (abi::kVram | abi::kGtt | abi::kPublic), buffer.bytes});
  if (file == -EMFILE) queue::report(kNoDescriptor);
  if (file < 0) return file;
  buffer.file = file;
  return 0;
}

uint64_t Buffers::add(Buffer buffer) {
  const uint64_t handle = uint64_t{buffer.node} << 32 | next_handle_++;
  if (buffer.has_pages()) by_offset_[buffer.mmap_offset] = handle;
  if (!buffer.has_address()) {
    buffers_.emplace(handle, std::move(buffer));
    return handle;
  }
  ends_[buffer.begin] = buffer.begin + buffer.size;
  change_known(buffer, true);
  const bool is_memory = (buffer.flags & (abi::kDoorbell | abi::kMmioRemap)) == 0;
  if (machine::MemoryObserver* const observer = machine_.memory().observer();
      observer != nullptr && is_memory) {
    // A user pointer whose address is the same for both is memory that the thunk has mapped.
    const bool own_mapping = buffer.has_pages() || buffer.to_host == 0;
    observer->added({buffer.begin + buffer.to_host, buffer.size, buffer.is_vram() ? buffer.node : 0,
                     buffer.is_coarse_grained(), own_mapping, buffer.imported});
  }
  if (buffer.has_pages()) by_address_[buffer.begin] = handle;
  buffers_.emplace(handle, std::move(buffer));
  return handle;
}

Buffers::Buffer* Buffers::find(uint64_t handle) {
  const auto it = buffers_.find(handle);
  return it != buffers_.end() ? &it->second : nullptr;
}

int Buffers::free(uint64_t handle) {
  const std::lock_guard lock(mutex_);
  const auto it = buffers_.find(handle);
  if (it == buffers_.end()) return -EINVAL;
  if (it->second.kept) return -EPERM;
  if (!it->second.mapped.empty()) return -EBUSY;
  release(it->second);
  buffers_.erase(it);
  return 0;
}

void Buffers::change_known(const Buffer& buffer, bool added) {
  machine::AddressTable& all = machine_.memory().all_memory();
  machine::AddressTable& placed = machine_.memory().placed_memory();
  machine::AddressTable& coarse = machine_.memory().coarse_memory();
  const uint64_t end = buffer.begin + buffer.size;
  const uint64_t host = buffer.begin + buffer.to_host;
  const bool is_coarse = buffer.is_coarse_grained();
  const bool is_placed = (buffer.flags & abi::kUserPointer) == 0;
  if (added) {
    all.add(host, host + buffer.size);
    if (is_placed) placed.add(host, host + buffer.size);
    if (is_coarse) coarse.add(buffer.begin, end, buffer.to_host);
  } else {
    all.remove(host, host + buffer.size);
    if (is_placed) placed.remove(host, host + buffer.size);
    if (is_coarse) coarse.remove(buffer.begin, end);
    // Packet processors have accessed it, and the addresses may become something else.
    wait_for_accesses();
  }
}

void Buffers::release(Buffer& buffer) {
  if (buffer.has_address()) {
    ends_.erase(buffer.begin);
    change_known(buffer, false);
    const bool is_memory = (buffer.flags & (abi::kDoorbell | abi::kMmioRemap)) == 0;
    if (machine::MemoryObserver* const observer = machine_.memory().observer();
        observer != nullptr && is_memory)
      observer->removed(buffer.begin + buffer.to_host);
  }
  if (!buffer.has_pages()) return;
  machine::stop_forwarding(buffer.forwarding);
  if (buffer.file >= 0) close(buffer.file);
  by_offset_.erase(buffer.mmap_offset);
  if (buffer.has_address() && !buffer.displaced) {
    by_address_.erase(buffer.begin);
    give_back_addresses(buffer.begin, buffer.size);
  }
  if (buffer.imported) return;
  if (buffer.segment.exists()) --segments_;
  if (buffer.is_vram()) set_vram_used(buffer.node, vram_used_[buffer.node] - buffer.bytes);
}

int Buffers::map(uint64_t handle, uint32_t node) {
  const std::lock_guard lock(mutex_);
  Buffer* const buffer = find(handle);
  if (buffer == nullptr || !buffer->has_address()) return -EINVAL;
  if (buffer->mapped.count(node) != 0) return 0;
  if (is_claimed(buffer->begin, buffer->size)) return -EINVAL;
  buffer->mapped.insert(node);
  machine_.memory().gpu_memory(node).add(buffer->begin, buffer->begin + buffer->size,
                                         buffer->to_host, buffer->gpu_may_write());
  return 0;
}

int Buffers::unmap(uint64_t handle, uint32_t node) {
  {
    const std::lock_guard lock(mutex_);
    Buffer* const buffer = find(handle);
    if (buffer == nullptr) return -EINVAL;
    if (buffer->mapped.erase(node) == 0) return 0;
    machine_.memory().gpu_memory(node).remove(buffer->begin, buffer->begin + buffer->size,
                                              buffer->gpu_may_write());
  }
  wait_for_accesses();
  return 0;
}

int Buffers::share(abi::IpcExport& arguments) {
  const std::lock_guard lock(mutex_);
  Buffer* const buffer = find(arguments.handle);
  if (buffer == nullptr || !buffer->has_pages()) return -EINVAL;
  if (buffer->file >= 0 && !buffer->segment.exists()) {
    machine::forward_to_memory_file(buffer->file, buffer->bytes, &buffer->segment,
                                    &buffer->forwarding);
    if (buffer->segment.exists() && !buffer->imported) ++segments_;
  }
  if (!buffer->segment.exists()) {
    queue::report(kNoSegment);
    return -ENOMEM;
  }
  if (!tell_shared(*buffer)) return -ENOMEM;
  return encode({buffer->segment, buffer->bytes, buffer->is_vram(), arguments.flags},
                arguments.share_handle)
             ? 0
             : -EINVAL;
}

int Buffers::import(uint32_t node, abi::IpcImport& arguments) {
  const auto shared = decode(arguments.share_handle);
  if (!shared) return -EINVAL;
  if (!is_page_range(arguments.address, shared->bytes)) return -EINVAL;
  arguments.flags = shared->flags;
  Buffer buffer;
  buffer.begin = arguments.address;
  buffer.size = buffer.bytes = shared->bytes;
  buffer.node = node;
  buffer.flags = (shared->is_vram ? abi::kVram : abi::kGtt) | abi::kExecutable | abi::kWritable |
                 ((shared->flags & kCoarseGrained) != 0 ? 0 : abi::kCoherent);
  buffer.segment = shared->segment;
  buffer.imported = true;
  const std::lock_guard lock(mutex_);
  if (!is_free(buffer.begin, buffer.size)) return -EINVAL;
  if (!take_addresses(buffer.begin, buffer.size)) return -EINVAL;
  if (!machine::attach_pages(buffer.segment, pointer(buffer.begin), buffer.bytes)) {
    give_back_addresses(buffer.begin, buffer.size);
    return -EINVAL;
  }
  madvise(pointer(buffer.begin), buffer.bytes, MADV_DONTFORK);
  const int file =
      machine::follow_to_memory_file(buffer.segment, pointer(buffer.begin), buffer.bytes);
  if (file >= 0) {
    buffer.file = file;
    buffer.segment = {};
  } else if (file != machine::kNotForwarded) {
    give_back_addresses(buffer.begin, buffer.size);
    return -EINVAL;
  }
  arguments.handle = add_mappable(std::move(buffer));
  arguments.mmap_offset = find(arguments.handle)->mmap_offset;
  return 0;
}

uint64_t Buffers::add_mappable(Buffer buffer) {
  buffer.mmap_offset = next_offset_;
  next_offset_ += (buffer.bytes + kOffsetAlignment - 1) / kOffsetAlignment * kOffsetAlignment;
  return add(std::move(buffer));
}

// An observer may have divided the mapping, and Linux counts each part of a segment's as an
// attachment: it becomes one again.
bool Buffers::tell_shared(const Buffer& buffer) {
  machine::MemoryObserver* const observer = machine_.memory().observer();
  if (observer == nullptr || !buffer.has_address()) return true;
  observer->shared(buffer.begin);
  if (!buffer.segment.exists() || buffer.file >= 0 || buffer.size != buffer.bytes) return true;
  if (!machine::attach_pages(buffer.segment, pointer(buffer.begin), buffer.bytes)) return false;
  madvise(pointer(buffer.begin), buffer.bytes, MADV_DONTFORK);
  return true;
}

int Buffers::move_to_file(Buffer& buffer) {
  if (buffer.file >= 0) return 0;
  // The program has something else at its addresses.
  if (buffer.displaced) return -EINVAL;
  const int file = make_dmabuf(
      {buffer.node, buffer.flags & (abi::kVram | abi::kGtt | abi::kPublic), buffer.bytes});
  if (file < 0) return file;
  if (!tell_shared(buffer)) {
    close(file);
    return -ENOMEM;
  }
  const int result = machine::move_to_memory_file(
      {pointer(buffer.begin), buffer.size, buffer.bytes, buffer.segment}, file, &buffer.forwarding);
  if (result == 0) {
    buffer.file = file;
  } else {
    close(file);
    if (result == -EBUSY) queue::report(kAttached);
  }
  return result;
}

int Buffers::export_dmabuf(abi::ExportDmabuf& arguments) {
  const std::lock_guard lock(mutex_);
  Buffer* const buffer = find(arguments.handle);
  if (buffer == nullptr || !buffer->has_pages()) return -EINVAL;
  if (const int failed = move_to_file(*buffer); failed != 0) return failed;
  const bool closes = (arguments.flags & O_CLOEXEC) != 0;
  const int descriptor = fcntl(buffer->file, closes ? F_DUPFD_CLOEXEC : F_DUPFD, 0);
  if (descriptor < 0) return -errno;
  arguments.dmabuf_fd = static_cast<uint32_t>(descriptor);
  return 0;
}

// As amdkfd, kfd_ioctl_import_dmabuf: only memory of that GPU, or allocated through it.
int Buffers::import_dmabuf(uint32_t node, abi::ImportDmabuf& arguments) {
  const auto descriptor = static_cast<int>(arguments.dmabuf_fd);
  DmabufContents contents;
  if (const int failed = read_dmabuf(descriptor, contents); failed != 0) return failed;
  const uint64_t address = arguments.address != 0 ? arguments.address : kPage;
  if (contents.node != node || !is_page_range(address, contents.bytes)) return -EINVAL;
  Buffer buffer;
  buffer.begin = arguments.address;
  buffer.size = buffer.bytes = contents.bytes;
  buffer.node = node;
  buffer.flags = contents.flags | abi::kExecutable | abi::kWritable;
  buffer.imported = true;
  const std::lock_guard lock(mutex_);
  if (buffer.has_address() && !is_free(buffer.begin, buffer.size)) return -EINVAL;
  buffer.file = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (buffer.file < 0) return -errno;
  if (!buffer.has_address()) {
    arguments.handle = add_mappable(std::move(buffer));
    return 0;
  }
  if (!take_addresses(buffer.begin, buffer.size)) {
    close(buffer.file);
    return -EINVAL;
  }
  if (!machine::map_memory_file(buffer.file, pointer(buffer.begin), buffer.bytes)) {
    give_back_addresses(buffer.begin, buffer.size);
    close(buffer.file);
    return -ENOMEM;
  }
  arguments.handle = add_mappable(std::move(buffer));
  return 0;
}

void* Buffers::map_for_host(void* address, uint64_t bytes, int protection, int flags,
                            uint64_t offset) {
  const auto failed = [](int reason) {
    errno = reason;
    return MAP_FAILED;
  };
  bytes = (bytes + kPage - 1) / kPage * kPage;
  const std::lock_guard lock(mutex_);
  const auto next = by_offset_.upper_bound(offset);
  if (next == by_offset_.begin()) return failed(EINVAL);
  Buffer& buffer = *find(std::prev(next)->second);
  const uint64_t from = offset - buffer.mmap_offset;
  if (bytes == 0 || from >= buffer.bytes || bytes > buffer.bytes - from) return failed(EINVAL);
  // Where the GPU sees it is where it is already; and a mapping without access there would take it
  // from the GPU.
  const auto at = reinterpret_cast<uintptr_t>(address);
  const bool is_fixed = (flags & MAP_FIXED) != 0;
  const bool inside = at >= buffer.begin && at - buffer.begin < buffer.size;
  if (is_fixed && inside && buffer.has_address() && !buffer.displaced &&
      (at - buffer.begin) % buffer.bytes == from)
    return address;
  // A second mapping: of a segment only as a whole.
  const bool has_access = protection != PROT_NONE;
  if (has_access && buffer.file < 0 &&
      (!buffer.segment.exists() || from != 0 || bytes != buffer.bytes))
    return failed(EINVAL);
  void* const where = mmap(address, bytes, PROT_NONE,
                           kReservation | (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)), -1, 0);
  if (where == MAP_FAILED) return where;
  const auto begin = reinterpret_cast<uintptr_t>(where);
  if (is_fixed) displace(begin, bytes);
  if (!has_access) {
    reservations_.add(begin, begin + bytes);
    return where;
  }
  const bool is_there = buffer.file >= 0 ? mmap(where, bytes, protection, MAP_SHARED | MAP_FIXED,
                                                buffer.file, static_cast<off_t>(from)) != MAP_FAILED
                                         : machine::attach_pages(buffer.segment, where, bytes);
  if (!is_there) {
    munmap(where, bytes);
    return failed(ENOMEM);
  }
  return where;
}

void Buffers::displace(uint64_t begin, uint64_t bytes) {
  reservations_.remove(begin, begin + bytes);
  auto it = by_address_.upper_bound(begin);
  if (it != by_address_.begin()) {
    const Buffer& below = *find(std::prev(it)->second);
    if (begin - below.begin < below.size) --it;
  }
  while (it != by_address_.end() && it->first < begin + bytes) {
    find(it->second)->displaced = true;
    it = by_address_.erase(it);
  }
}

void Buffers::unmapped_by_host(uint64_t begin, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  displace(begin, bytes);
}

void Buffers::reserved_by_host(uint64_t begin, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  reservations_.add(begin, begin + bytes);
}

void Buffers::protected_by_host(uint64_t begin, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  reservations_.remove(begin, begin + bytes);
}

void* Buffers::keep(uint64_t handle, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  Buffer* const buffer = find(handle);
  if (buffer == nullptr || !buffer->has_pages() || !buffer->has_address() ||
      buffer->bytes < bytes || buffer->displaced)
    return nullptr;
  buffer->kept = true;
  return pointer(buffer->begin);
}

bool Buffers::overlap(uint64_t begin, uint64_t size) const {
  const std::lock_guard lock(mutex_);
  return !is_free(begin, size);
}

bool Buffers::claim_addresses(uint32_t node, uint64_t begin, uint64_t size) {
  const std::lock_guard lock(mutex_);
  const auto is_in_the_way = [=](const auto& entry) {
    const Buffer& buffer = entry.second;
    return buffer.has_address() && buffer.begin < begin + size &&
           begin < buffer.begin + buffer.size && buffer.mapped.count(node) != 0;
  };
  // Hardly ever is a buffer there at all.
  const auto above = ends_.lower_bound(begin + size);
  if (above != ends_.begin() && std::prev(above)->second > begin &&
      std::any_of(buffers_.begin(), buffers_.end(), is_in_the_way))
    return false;
  const auto it = claims_.find(begin);
  if (it != claims_.end() && it->second.size == size) return it->second.nodes.insert(node).second;
  if (is_claimed(begin, size)) return false;
  claims_[begin] = {size, {node}};
  return true;
}

void Buffers::release_addresses(uint32_t node, uint64_t begin) {
  const std::lock_guard lock(mutex_);
  const auto it = claims_.find(begin);
  if (it == claims_.end() || it->second.nodes.erase(node) == 0 || !it->second.nodes.empty()) return;
  claims_.erase(it);
}

AddressRange Buffers::reserved_around(uint64_t begin, uint64_t size) const {
  const std::lock_guard lock(mutex_);
  const AddressRange found = reservations_.around(begin, begin + size);
  const auto above = ends_.upper_bound(begin);
  if (above == ends_.begin()) return found;
  const auto& [first, last] = *std::prev(above);
  if (last < begin + size) return found;
  return {std::min(found.begin, first), std::max(found.end, last)};
}

void Buffers::set_vram_used(uint32_t node, uint64_t bytes) {
  vram_used_[node] = bytes;
  usage_.set(node - 1, bytes);
}

uint64_t Buffers::available(uint32_t node) const {
  const std::lock_guard lock(mutex_);
  return machine_.profile().gpus[node - 1].memory_bytes - vram_used_[node];
}

}  // namespace halyard::vgpu::kfd
