// Arguments of kernels, as --input takes them. Files are not opened: an '@' is read as its text.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "tools/values/npy.h"
#include "tools/values/value.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace halyard;
  std::string text(reinterpret_cast<const char*>(data), size);
  values::read_npy(
      {reinterpret_cast<const std::byte*>(data), reinterpret_cast<const std::byte*>(data) + size})
      .status()
      .ignore();
  std::erase(text, '@');
  const Result<values::Value> value = values::parse_value(text);
  if (!value.ok() && value.status().message().empty()) abort();
  return 0;
}
