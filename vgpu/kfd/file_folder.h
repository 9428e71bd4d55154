// Makes the files of the virtual kernel driver real, in a folder of this user's.
#pragma once

#include <string>

#include "vgpu/kfd/topology_files.h"

namespace halyard::vgpu::kfd {

// Makes the folder, or finds it: its name is made of what the files say, so that processes with one
// profile share one, and a process that ends without a chance to clean up leaves nothing that
// grows. `parent`: where, an existing folder. Returns the folder's path; on failure empty, with a
// sentence in `error`. Any number of processes at once.
std::string make_file_folder(const FileTree& tree, const std::string& parent, std::string& error);

// XDG_RUNTIME_DIR, which is this user's and in memory; TMPDIR; or /tmp.
std::string default_folder_parent();

}  // namespace halyard::vgpu::kfd
