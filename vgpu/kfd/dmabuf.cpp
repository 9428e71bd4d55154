#include "vgpu/kfd/dmabuf.h"

#include <fcntl.h>

#include <cerrno>
#include <cstdio>
#include <string>

#include "vgpu/kfd/abi.h"
#include "vgpu/kfd/addresses.h"
#include "vgpu/machine/memory_file.h"

namespace halyard::vgpu::kfd {
namespace {

// The memory file's name, which goes where the descriptor goes, and nobody can change.
constexpr const char* kDmabufName = "halyard-dmabuf:%u:%x";

std::string name_of(uint32_t node, uint32_t flags) {
  char text[64];
  std::snprintf(text, sizeof text, kDmabufName, node, flags);
  return text;
}

}  // namespace

int make_dmabuf(const DmabufContents& contents) {
  const int file =
      machine::create_memory_file(name_of(contents.node, contents.flags), contents.bytes);
  return file >= 0 ? file : -errno;
}

int read_dmabuf(int file, DmabufContents& contents) {
  if (fcntl(file, F_GETFD) < 0) return -EBADF;
  uint64_t bytes = 0;
  const std::string name = machine::memory_file_name(file, &bytes);
  DmabufContents found;
  // Only as make_dmabuf() writes it.
  const bool is_name = std::sscanf(name.c_str(), kDmabufName, &found.node, &found.flags) == 2 &&
                       name == name_of(found.node, found.flags);
  const uint32_t kind = found.flags & ~abi::kPublic;
  if (!is_name || found.node == 0 || (kind != abi::kVram && kind != abi::kGtt) || bytes == 0 ||
      bytes % kPage != 0)
    return -EINVAL;
  found.bytes = bytes;
  contents = found;
  return 0;
}

}  // namespace halyard::vgpu::kfd
