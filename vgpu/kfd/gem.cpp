#include "vgpu/kfd/gem.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "vgpu/kfd/abi.h"
#include "vgpu/kfd/addresses.h"
#include "vgpu/shared_memory_access.h"

namespace halyard::vgpu::kfd {
namespace {

// Above all offsets of Buffers.
constexpr uint64_t kFirstOffset = uint64_t{1} << 56;
constexpr size_t kMaxObjects = 65536;

}  // namespace

Gem::Gem(machine::Machine& machine, Buffers& buffers)
    : machine_(machine), buffers_(buffers), next_offset_(kFirstOffset) {}

Gem::~Gem() {
  for (auto& [key, object] : objects_) release(key.first, object);
}

Gem::Object* Gem::find(uint32_t node, uint32_t handle) {
  const auto it = objects_.find({node, handle});
  return it != objects_.end() ? &it->second : nullptr;
}

int Gem::import(uint32_t node, drm::PrimeHandle& arguments) {
  DmabufContents contents;
  if (const int failed = read_dmabuf(arguments.fd, contents); failed != 0) return failed;
  if (contents.node >= machine_.node_count()) return -EINVAL;
  struct stat state = {};
  if (fstat(arguments.fd, &state) != 0) return -errno;
  const std::lock_guard lock(mutex_);
  for (const auto& [key, object] : objects_) {
    if (key.first != node || object.device != state.st_dev || object.inode != state.st_ino)
      continue;
    arguments.handle = key.second;
    return 0;
  }
  if (objects_.size() >= kMaxObjects) return -ENOMEM;
  Object object;
  object.contents = contents;
  object.file = fcntl(arguments.fd, F_DUPFD_CLOEXEC, 0);
  if (object.file < 0) return -errno;
  object.device = state.st_dev;
  object.inode = state.st_ino;
  object.offset = next_offset_;
  next_offset_ += (contents.bytes + kOffsetAlignment - 1) / kOffsetAlignment * kOffsetAlignment;
  arguments.handle = next_handle_++;
  objects_.emplace(Key{node, arguments.handle}, std::move(object));
  return 0;
}

int Gem::create(uint32_t node, drm::GemCreate& arguments) {
  const drm::GemCreate in = arguments;
  if ((in.in.flags & ~drm::kGemCreateKnownFlags) != 0 || (in.in.domains & ~drm::kDomains) != 0 ||
      in.in.bytes == 0 || (in.in.domains != 0 && (in.in.domains & drm::kDomainsOfMemory) == 0))
    return -EINVAL;
  abi::AllocMemory memory;
  memory.size = in.in.bytes;
  const bool wants_vram = (in.in.domains & drm::kDomainVram) != 0;
  memory.flags = (wants_vram ? abi::kVram : abi::kGtt) | abi::kWritable | abi::kExecutable;
  int result = buffers_.allocate(node, memory);
  if (result == -ENOMEM && wants_vram) {
    // As in Linux, where there is none left it may be the host's.
    memory.flags ^= abi::kVram | abi::kGtt;
    result = buffers_.allocate(node, memory);
  }
  if (result != 0) return result;
  abi::ExportDmabuf exported;
  exported.handle = memory.handle;
  exported.flags = O_CLOEXEC;
  result = buffers_.export_dmabuf(exported);
  drm::PrimeHandle prime;
  if (result == 0) {
    prime.fd = static_cast<int32_t>(exported.dmabuf_fd);
    result = import(node, prime);
    ::close(prime.fd);
  }
  if (result != 0) {
    buffers_.free(memory.handle);
    return result;
  }
  const std::lock_guard lock(mutex_);
  if (Object* const object = find(node, prime.handle)) object->memory = memory.handle;
  arguments.out = {prime.handle, 0};
  return 0;
}

bool Gem::has(uint32_t node, uint32_t handle) {
  const std::lock_guard lock(mutex_);
  return find(node, handle) != nullptr;
}

int Gem::wait(uint32_t node, drm::GemWait& arguments) {
  if (!has(node, arguments.in.handle)) return -ENOENT;
  arguments = {};
  return 0;
}

int Gem::export_handle(uint32_t node, drm::PrimeHandle& arguments) {
  const std::lock_guard lock(mutex_);
  const Object* const object = find(node, arguments.handle);
  if (object == nullptr) return -ENOENT;
  const bool closes = (arguments.flags & O_CLOEXEC) != 0;
  const int descriptor = fcntl(object->file, closes ? F_DUPFD_CLOEXEC : F_DUPFD, 0);
  if (descriptor < 0) return -errno;
  arguments.fd = descriptor;
  return 0;
}

int Gem::close(uint32_t node, const drm::GemClose& arguments) {
  const std::lock_guard lock(mutex_);
  const auto it = objects_.find({node, arguments.handle});
  if (it == objects_.end()) return -EINVAL;
  release(node, it->second);
  objects_.erase(it);
  return 0;
}

void Gem::release(uint32_t node, Object& object) {
  for (const Mapping& mapping : object.mappings)
    remove(node, mapping, (object.contents.flags & abi::kVram) != 0);
  ::close(object.file);
  if (object.memory != 0) buffers_.free(object.memory);
}

int Gem::find_offset(uint32_t node, drm::GemMmap& arguments) {
  const std::lock_guard lock(mutex_);
  const Object* const object = find(node, arguments.in.handle);
  if (object == nullptr) return -ENOENT;
  arguments.offset = object->offset;
  return 0;
}

int Gem::get_info(uint32_t node, const drm::GemOp& arguments, drm::GemCreateInfo& info) {
  if (arguments.op != drm::kGemGetCreateInfo) return -EINVAL;
  const std::lock_guard lock(mutex_);
  const Object* const object = find(node, arguments.handle);
  if (object == nullptr) return -ENOENT;
  info.bytes = object->contents.bytes;
  info.alignment = kPage;
  info.domains = (object->contents.flags & abi::kVram) != 0 ? drm::kDomainVram : drm::kDomainGtt;
  info.flags = drm::kCpuAccessRequired;
  return 0;
}

// Graphics drivers say so what a texture is.
int Gem::change_metadata(uint32_t node, drm::GemMetadata& arguments) {
  const std::lock_guard lock(mutex_);
  Object* const object = find(node, arguments.handle);
  if (object == nullptr) return -ENOENT;
  if (arguments.op == drm::kGemSetMetadata) {
    if (arguments.bytes > sizeof arguments.data) return -EINVAL;
    object->metadata = arguments;
    return 0;
  }
  if (arguments.op != drm::kGemGetMetadata) return -EINVAL;
  const drm::GemMetadata asked = arguments;
  arguments = object->metadata;
  arguments.handle = asked.handle;
  arguments.op = asked.op;
  return 0;
}

std::vector<unsigned char> Gem::metadata_of(int dmabuf) {
  struct stat state = {};
  if (fstat(dmabuf, &state) != 0) return {};
  const std::lock_guard lock(mutex_);
  for (const auto& [key, object] : objects_) {
    if (object.device != state.st_dev || object.inode != state.st_ino) continue;
    const auto* const bytes = reinterpret_cast<const unsigned char*>(object.metadata.data);
    if (object.metadata.bytes != 0) return {bytes, bytes + object.metadata.bytes};
  }
  return {};
}

int Gem::change_addresses(uint32_t node, const drm::GemVa& arguments) {
  const uint64_t begin = arguments.address;
  const uint64_t size = arguments.size;
  if ((arguments.flags & ~drm::kVaKnownFlags) != 0) return -EINVAL;
  if (begin == 0 || size == 0 || begin % kPage != 0 || size % kPage != 0 ||
      arguments.offset % kPage != 0 || begin > kUserEnd || size > kUserEnd - begin)
    return -EINVAL;
  const std::lock_guard lock(mutex_);
  Object* const object = find(node, arguments.handle);
  if (object == nullptr) return -ENOENT;
  switch (arguments.operation) {
    case drm::kVaMap:
      return map(node, *object, arguments);
    case drm::kVaUnmap:
      return unmap(node, *object, arguments);
    default:
      return -EINVAL;
  }
}

int Gem::map(uint32_t node, Object& object, const drm::GemVa& arguments) {
  const uint64_t bytes = object.contents.bytes;
  if (arguments.offset > bytes || arguments.size > bytes - arguments.offset) return -EINVAL;
  const uint64_t begin = arguments.address;
  if (!buffers_.claim_addresses(node, begin, arguments.size)) return -EINVAL;
  const FilePart part = {object.file, object.device, object.inode, arguments.offset};
  const auto host =
      windows_.map(begin, arguments.size, part, buffers_.reserved_around(begin, arguments.size));
  if (!host) {
    buffers_.release_addresses(node, begin);
    return -ENOMEM;
  }
  const bool writable = (arguments.flags & drm::kVaWriteable) != 0;
  const Mapping mapping = {begin, arguments.size, *host, writable};
  const uint64_t end = begin + mapping.size;
  machine::MemoryMap& memory = machine_.memory();
  memory.gpu_memory(node).add(begin, end, mapping.host - begin, writable);
  memory.all_memory().add(mapping.host, mapping.host + mapping.size);
  if ((object.contents.flags & abi::kVram) != 0)
    memory.coarse_memory().add(begin, end, mapping.host - begin);
  object.mappings.push_back(mapping);
  return 0;
}

int Gem::unmap(uint32_t node, Object& object, const drm::GemVa& arguments) {
  const auto it = std::find_if(
      object.mappings.begin(), object.mappings.end(), [&arguments](const Mapping& mapping) {
        return mapping.begin == arguments.address && mapping.size == arguments.size;
      });
  if (it == object.mappings.end()) return -EINVAL;
  remove(node, *it, (object.contents.flags & abi::kVram) != 0);
  object.mappings.erase(it);
  return 0;
}

void Gem::remove(uint32_t node, const Mapping& mapping, bool is_coarse_grained) {
  const uint64_t end = mapping.begin + mapping.size;
  machine::MemoryMap& memory = machine_.memory();
  memory.gpu_memory(node).remove(mapping.begin, end, mapping.writable);
  memory.all_memory().remove(mapping.host, mapping.host + mapping.size);
  if (is_coarse_grained) memory.coarse_memory().remove(mapping.begin, end);
  wait_for_accesses();
  buffers_.release_addresses(node, mapping.begin);
  windows_.unmap(mapping.host);
}

bool Gem::is_offset(uint64_t offset) {
  return offset >= kFirstOffset;
}

void* Gem::map_for_host(void* address, uint64_t bytes, int protection, int flags, uint64_t offset) {
  const std::lock_guard lock(mutex_);
  for (const auto& [key, object] : objects_) {
    if (offset < object.offset || offset - object.offset >= object.contents.bytes) continue;
    const uint64_t from = offset - object.offset;
    const uint64_t pages = (bytes + kPage - 1) / kPage * kPage;
    if (bytes == 0 || pages > object.contents.bytes - from) break;
    return mmap(address, bytes, protection,
                MAP_SHARED | (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)), object.file,
                static_cast<off_t>(from));
  }
  errno = EINVAL;
  return MAP_FAILED;
}

}  // namespace halyard::vgpu::kfd
