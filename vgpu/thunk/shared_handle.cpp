#include "vgpu/thunk/shared_handle.h"

namespace halyard::vgpu::thunk {

namespace {

constexpr uint64_t kPage = 4096;
constexpr uint32_t kMagic = 0x48594950;  // also the version of what follows

enum Word { kKind, kSegment, kMade, kPages, kFlags, kNode, kRuntimes, kCheck, kWords };
static_assert(kWords * sizeof(HSAuint32) == sizeof(HsaSharedMemoryHandle));

// FNV-1a over the words but for the runtime's and itself.
uint32_t check_of(const HsaSharedMemoryHandle& words) {
  uint32_t hash = 2166136261u;
  for (int word = 0; word < kRuntimes; ++word) {
    for (unsigned shift = 0; shift < 32; shift += 8) {
      hash = (hash ^ ((words[word] >> shift) & 0xff)) * 16777619u;
    }
  }
  return hash;
}

}  // namespace

void encode(const SharedHandle& handle, HsaSharedMemoryHandle& words) {
  words[kKind] = kMagic;
  words[kSegment] = static_cast<HSAuint32>(handle.segment.id);
  words[kMade] = handle.segment.made;
  words[kPages] = static_cast<HSAuint32>(handle.size / kPage);
  words[kFlags] = handle.flags;
  words[kNode] = handle.node;
  words[kRuntimes] = 0;
  words[kCheck] = check_of(words);
}

std::optional<SharedHandle> decode(const HsaSharedMemoryHandle& words) {
  if (words[kKind] != kMagic || words[kCheck] != check_of(words)) return std::nullopt;
  SharedHandle handle;
  handle.segment.id = static_cast<int>(words[kSegment]);
  handle.segment.made = words[kMade];
  handle.size = words[kPages] * kPage;
  handle.flags = words[kFlags];
  handle.node = words[kNode];
  if (!handle.segment.exists() || handle.size == 0) return std::nullopt;
  return handle;
}

}  // namespace halyard::vgpu::thunk
