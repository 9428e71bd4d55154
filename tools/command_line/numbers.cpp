#include "tools/command_line/numbers.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "hal/error.h"
#include "hal/text.h"

namespace halyard::cli {
namespace {

struct Unit {
  std::string_view name;
  uint64_t bytes;
};
constexpr Unit kUnits[] = {
    {"", 1},          {"B", 1},     {"KiB", 1 << 10}, {"MiB", 1 << 20},
    {"GiB", 1 << 30}, {"KB", 1000}, {"MB", 1000000},  {"GB", 1000000000},
};

}  // namespace

Result<uint64_t> parse_number(const std::string& text, const NumberRange& range) {
  uint64_t number = 0;
  const char* const limit = text.data() + text.size();
  const auto [end, trouble] = std::from_chars(text.data(), limit, number);
  const std::string_view rest(end, static_cast<size_t>(limit - end));
  bool good = trouble == std::errc();
  if (range.is_size) {
    bool known = false;
    for (const Unit& unit : kUnits) {
      if (unit.name != rest) continue;
      known = !__builtin_mul_overflow(number, unit.bytes, &number);
    }
    good = good && known;
  } else {
    good = good && rest.empty();
  }
  if (good && number >= range.low && number <= range.high) return number;
  return error(StatusCode::kInvalidArgument, "the value ({}) is not {} from {} to {}{}",
               printable(text), range.is_size ? "a size" : "a whole number", range.low, range.high,
               range.is_size ? " bytes, as 4096, 16KiB or 1MB" : "");
}

std::string check_tolerance(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const bool is_number = !text.empty() && end == text.c_str() + text.size();
  return is_number && value >= 0 && std::isfinite(value)
             ? ""
             : "a tolerance (" + text + ") is a number from 0 on";
}

}  // namespace halyard::cli
