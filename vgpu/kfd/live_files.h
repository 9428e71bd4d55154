// Files of the virtual kernel driver whose content changes: how much memory of a GPU is in use. On
// disk such a file says which GPU it is of, and how much there can be; a program that opens it gets
// the number of that moment in its place, as sysfs does it.
//
// Nothing here needs a C++ library: it is part of the preloaded one.
#pragma once

#include <cstdint>

namespace halyard::vgpu::kfd {

// What such a file has on disk, as arguments of printf: the device's first GPU, counted from 0, how
// many GPUs its partitions are, and the limit.
inline constexpr const char* kLiveFormat = "%u %u %llu\n";

// Whether a path has the name of such a file.
bool is_live_file(const char* path);

// Turns the open descriptor of such a file into one with the number, and closes it. `flags`: those
// of open(). Returns -1 with errno set on failure; a descriptor to write to stays as it is.
int open_live_file(const char* root, int file, int flags);

}  // namespace halyard::vgpu::kfd
