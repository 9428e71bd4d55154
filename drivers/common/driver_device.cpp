#include "drivers/common/driver_device.h"

namespace halyard {

DeviceSummary DeviceFacts::summary() const {
  DeviceSummary summary;
  summary.name = name;
  summary.uuid = uuid;
  summary.target = target;
  summary.compute_units = figures.compute_units;
  summary.memory_bytes = figures.memory_bytes;
  summary.pci_address = pci_address;
  return summary;
}

DeviceInfo DeviceFacts::info(const char* driver) const {
  DeviceInfo info = figures;
  info.driver = driver;
  info.name = name;
  info.uuid = uuid;
  info.target = target;
  info.pci_address = pci_address;
  return info;
}

}  // namespace halyard
