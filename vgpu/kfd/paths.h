// Which paths of the file system are the virtual kernel driver's. Nothing here allocates, takes a
// lock or needs a C++ library: it runs in every call of a program that opens a file.
#pragma once

#include <sys/types.h>

#include <cstddef>

namespace halyard::vgpu::kfd {

inline constexpr size_t kPathBytes = 4096;  // as PATH_MAX

// What a path of the virtual kernel driver names.
enum class Place {
  kElsewhere,  // not the driver's
  kFile,       // a file, a folder, or nothing
  kKfd,        // /dev/kfd
  kRender,     // /dev/dri/renderD*
};

struct Redirection {
  Place place = Place::kElsewhere;
  unsigned minor = 0;          // of kRender
  char path[kPathBytes] = "";  // below the root, unless kElsewhere
};

// As readlink(): how many bytes the target of a symbolic link has; below 0 if there is no link.
using ReadLink = ssize_t (*)(const char* path, char* text, size_t bytes);

// `root`: the folder that holds the driver's files under their own paths; without a '/' at its end.
// A path that is relative, null or too long is elsewhere. "." and "//" are resolved in the text, as
// no folder of the driver's is reached through a symbolic link from outside; "..", too, but behind
// a symbolic link of the driver's it leads to the parent of the link's target, as in the kernel
// ("/sys/class/drm/card0/.."). `read_link` reads these links; it is called for such paths only.
void redirect(const char* path, const char* root, ReadLink read_link, Redirection& result);

}  // namespace halyard::vgpu::kfd
