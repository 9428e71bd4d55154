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
    case ElementType::kF8E4M3Fn:
    case ElementType::kF8E4M3Fnuz:
      return {1e-2, 0.125};
    case ElementType::kF8E5M2:
    case ElementType::kF8E5M2Fnuz:
      return {1e-2, 0.25};
    case ElementType::kCf64:
      return default_tolerance(ElementType::kF32);
    case ElementType::kCf128:
      return default_tolerance(ElementType::kF64);
    default:
      return {0, 0};
  }
}

namespace {

// The difference of two numbers, and whether they agree.
struct Difference {
  bool agrees = true;
  long double size = 0;  // NaN if a NaN or an infinity disagrees
};

Difference difference_of(long double a, long double e, const Tolerance& tolerance) {
  if (a == e || (std::isnan(a) && std::isnan(e))) return {};
  if (!std::isfinite(a) || !std::isfinite(e))
    return {false, std::numeric_limits<long double>::quiet_NaN()};
  const long double size = std::fabs(a - e);
  return {size <= tolerance.absolute + tolerance.relative * std::fabs(e), size};
}

// Of complex numbers the parts are compared one by one: the worse one counts.
Difference difference_at(const Tensor& actual, const Tensor& expected, uint64_t index,
                         const Tolerance& tolerance) {
  const ElementType type = actual.type.element;
  const std::optional<ElementType> part = complex_part(type);
  Difference worst;
  for (size_t i = 0; i < (part ? 2U : 1U); ++i) {
    const size_t at = part ? i * byte_size(*part) : 0;
    const Difference one = difference_of(
        element_as_number(part.value_or(type), actual.element(index) + at),
        element_as_number(part.value_or(type), expected.element(index) + at), tolerance);
    if (!one.agrees && (worst.agrees || !(one.size <= worst.size))) worst = one;
  }
  return worst;
}

}  // namespace

Comparison compare(const Tensor& actual, const Tensor& expected, const Tolerance& tolerance) {
  Comparison result;
  const uint64_t count = actual.type.element_count();
  for (uint64_t i = 0; i < count; ++i) {
    const Difference difference = difference_at(actual, expected, i, tolerance);
    if (difference.agrees) continue;
    if (result.mismatches++ == 0) result.first = i;
    // The first incomparable pair is worse than any difference.
    if (std::isnan(result.worst_difference)) continue;
    if (!(difference.size <= result.worst_difference)) {
      result.worst = i;
      result.worst_difference = difference.size;
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
