// The memory that this process has mapped.
#pragma once

#include <cstdint>

namespace halyard::vgpu::kfd {

struct HostMapping {
  uint64_t begin = 0;
  uint64_t end = 0;  // 0: none
};

// The mapping that holds `address`, if the process may read there. Reads /proc/self/maps.
HostMapping find_readable_mapping(uint64_t address);

}  // namespace halyard::vgpu::kfd
