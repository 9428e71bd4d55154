#include "vgpu/kfd/paths.h"

#include <cstring>

namespace halyard::vgpu::kfd {
namespace {

// Folders and files that are the driver's as a whole. A real driver's are hidden by them.
constexpr const char* kOwn[] = {
    "/dev/kfd",
    "/dev/dri",
    "/proc/modules",
    "/sys/bus/pci/devices",
    "/sys/bus/pci/drivers/amdgpu",
    "/sys/class/drm",
    "/sys/class/kfd",
    "/sys/devices/virtual/kfd",
    "/sys/devices/virtual/pci",
    "/sys/module/amdgpu",
    "/usr/share/libdrm/amdgpu.ids",
};
// DRM's devices, by number: 226 is its major. And the devices of partitions.
constexpr const char* kOwnPrefixes[] = {"/sys/dev/char/226:", "/sys/devices/platform/amdgpu_xcp_"};
constexpr const char* kRenderPrefix = "/dev/dri/renderD";

bool starts_with(const char* text, const char* prefix) {
  return std::strncmp(text, prefix, std::strlen(prefix)) == 0;
}

bool is_own(const char* path) {
  for (const char* const prefix : kOwnPrefixes) {
    if (starts_with(path, prefix)) return true;
  }
  for (const char* own : kOwn) {
    const size_t length = std::strlen(own);
    if (std::strncmp(path, own, length) == 0 && (path[length] == '\0' || path[length] == '/'))
      return true;
  }
  return false;
}

// One component of a path.
struct Component {
  const char* begin = nullptr;
  size_t length = 0;
  bool is(const char* name) const {
    return length == std::strlen(name) && std::memcmp(begin, name, length) == 0;
  }
};

// The next component, whose end `at` is moved to; empty at the end of the path.
Component next_component(const char*& at) {
  while (*at == '/') ++at;
  Component component = {at, 0};
  while (*at != '\0' && *at != '/') ++at;
  component.length = static_cast<size_t>(at - component.begin);
  return component;
}

bool has_parents(const char* path) {
  for (Component component = next_component(path); component.length != 0;
       component = next_component(path)) {
    if (component.is("..")) return true;
  }
  return false;
}

// A path without ".", ".." and repeated slashes, as it is written.
class Canonical {
 public:
  Canonical(char* to, size_t capacity) : to_(to), capacity_(capacity) { clear(); }
  void clear() { to_[size_ = 0] = '\0'; }
  void remove_last() {
    while (size_ > 0) {
      --size_;
      if (to_[size_] == '/') break;
    }
    to_[size_] = '\0';
  }
  // False if it does not fit.
  bool add(const Component& component) {
    if (size_ + 1 + component.length + 1 > capacity_) return false;
    to_[size_++] = '/';
    std::memcpy(to_ + size_, component.begin, component.length);
    size_ += component.length;
    to_[size_] = '\0';
    return true;
  }
  const char* text() const { return to_; }

 private:
  char* to_;
  size_t capacity_;
  size_t size_ = 0;
};

// What is left of a path, behind the target of a link.
class Rest {
 public:
  // The target and the rest, which may be the end of this one; false if they do not fit.
  bool follow(const char* link, size_t length, const char* rest) {
    const size_t rest_length = std::strlen(rest) + 1;
    if (length + rest_length > kPathBytes) return false;
    std::memmove(text_ + length, rest, rest_length);
    std::memcpy(text_, link, length);
    return true;
  }
  const char* text() const { return text_; }

 private:
  char text_[kPathBytes];
};

// As in Linux.
constexpr unsigned kMaxLinks = 40;

// Writes the path below the root, which is in the result already, without ".", ".." and repeated
// slashes; false if it does not fit.
bool normalize(const char* path, size_t root_length, ReadLink read_link, Redirection& result) {
  Canonical canonical(result.path + root_length, kPathBytes - root_length);
  const bool may_leave_links = has_parents(path);
  Rest rest;
  unsigned links = 0;
  for (const char* at = path;;) {
    const Component component = next_component(at);
    if (component.length == 0) return true;
    if (component.is(".")) continue;
    if (component.is("..")) {
      canonical.remove_last();
      continue;
    }
    if (!canonical.add(component)) return false;
    if (!may_leave_links || !is_own(canonical.text()) || !has_parents(at)) continue;
    char link[kPathBytes];
    const ssize_t length = read_link(result.path, link, sizeof link);
    if (length <= 0) continue;
    if (++links > kMaxLinks || !rest.follow(link, static_cast<size_t>(length), at)) return false;
    if (link[0] == '/')
      canonical.clear();
    else
      canonical.remove_last();
    at = rest.text();
  }
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

void redirect(const char* path, const char* root, ReadLink read_link, Redirection& result) {
  result.place = Place::kElsewhere;
  if (path == nullptr || path[0] != '/') return;
  const size_t root_length = std::strlen(root);
  if (root_length + 2 > kPathBytes) return;
  std::memcpy(result.path, root, root_length);
  const char* const own = result.path + root_length;
  if (!normalize(path, root_length, read_link, result) || !is_own(own)) return;
  result.place = Place::kFile;
  if (std::strcmp(own, "/dev/kfd") == 0) result.place = Place::kKfd;
  if (starts_with(own, kRenderPrefix) && read_minor(own + std::strlen(kRenderPrefix), result.minor))
    result.place = Place::kRender;
}

}  // namespace halyard::vgpu::kfd
