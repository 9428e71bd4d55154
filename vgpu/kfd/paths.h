// Which paths of the file system are the virtual kernel driver's. Nothing here allocates, takes a
// lock or needs a C++ library: it runs in every call of a program that opens a file.
#pragma once

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

// `root`: the folder that holds the driver's files under their own paths; without a '/' at its end.
// A path that is relative, null or too long is elsewhere. ".", ".." and "//" are resolved in the
// text, as no folder of the driver's is reached through a symbolic link from outside.
void redirect(const char* path, const char* root, Redirection& result);

}  // namespace halyard::vgpu::kfd
