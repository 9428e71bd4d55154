#include "vgpu/kfd/paths.h"

#include <cstring>

namespace halyard::vgpu::kfd {
namespace {

// Folders and files that are the driver's as a whole. A real driver's are hidden by them.
constexpr const char* kOwn[] = {
    "/dev/kfd",           "/dev/dri",
    "/proc/modules",      "/sys/class/drm",
    "/sys/class/kfd",     "/sys/devices/virtual/kfd",
    "/sys/module/amdgpu", "/usr/share/libdrm/amdgpu.ids",
};
// DRM's devices, by number: 226 is its major.
constexpr const char* kOwnDevices = "/sys/dev/char/226:";
constexpr const char* kRenderPrefix = "/dev/dri/renderD";

bool starts_with(const char* text, const char* prefix) {
  return std::strncmp(text, prefix, std::strlen(prefix)) == 0;
}

// Writes the path without ".", ".." and repeated slashes; false if it does not fit.
bool normalize(const char* path, char* to, size_t capacity) {
  size_t size = 0;
  for (const char* at = path; *at != '\0';) {
    while (*at == '/') ++at;
    const char* const begin = at;
    while (*at != '\0' && *at != '/') ++at;
    const auto length = static_cast<size_t>(at - begin);
    if (length == 0 || (length == 1 && begin[0] == '.')) continue;
    if (length == 2 && begin[0] == '.' && begin[1] == '.') {
      while (size > 0) {
        --size;
        if (to[size] == '/') break;
      }
      continue;
    }
    if (size + 1 + length + 1 > capacity) return false;
    to[size++] = '/';
    std::memcpy(to + size, begin, length);
    size += length;
  }
  if (size == 0) to[size++] = '/';
  to[size] = '\0';
  return true;
}

bool is_own(const char* path) {
  if (starts_with(path, kOwnDevices)) return true;
  for (const char* own : kOwn) {
    const size_t length = std::strlen(own);
    if (std::strncmp(path, own, length) == 0 && (path[length] == '\0' || path[length] == '/'))
      return true;
  }
  return false;
}

// The number at the end of a path; false if anything else is there.
bool read_minor(const char* text, unsigned& minor) {
  minor = 0;
  if (*text == '\0' || std::strlen(text) > 3) return false;
  for (; *text != '\0'; ++text) {
    if (*text < '0' || *text > '9') return false;
    minor = minor * 10 + static_cast<unsigned>(*text - '0');
  }
  return true;
}

}  // namespace

void redirect(const char* path, const char* root, Redirection& result) {
  result.place = Place::kElsewhere;
  if (path == nullptr || path[0] != '/') return;
  const size_t root_length = std::strlen(root);
  if (root_length + 2 > kPathBytes) return;
  char* const own = result.path + root_length;
  if (!normalize(path, own, kPathBytes - root_length) || !is_own(own)) return;
  result.place = Place::kFile;
  if (std::strcmp(own, "/dev/kfd") == 0) result.place = Place::kKfd;
  if (starts_with(own, kRenderPrefix) && read_minor(own + std::strlen(kRenderPrefix), result.minor))
    result.place = Place::kRender;
  std::memcpy(result.path, root, root_length);
}

}  // namespace halyard::vgpu::kfd
