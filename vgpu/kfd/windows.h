// Where the host has what GPUs map at addresses that are not the host's (gem.h).
//
// What neighbours what for a GPU does so for the host, too, as far as the program has reserved the
// addresses together: an access, or a copy, may go across several mappings. So the first mapping in
// such a range reserves as many addresses of the host's, a window, in which all of them lie.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>

namespace halyard::vgpu::kfd {

struct AddressRange {
  uint64_t begin = 0;
  uint64_t end = 0;
  bool contains(uint64_t address, uint64_t size) const {
    return address >= begin && address < end && size <= end - address;
  }
};

// A part of a file, which several mappings can name.
struct FilePart {
  int file = -1;
  dev_t device = 0;
  ino_t inode = 0;
  uint64_t offset = 0;
};

// Not thread-safe.
class Windows {
 public:
  Windows() = default;
  ~Windows();
  Windows(const Windows&) = delete;
  Windows& operator=(const Windows&) = delete;

  // Maps `size` bytes of the file for a GPU's address. `reserved`: what the program has reserved
  // around it. Two GPUs that have the same there share a mapping. Returns where the host has it; no
  // value without memory for that.
  std::optional<uint64_t> map(uint64_t address, uint64_t size, const FilePart& part,
                              AddressRange reserved);
  // What map() has returned, as often.
  void unmap(uint64_t host);

 private:
  struct Piece {
    uint64_t size = 0;
    FilePart part;
    uint32_t users = 1;
  };
  struct Window {
    AddressRange range;                // of the GPU's addresses
    std::map<uint64_t, Piece> pieces;  // by the GPU's address
    bool is_free(uint64_t address, uint64_t size) const;
  };

  std::map<uint64_t, Window> windows_;  // by the host's address
};

}  // namespace halyard::vgpu::kfd
