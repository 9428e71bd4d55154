// The host's NUMA node next to a GPU, as Linux tells it.
#pragma once

#include <cstdint>
#include <string>

namespace halyard {

// /sys/bus/pci/devices/<address>/numa_node of "0000:c1:00.0"; -1 if there is none, or one node
// only.
int32_t numa_node_of(const std::string& pci_address);

}  // namespace halyard
