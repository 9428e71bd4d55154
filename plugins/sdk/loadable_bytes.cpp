#include "plugins/sdk/loadable_bytes.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <string>

namespace halyard {

uint64_t available_bytes(std::string_view meminfo) {
  constexpr std::string_view kKey = "MemAvailable:";
  const size_t key = meminfo.find(kKey);
  if (key == std::string_view::npos) return UINT64_MAX;
  const size_t number = meminfo.find_first_not_of(' ', key + kKey.size());
  if (number == std::string_view::npos) return UINT64_MAX;
  uint64_t kibibytes = 0;
  const char* const end = meminfo.data() + meminfo.size();
  const auto read = std::from_chars(meminfo.data() + number, end, kibibytes);
  return read.ec == std::errc() ? kibibytes * 1024 : UINT64_MAX;
}

uint64_t loadable_bytes(uint64_t device_bytes) {
  std::ifstream file("/proc/meminfo");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return std::min(device_bytes == 0 ? UINT64_MAX : device_bytes, available_bytes(text) / 2);
}

}  // namespace halyard
