// Device URIs, as --device takes them. What was read is written and read again as the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "registry/device_uri.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace halyard;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const Result<DeviceUri> uri = parse_device_uri(text);
  if (!uri.ok()) {
    if (uri.status().message().empty()) abort();
    return 0;
  }
  const std::string written = to_string(*uri);
  const Result<DeviceUri> again = parse_device_uri(written);
  if (!again.ok() || to_string(*again) != written) abort();
  return 0;
}
