// What sysfs says of the GPUs as PCI devices and as devices of DRM: where rocm-smi, amd-smi, libdrm
// and lspci find them. What a virtual GPU does not have, such as sensors, fans and a power supply,
// has no file: the tools then say so.
#pragma once

#include <map>
#include <string>

#include "vgpu/kfd/topology_files.h"
#include "vgpu/machine/profile.h"

namespace halyard::vgpu::kfd {

inline constexpr uint32_t kVendorAmd = 0x1002;

// Beside the GPUs, the host's own PCI devices stay where they are. A GPU hides a device of the host
// that has its address.
void add_pci_files(FileTree& tree, const machine::Profile& profile, const HostFacts& host);

// HostFacts::pci_devices of this host.
std::map<std::string, std::string> host_pci_devices();

}  // namespace halyard::vgpu::kfd
