#include "config/scalars.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

#include "hal/text.h"

namespace halyard::config {

namespace {

struct Unit {
  const char* name;
  double factor;
};

constexpr Unit kByteUnits[] = {
    {"B", 1},    {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40},
    {"KB", 1e3}, {"MB", 1e6},     {"GB", 1e9},     {"TB", 1e12},
};
constexpr Unit kTimeUnits[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
constexpr Unit kFrequencyUnits[] = {{"Hz", 1}, {"kHz", 1e3}, {"MHz", 1e6}, {"GHz", 1e9}};

struct QuantityInfo {
  const char* noun;
  const char* example;
  const Unit* units;
  size_t unit_count;
};

const QuantityInfo& info_of(Quantity quantity) {
  static constexpr QuantityInfo kTable[] = {
      {"a size", "256MiB", kByteUnits, std::size(kByteUnits)},
      {"a duration", "50us", kTimeUnits, std::size(kTimeUnits)},
      {"a frequency", "100MHz", kFrequencyUnits, std::size(kFrequencyUnits)},
  };
  return kTable[static_cast<size_t>(quantity)];
}

bool parse_unsigned(std::string_view text, uint64_t& value) {
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    text.remove_prefix(2);
    base = 16;
  }
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return code == std::errc() && end == text.data() + text.size() && !text.empty();
}

bool parse_quantity(std::string_view text, const QuantityInfo& quantity, uint64_t& value) {
  double number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || !std::isfinite(number) || number < 0) return false;
  std::string_view unit = text.substr(static_cast<size_t>(end - text.data()));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  for (size_t i = 0; i < quantity.unit_count; ++i) {
    if (unit != quantity.units[i].name) continue;
    const double product = number * quantity.units[i].factor;
    if (product >= 0x1p63) return false;
    value = static_cast<uint64_t>(std::llround(product));
    return true;
  }
  return false;
}

std::string leading_zero(std::string_view text) {
  const bool has_one = text.size() > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9';
  if (!has_one) return {};
  return "begins with a zero, which some readers of YAML take for octal and others for decimal; "
         "write a decimal number without it, or a hexadecimal one with 0x.";
}

}  // namespace

std::string read_boolean(std::string_view text, bool& out) {
  if (text != "true" && text != "false") return "is not a truth value; it must be true or false.";
  out = text == "true";
  return {};
}

std::string read_integer(std::string_view text, uint64_t& out, uint64_t min, uint64_t max) {
  if (std::string problem = leading_zero(text); !problem.empty()) return problem;
  uint64_t value = 0;
  if (!parse_unsigned(text, value)) {
    return fmt::format("is not a whole number; it must be one from {} to {}.", min, max);
  }
  if (value < min || value > max) {
    return fmt::format("is out of range; it must be from {} to {}.", min, max);
  }
  out = value;
  return {};
}

std::string read_number(std::string_view text, double& out, double min, double max) {
  if (std::string problem = leading_zero(text); !problem.empty()) return problem;
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return fmt::format("is not a number; it must be one from {:g} to {:g}.", min, max);
  }
  if (value < min || value > max) {
    return fmt::format("is out of range; it must be from {:g} to {:g}.", min, max);
  }
  out = value;
  return {};
}

std::string read_quantity(std::string_view text, Quantity quantity, uint64_t& out, uint64_t min,
                          uint64_t max) {
  if (std::string problem = leading_zero(text); !problem.empty()) return problem;
  const QuantityInfo& info = info_of(quantity);
  uint64_t value = 0;
  if (!parse_quantity(text, info, value)) {
    return fmt::format("is not {}; write a number and a unit ({}), such as {}.", info.noun,
                       unit_names(quantity), info.example);
  }
  if (value < min || value > max) {
    return fmt::format("is out of range; it must be from {} to {}.", quantity_text(min, quantity),
                       quantity_text(max, quantity));
  }
  out = value;
  return {};
}

std::string quantity_text(uint64_t value, Quantity quantity) {
  const QuantityInfo& info = info_of(quantity);
  const Unit* best = &info.units[0];
  for (size_t i = 0; i < info.unit_count; ++i) {
    const auto factor = static_cast<uint64_t>(info.units[i].factor);
    if (value != 0 && value % factor == 0 && factor > static_cast<uint64_t>(best->factor)) {
      best = &info.units[i];
    }
  }
  return fmt::format("{}{}", value / static_cast<uint64_t>(best->factor), best->name);
}

std::string unit_names(Quantity quantity) {
  const QuantityInfo& info = info_of(quantity);
  std::string names;
  for (size_t i = 0; i < info.unit_count; ++i) {
    if (i != 0) names += ", ";
    names += info.units[i].name;
  }
  return names;
}

std::string guess_of(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string_view meant = did_you_mean(word, {candidates.begin(), candidates.end()});
  return meant.empty() ? "" : fmt::format(", did you mean {}?", meant);
}

std::string read_choice(std::string_view text, std::string& out,
                        const std::vector<std::string>& allowed) {
  if (std::find(allowed.begin(), allowed.end(), text) != allowed.end()) {
    out = text;
    return {};
  }
  return fmt::format("is unknown{}; it must be one of: {}.", guess_of(text, allowed),
                     fmt::join(allowed, ", "));
}

}  // namespace halyard::config
