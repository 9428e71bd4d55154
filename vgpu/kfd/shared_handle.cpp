#include "vgpu/kfd/shared_handle.h"

#include "vgpu/kfd/addresses.h"

namespace halyard::vgpu::kfd {
namespace {

constexpr uint32_t kVramBit = 0x80000000;

enum Word { kSegment, kMade, kPages, kFlags };

// Ties the words together: the time at which the segment was made is only right if all are.
uint32_t mask_of(const uint32_t (&words)[4]) {
  uint32_t hash = 2166136261u;
  for (const Word word : {kSegment, kPages, kFlags}) {
    for (unsigned shift = 0; shift < 32; shift += 8)
      hash = (hash ^ ((words[word] >> shift) & 0xff)) * 16777619u;
  }
  return hash;
}

}  // namespace

bool encode(const SharedBuffer& buffer, uint32_t (&words)[4]) {
  const uint64_t pages = buffer.bytes / kPage;
  if (!buffer.segment.exists() || pages == 0 || pages >= kVramBit) return false;
  words[kSegment] = static_cast<uint32_t>(buffer.segment.id);
  words[kPages] = static_cast<uint32_t>(pages) | (buffer.is_vram ? kVramBit : 0);
  words[kFlags] = buffer.flags;
  words[kMade] = buffer.segment.made ^ mask_of(words);
  return true;
}

std::optional<SharedBuffer> decode(const uint32_t (&words)[4]) {
  SharedBuffer buffer;
  buffer.segment.id = static_cast<int>(words[kSegment]);
  buffer.segment.made = words[kMade] ^ mask_of(words);
  buffer.bytes = (words[kPages] & ~kVramBit) * kPage;
  buffer.is_vram = (words[kPages] & kVramBit) != 0;
  buffer.flags = words[kFlags];
  if (!buffer.segment.exists() || buffer.bytes == 0) return std::nullopt;
  return buffer;
}

}  // namespace halyard::vgpu::kfd
