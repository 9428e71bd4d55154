// Which devices of a driver a URI means.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "hal/error.h"
#include "hal/text.h"
#include "registry/device_uri.h"

namespace halyard {
namespace {

using Kind = DeviceSelector::Kind;

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c + 0; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

// "gfx90a" of "gfx90a:sramecc+:xnack-".
std::string_view processor_of(const DeviceSummary& device) {
  const std::string_view target = device.target;
  return target.substr(0, target.find(':'));
}

// "amdgpu:0 (Radeon RX Vega 64, gfx900, GPU-…, 0000:03:00.0)"
std::string describe(const std::string& driver, const DeviceSummary& device) {
  std::string text = fmt::format("{}:{} ({}", driver, device.ordinal, device.name);
  for (const StringView& part : {device.target, device.uuid, device.pci_address}) {
    if (!part.empty()) text += fmt::format(", {}", part);
  }
  return text + ")";
}

uint32_t ordinal_of(const DeviceSelector& selector) {
  uint32_t ordinal = 0;  // the parser has refused what does not fit
  std::from_chars(selector.text.data(), selector.text.data() + selector.text.size(), ordinal);
  return ordinal;
}

int value_of(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  const char lower = static_cast<char>(digit | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// HIP's UUIDs are 16 letters, the runtime's "GPU-48414c5900000210" without its prefix. Who takes
// them for 16 bytes, as IREE does, prints "GPU-34383431-3463-3539-3030-303030323130". Empty for a
// text of another form.
std::string uuid_of_letters(std::string_view text) {
  constexpr std::string_view kForm = "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  if (text.size() != kForm.size() || !equal_ignoring_case(text.substr(0, 4), "GPU-")) return {};
  std::string letters;
  int high = -1;
  for (size_t i = 4; i < text.size(); ++i) {
    if (kForm[i] == '-') {
      if (text[i] != '-') return {};
      continue;
    }
    const int value = value_of(text[i]);
    if (value < 0) return {};
    if (high >= 0) letters += static_cast<char>(high << 4 | value);
    high = high < 0 ? value : -1;
  }
  const bool is_text = std::all_of(letters.begin(), letters.end(),
                                   [](char letter) { return value_of(letter) >= 0; });
  return is_text ? "GPU-" + letters : std::string();
}

bool means(const DeviceSelector& selector, const DeviceSummary& device) {
  switch (selector.kind) {
    case Kind::kOrdinal:
      return device.ordinal == ordinal_of(selector);
    case Kind::kPciAddress:
      return equal_ignoring_case(device.pci_address, selector.text);
    case Kind::kProcessor:
      return equal_ignoring_case(processor_of(device), selector.text);
    case Kind::kUuid:
      return equal_ignoring_case(device.uuid, selector.text) ||
             (!device.uuid.empty() &&
              equal_ignoring_case(device.uuid, uuid_of_letters(selector.text)));
  }
  return false;
}

const char* noun(Kind kind) {
  switch (kind) {
    case Kind::kOrdinal:
      return "ordinal";
    case Kind::kPciAddress:
      return "PCI address";
    case Kind::kProcessor:
      return "processor";
    case Kind::kUuid:
      break;
  }
  return "UUID";
}

// Where the selector stands in to_string(uri), from 1 on; an ordinal stands for selector 0.
size_t position_of(const DeviceUri& uri, size_t index) {
  if (uri.ordinal) return uri.driver.size() + 2;
  size_t position = uri.driver.size() + 4;
  for (size_t i = 0; i < index; ++i) position += uri.selectors[i].text.size() + 1;
  return position;
}

}  // namespace

std::string list_devices(const std::string& driver, const std::vector<DeviceSummary>& devices) {
  std::vector<std::string> texts;
  texts.reserve(devices.size());
  for (const DeviceSummary& device : devices) texts.push_back(describe(driver, device));
  return list_of(std::vector<std::string_view>(texts.begin(), texts.end()));
}

Result<std::vector<size_t>> select_devices(const DeviceUri& uri,
                                           const std::vector<DeviceSummary>& devices) {
  if (devices.empty()) {
    return error(StatusCode::kNotFound, "The driver {} finds no device.", uri.driver);
  }
  std::vector<size_t> chosen;
  if (!uri.chooses()) {
    for (size_t i = 0; i < devices.size(); ++i) chosen.push_back(i);
    return chosen;
  }
  std::vector<DeviceSelector> selectors = uri.selectors;
  if (uri.ordinal) selectors = {{Kind::kOrdinal, std::to_string(*uri.ordinal)}};
  std::vector<size_t> by;  // which selector has chosen each
  for (size_t s = 0; s < selectors.size(); ++s) {
    const DeviceSelector& selector = selectors[s];
    bool found = false;
    for (size_t i = 0; i < devices.size(); ++i) {
      if (!means(selector, devices[i])) continue;
      found = true;
      const auto before = std::find(chosen.begin(), chosen.end(), i);
      if (before != chosen.end()) {
        const DeviceSelector& first = selectors[by[static_cast<size_t>(before - chosen.begin())]];
        return error(StatusCode::kInvalidArgument,
                     "The device URI ({}) names {} twice, at character {}: by the {} ({}) and by "
                     "the {} ({}). Leave one of them out.",
                     printable(to_string(uri)), describe(uri.driver, devices[i]),
                     position_of(uri, s), noun(first.kind), first.text, noun(selector.kind),
                     selector.text);
      }
      chosen.push_back(i);
      by.push_back(s);
    }
    if (!found) {
      return error(StatusCode::kNotFound,
                   "The device URI ({}) names a device that does not exist at character {}: the "
                   "driver {} has no device with the {} ({}). It has {}.",
                   printable(to_string(uri)), position_of(uri, s), uri.driver, noun(selector.kind),
                   printable(selector.text), list_devices(uri.driver, devices));
    }
  }
  return chosen;
}

}  // namespace halyard
