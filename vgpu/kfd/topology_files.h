// The files through which a kernel driver describes the machine: sysfs topology, DRM's and the few
// others that the vendor's libraries and tools read. Pure: text for a profile.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "vgpu/machine/profile.h"

namespace halyard::vgpu::kfd {

// What the files say of the host itself.
struct HostFacts {
  uint32_t cores = 1;
  uint32_t first_apic_id = 0;  // of its first processor: the thunk finds the CPU's name by it
  uint64_t memory_bytes = uint64_t{1} << 30;
  std::map<std::string, std::string>
      pci_devices;  // links of /sys/bus/pci/devices, and their targets
};
HostFacts host_facts();

struct FileTree {
  std::map<std::string, std::string> files;  // by absolute path; their folders are implied
  std::set<std::string> folders;             // without files
  std::map<std::string, std::string> links;  // symbolic ones
};

FileTree driver_files(const machine::Profile& profile, const HostFacts& host);

}  // namespace halyard::vgpu::kfd
