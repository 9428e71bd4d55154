// Device URIs, as --device accepts them. The target writes a parsed URI and must parse it to the
// same; it must select existing devices.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "registry/device_uri.h"

namespace {

using namespace halyard;

constexpr size_t kDevices = 3;

// Of devices that share a processor, and of which one has neither a UUID nor a PCI address. None
// where it is refused, which needs a reason.
std::vector<size_t> selected(const DeviceUri& uri) {
  std::vector<DeviceSummary> devices(kDevices);
  const char* const uuids[kDevices] = {"GPU-0", "GPU-1", ""};
  const char* const addresses[kDevices] = {"0000:c1:00.0", "0000:c4:00.0", ""};
  for (uint32_t i = 0; i < kDevices; ++i) {
    devices[i].ordinal = i;
    devices[i].name = "GPU";
    devices[i].uuid = uuids[i];
    devices[i].pci_address = addresses[i];
    devices[i].target = i < 2 ? "gfx90a:sramecc+:xnack-" : "gfx900";
  }
  Result<std::vector<size_t>> chosen = select_devices(uri, devices);
  if (chosen.ok()) {
    if (chosen->empty()) abort();
    return *chosen;
  }
  if (chosen.status().message().empty()) abort();
  return {};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const Result<DeviceUri> uri = parse_device_uri(text);
  if (!uri.ok()) {
    if (uri.status().message().empty()) abort();
    return 0;
  }
  const std::string written = to_string(*uri);
  const Result<DeviceUri> again = parse_device_uri(written);
  if (!again.ok() || !(*again == *uri) || to_string(*again) != written) abort();

  // Every selected device exists, and none is selected twice.
  const std::vector<size_t> chosen = selected(*uri);
  for (size_t i = 0; i < chosen.size(); ++i) {
    if (chosen[i] >= kDevices) abort();
    if (std::find(chosen.begin(), chosen.begin() + static_cast<ptrdiff_t>(i), chosen[i]) !=
        chosen.begin() + static_cast<ptrdiff_t>(i)) {
      abort();
    }
  }
  return 0;
}
