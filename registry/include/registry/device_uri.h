// Device URIs: the text that names a device and its settings.
//
//     amdgpu                          the driver's first device
//     amdgpu:1                        the one with ordinal 1
//     amdgpu://GPU-0123456789abcdef   the one with that UUID
//     amdgpu:1?key=value&other=value  with settings; %XX stands for the byte with that hex code
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hal/driver.h"
#include "hal/status.h"

namespace halyard {

struct DeviceUriOption {
  std::string key;
  std::string value;
  friend bool operator==(const DeviceUriOption&, const DeviceUriOption&) = default;
};

struct DeviceUri {
  std::string driver = {};
  std::optional<uint32_t> ordinal = {};  // at most one of ordinal and uuid
  std::string uuid = {};
  std::vector<DeviceUriOption> options = {};  // in order; no key twice
  friend bool operator==(const DeviceUri&, const DeviceUri&) = default;
};

// INVALID_ARGUMENT says at which character (from 1 on) the text stops making sense, and what could
// stand there.
Result<DeviceUri> parse_device_uri(std::string_view text);

// The text that parses to `uri`.
std::string to_string(const DeviceUri& uri);

// The index in `devices` of the one that `uri` means. NOT_FOUND lists what there is. With no
// devices at all too; the caller knows more about why.
Result<size_t> select_device(const DeviceUri& uri, const std::vector<DeviceSummary>& devices);

}  // namespace halyard
