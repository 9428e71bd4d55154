// Results that only approximate what the host computes: how far they may be from it.
#pragma once

#include <cmath>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "config/settings/settings.h"
#include "cts/harness/check.h"
#include "cts/harness/half.h"

namespace halyard::cts {

// |actual - expected| is at most absolute + relative * |expected|.
struct Tolerance {
  double absolute = 0;
  double relative = 0;
  friend bool operator==(const Tolerance&, const Tolerance&) = default;
};

// The tolerance in the suite's configs (--config) for results of the type ("f32") on the processor
// ("gfx90a"). Nothing if they have none, even if a built-in one exists: then a test uses its own
// bound, from the guarantees of the kernel's instructions.
std::optional<Tolerance> configured_tolerance(const config::Settings& settings,
                                              std::string_view processor, std::string_view type);

template <typename T>
testing::AssertionResult within_tolerance(const std::vector<T>& actual,
                                          const std::vector<T>& expected,
                                          const Tolerance& tolerance) {
  return all_match(actual, expected, [&](const T& a, const T& b) {
    const double x = static_cast<double>(a);
    const double y = static_cast<double>(b);
    if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
    if (std::isinf(x) || std::isinf(y)) return x == y;
    return std::fabs(x - y) <= tolerance.absolute + tolerance.relative * std::fabs(y);
  });
}

// The name of a type in configs.
template <typename T>
constexpr const char* type_name() {
  if constexpr (std::is_same_v<T, Half>) return "f16";
  if constexpr (std::is_same_v<T, float>) return "f32";
  static_assert(std::is_same_v<T, Half> || std::is_same_v<T, float> || std::is_same_v<T, double>);
  return "f64";
}

}  // namespace halyard::cts
