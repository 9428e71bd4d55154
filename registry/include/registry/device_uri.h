// Device URIs: the text that names devices and their settings.
//
//     driver[:ordinal][://selector[,selector…]][?key=value&…]
//
//     amdgpu                          one logical device of all of the driver's GPUs
//     amdgpu:1                        the GPU with ordinal 1
//     amdgpu://0,1                    one logical device of two GPUs, by ordinal
//     amdgpu://GPU-0123456789abcdef   the GPU with that UUID
//     amdgpu://0000:c1:00.0           the GPU at that PCI address
//     amdgpu://gfx90a                 every GPU of that processor
//     amdgpu:1?key=value&other=value  with settings; %XX is the byte with that hex code
//
// A URI has an ordinal or selectors, not both.
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

struct DeviceSelector {
  // The form of the text gives the kind: digits, dddd:bb:dd.f, gfx…, and otherwise a UUID.
  enum class Kind { kOrdinal, kPciAddress, kProcessor, kUuid };

  Kind kind = Kind::kOrdinal;
  std::string text;
  friend bool operator==(const DeviceSelector&, const DeviceSelector&) = default;
};

struct DeviceUri {
  std::string driver = {};
  std::optional<uint32_t> ordinal = {};        // at most one of ordinal and selectors
  std::vector<DeviceSelector> selectors = {};  // in order; none twice
  std::vector<DeviceUriOption> options = {};   // in order; no key twice

  // Whether the URI selects some of the driver's GPUs; otherwise it names all.
  bool chooses() const { return ordinal.has_value() || !selectors.empty(); }
  friend bool operator==(const DeviceUri&, const DeviceUri&) = default;
};

// INVALID_ARGUMENT gives the position (from 1 on) of the first wrong character, and what is legal
// there.
Result<DeviceUri> parse_device_uri(std::string_view text);

// "amdgpu:0 (Radeon RX Vega 64, gfx900, GPU-…, 0000:03:00.0), amdgpu:1 (…) and …", for messages.
std::string list_devices(const std::string& driver, const std::vector<DeviceSummary>& devices);

// The text that parses to `uri`.
std::string to_string(const DeviceUri& uri);

// The indices in `devices` of the devices that `uri` names, in its order; those of one processor in
// the order of the list. NOT_FOUND names the selector without a device, and lists the devices; also
// if there are no devices, for which the caller may know the reason. INVALID_ARGUMENT if two
// selectors name the same GPU.
Result<std::vector<size_t>> select_devices(const DeviceUri& uri,
                                           const std::vector<DeviceSummary>& devices);

}  // namespace halyard
