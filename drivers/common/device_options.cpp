#include "drivers/common/device_options.h"

#include <charconv>
#include <string_view>
#include <system_error>

#include "hal/error.h"
#include "hal/text.h"

namespace halyard {
namespace {

constexpr std::string_view kStackBytes = "stack_bytes";

Result<uint32_t> read_stack_bytes(std::string_view text) {
  uint64_t bytes = 0;
  const char* const limit = text.data() + text.size();
  const auto [end, trouble] = std::from_chars(text.data(), limit, bytes);
  if (trouble != std::errc() || end != limit || bytes == 0 || bytes > kMaxStackBytes) {
    return error(StatusCode::kInvalidArgument,
                 "The device option {} is given ({}). It is the stack of a work-item in bytes, for "
                 "kernels that recurse or call through pointers: a whole number from 1 to {}.",
                 kStackBytes, printable(text), kMaxStackBytes);
  }
  return static_cast<uint32_t>((bytes + 15) / 16 * 16);
}

}  // namespace

Result<DeviceOptions> read_device_options(const char* driver, Span<const Option> options) {
  DeviceOptions read;
  for (const Option& option : options) {
    if (option.key.view() != kStackBytes) {
      return error(StatusCode::kInvalidArgument,
                   "The driver {} does not know the device option ({}). It knows: {}.{}", driver,
                   printable(option.key.view()), kStackBytes,
                   did_you_mean_clause(option.key.view(), {kStackBytes}));
    }
    HALYARD_ASSIGN_OR_RETURN(read.stack_bytes, read_stack_bytes(option.value.view()));
  }
  return read;
}

}  // namespace halyard
