// Options that take a whole number: checked as text, because CLI11 makes a large number of "-1".
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>

#include "hal/status.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace halyard::cli {

struct NumberRange {
  uint64_t low = 0;
  uint64_t high = UINT64_MAX;
  bool is_size = false;  // bytes, which may have a unit: 16KiB
};

// The number that `text` says. INVALID_ARGUMENT says which ones are legal.
Result<uint64_t> parse_number(const std::string& text, const NumberRange& range);

// What is wrong with `text` as a tolerance, which is a number from 0 on; nothing if it is one.
std::string check_tolerance(const std::string& text);

// As add_number, for any type (command.cpp).
CLI::Option* add_number_option(CLI::App& command, const char* name, const std::string& what,
                               const NumberRange& range, void (*store)(void*, uint64_t),
                               void* value);

// An option of `command` whose value goes to `value`, which outlives the parse. `range.high` is cut
// to what the variable holds.
template <std::unsigned_integral T>
CLI::Option* add_number(CLI::App& command, const char* name, T& value, const std::string& what,
                        NumberRange range) {
  if (range.high > std::numeric_limits<T>::max()) range.high = std::numeric_limits<T>::max();
  const auto store = [](void* to, uint64_t number) {
    *static_cast<T*>(to) = static_cast<T>(number);
  };
  return add_number_option(command, name, what, range, store, &value);
}

}  // namespace halyard::cli
