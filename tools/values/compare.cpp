#include "tools/values/compare.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace halyard::values {

Tolerance default_tolerance(ElementType type) noexcept {
  switch (type) {
    case ElementType::kF64:
      return {1e-12, 1e-9};
    case ElementType::kF32:
      return {1e-6, 1e-5};
    case ElementType::kF16:
      return {1e-3, 1e-3};
    case ElementType::kBf16:
      return {1e-2, 1e-2};
    default:
      return {0, 0};
  }
}

Comparison compare(const Tensor& actual, const Tensor& expected, const Tolerance& tolerance) {
  Comparison result;
  const ElementType type = actual.type.element;
  const uint64_t count = actual.type.element_count();
  for (uint64_t i = 0; i < count; ++i) {
    const long double a = element_as_number(type, actual.element(i));
    const long double e = element_as_number(type, expected.element(i));
    if (a == e || (std::isnan(a) && std::isnan(e))) continue;
    const bool comparable = std::isfinite(a) && std::isfinite(e);
    const long double difference =
        comparable ? std::fabs(a - e) : std::numeric_limits<long double>::quiet_NaN();
    if (comparable && difference <= tolerance.absolute + tolerance.relative * std::fabs(e))
      continue;
    if (result.mismatches++ == 0) result.first = i;
    // The first incomparable pair is worse than any difference.
    if (std::isnan(result.worst_difference)) continue;
    if (!comparable || difference > result.worst_difference) {
      result.worst = i;
      result.worst_difference = difference;
    }
  }
  return result;
}

std::optional<std::string> describe_difference(const Tensor& actual, const Tensor& expected,
                                               const Tolerance& tolerance) {
  if (!(actual.type == expected.type)) {
    return fmt::format("is {}, expected {}", actual.type.to_string(), expected.type.to_string());
  }
  const Comparison result = compare(actual, expected, tolerance);
  if (result.mismatches == 0) return std::nullopt;
  const auto pair_at = [&](uint64_t index) {
    return fmt::format("{} is {}, expected {}", format_index(actual.type, index),
                       format_element(actual.type.element, actual.element(index)),
                       format_element(expected.type.element, expected.element(index)));
  };
  std::string text = fmt::format("differs in {} of {} elements; the first: {}", result.mismatches,
                                 actual.type.element_count(), pair_at(result.first));
  if (result.worst != result.first) text += fmt::format("; the worst: {}", pair_at(result.worst));
  return text + fmt::format(" (atol {}, rtol {})", tolerance.absolute, tolerance.relative);
}

}  // namespace halyard::values
