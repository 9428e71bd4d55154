#include "vgpu/kfd/windows.h"

#include <sys/mman.h>

#include <iterator>
#include <utility>

#include "vgpu/kfd/addresses.h"

namespace halyard::vgpu::kfd {
namespace {

// Addresses of the host's without memory; 0 if there are none.
uint64_t reserve(uint64_t bytes) {
  void* const at = mmap(nullptr, bytes, PROT_NONE, kReservation, -1, 0);
  return at != MAP_FAILED ? reinterpret_cast<uintptr_t>(at) : 0;
}

}  // namespace

Windows::~Windows() {
  for (const auto& [host, window] : windows_)
    munmap(pointer(host), window.range.end - window.range.begin);
}

bool Windows::Window::is_free(uint64_t address, uint64_t size) const {
  const auto above = pieces.lower_bound(address);
  if (above != pieces.end() && above->first < address + size) return false;
  if (above == pieces.begin()) return true;
  const auto& [begin, piece] = *std::prev(above);
  return begin + piece.size <= address;
}

std::optional<uint64_t> Windows::map(uint64_t address, uint64_t size, const FilePart& part,
                                     AddressRange reserved) {
  auto chosen = windows_.end();
  for (auto it = windows_.begin(); it != windows_.end(); ++it) {
    Window& window = it->second;
    if (!window.range.contains(address, size)) continue;
    const auto same = window.pieces.find(address);
    if (same != window.pieces.end() && same->second.size == size &&
        same->second.part.device == part.device && same->second.part.inode == part.inode &&
        same->second.part.offset == part.offset) {
      ++same->second.users;
      return it->first + (address - window.range.begin);
    }
    if (window.is_free(address, size)) chosen = it;
  }
  if (chosen == windows_.end()) {
    uint64_t host = reserve(reserved.end - reserved.begin);
    if (host == 0) {
      reserved = {address, address + size};
      host = reserve(size);
    }
    if (host == 0) return std::nullopt;
    chosen = windows_.emplace(host, Window{reserved, {}}).first;
  }
  Window& window = chosen->second;
  const uint64_t host = chosen->first + (address - window.range.begin);
  if (mmap(pointer(host), size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, part.file,
           static_cast<off_t>(part.offset)) == MAP_FAILED) {
    if (window.pieces.empty()) {
      munmap(pointer(chosen->first), window.range.end - window.range.begin);
      windows_.erase(chosen);
    }
    return std::nullopt;
  }
  madvise(pointer(host), size, MADV_DONTFORK);
  window.pieces.emplace(address, Piece{size, part});
  return host;
}

void Windows::unmap(uint64_t host) {
  const auto it = std::prev(windows_.upper_bound(host));
  Window& window = it->second;
  const auto piece = window.pieces.find(window.range.begin + (host - it->first));
  if (--piece->second.users != 0) return;
  const uint64_t size = piece->second.size;
  window.pieces.erase(piece);
  if (window.pieces.empty()) {
    munmap(pointer(it->first), window.range.end - window.range.begin);
    windows_.erase(it);
  } else {
    // If it fails, the memory stays mapped until the window ends.
    [[maybe_unused]] const void* mapped =
        mmap(pointer(host), size, PROT_NONE, kReservation | MAP_FIXED, -1, 0);
  }
}

}  // namespace halyard::vgpu::kfd
