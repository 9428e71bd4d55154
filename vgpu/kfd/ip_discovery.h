// The folder "ip_discovery" of a PCI device: which hardware blocks it has, and of which versions
// (Linux, amdgpu_discovery.c).
#pragma once

#include <string>

#include "vgpu/kfd/topology_files.h"

namespace halyard::vgpu::kfd {

// Adds it to the folder `device`, for processors whose blocks Linux reads from the device itself.
// For those before, it has a list of its own, and no such folder.
void add_ip_discovery(FileTree& tree, const std::string& device, const machine::GpuProfile& gpu);

}  // namespace halyard::vgpu::kfd
