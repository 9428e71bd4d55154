#include "vgpu/kfd/live_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "vgpu/kfd/usage.h"

namespace halyard::vgpu::kfd {
namespace {

constexpr const char* kNames[] = {"mem_info_vram_used", "mem_info_vis_vram_used"};

// A file in memory with the number of bytes in use; -1 with errno set on failure.
int make_number(uint64_t bytes, int flags) {
  char text[32];
  const int length = snprintf(text, sizeof text, "%llu\n", static_cast<unsigned long long>(bytes));
  const int file = memfd_create("halyard-vgpu", (flags & O_CLOEXEC) != 0 ? MFD_CLOEXEC : 0);
  if (file < 0) return -1;
  if (pwrite(file, text, static_cast<size_t>(length), 0) == length) return file;
  close(file);
  errno = EIO;
  return -1;
}

}  // namespace

bool is_live_file(const char* path) {
  const char* const slash = strrchr(path, '/');
  const char* const name = slash != nullptr ? slash + 1 : path;
  for (const char* const live : kNames) {
    if (strcmp(name, live) == 0) return true;
  }
  return false;
}

int open_live_file(const char* root, int file, int flags) {
  if (file < 0 || (flags & O_ACCMODE) != O_RDONLY || (flags & O_PATH) != 0) return file;
  char text[64] = "";
  unsigned first = 0;
  unsigned count = 0;
  unsigned long long limit = 0;
  if (pread(file, text, sizeof text - 1, 0) <= 0 ||
      sscanf(text, kLiveFormat, &first, &count, &limit) != 3)
    return file;
  uint64_t bytes = 0;
  for (unsigned gpu = first; gpu < first + count; ++gpu) bytes += usage_of_all(root, gpu);
  const int number = make_number(bytes < limit ? bytes : limit, flags);
  const int reason = errno;
  close(file);
  errno = reason;
  return number;
}

}  // namespace halyard::vgpu::kfd
