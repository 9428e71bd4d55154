#include "plugins/sdk/numa_node.h"

#include <fstream>

namespace halyard {

int32_t numa_node_of(const std::string& pci_address) {
  int32_t node = -1;
  if (pci_address.empty()) return node;
  std::ifstream file("/sys/bus/pci/devices/" + pci_address + "/numa_node");
  return file >> node ? node : -1;
}

}  // namespace halyard
