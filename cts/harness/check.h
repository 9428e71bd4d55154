// Checks of the suite: statuses, and arrays against what a host computed.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "cts/harness/half.h"
#include "hal/status.h"

namespace halyard::cts {

inline testing::AssertionResult is_ok(const Status& status) {
  if (status.ok()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << status.to_string();
}

// A failure with this code whose message has `text` in it.
inline testing::AssertionResult fails_with(const Status& status, StatusCode code,
                                           std::string_view text = {}) {
  if (status.code() == code && status.message().view().find(text) != std::string_view::npos) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << (status.ok() ? "OK" : status.to_string())
                                     << "\n  expected: " << to_string(code) << ": …" << text << "…";
}

// A failure that names `kernel`; a timeout of the wait does not count.
inline testing::AssertionResult blames(const Status& status, std::string_view kernel) {
  if (status.ok()) return testing::AssertionFailure() << "The wait succeeds.";
  if (status.code() == StatusCode::kDeadlineExceeded) {
    return testing::AssertionFailure() << "The failure never arrives.";
  }
  if (status.message().view().find(kernel) == std::string_view::npos) {
    return testing::AssertionFailure() << "No mention of " << kernel << ": " << status.to_string();
  }
  return testing::AssertionSuccess() << status.to_string();
}

#define EXPECT_OK(expression) EXPECT_TRUE(::halyard::cts::is_ok(expression))
#define ASSERT_OK(expression) ASSERT_TRUE(::halyard::cts::is_ok(expression))
#define EXPECT_FAILS(expression, ...) \
  EXPECT_TRUE(::halyard::cts::fails_with(::halyard::cts::status_of(expression), __VA_ARGS__))

inline Status status_of(Status status) {
  return status;
}
template <typename T>
Status status_of(const Result<T>& result) {
  return result.status();
}

// For what a test needs but is not about: a failure ends the test with the message.
inline void require(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.to_string());
}
template <typename T>
T take(Result<T> result) {
  require(result.status());
  return std::move(result).value();
}

// Representable numbers between the two; 0 for +0 and -0, and for two NaNs.
template <typename Float>
uint64_t ulps_between(Float a, Float b) {
  using Bits = std::conditional_t<sizeof(Float) == 8, uint64_t,
                                  std::conditional_t<sizeof(Float) == 4, uint32_t, uint16_t>>;
  const auto is_nan = [](Float value) { return std::isnan(static_cast<double>(value)); };
  if (is_nan(a) || is_nan(b)) return is_nan(a) && is_nan(b) ? 0 : UINT64_MAX;
  const auto ordered = [](Float value) {
    const Bits bits = std::bit_cast<Bits>(value);
    const Bits magnitude = bits & static_cast<Bits>(static_cast<Bits>(~Bits{0}) >> 1);
    return magnitude == bits ? static_cast<__int128>(magnitude) : -static_cast<__int128>(magnitude);
  };
  const __int128 distance = ordered(a) - ordered(b);
  return static_cast<uint64_t>(distance < 0 ? -distance : distance);
}

template <typename T, typename Same>
testing::AssertionResult all_match(const std::vector<T>& actual, const std::vector<T>& expected,
                                   const Same& same) {
  if (actual.size() != expected.size()) {
    return testing::AssertionFailure()
           << actual.size() << " elements instead of " << expected.size();
  }
  size_t wrong = 0;
  auto failure = testing::AssertionFailure();
  for (size_t i = 0; i < actual.size(); ++i) {
    if (same(actual[i], expected[i])) continue;
    if (++wrong > 5) continue;
    failure << "  [" << i << "] is " << testing::PrintToString(actual[i]) << ", expected "
            << testing::PrintToString(expected[i]) << "\n";
  }
  if (wrong == 0) return testing::AssertionSuccess();
  return failure << wrong << " of " << actual.size() << " elements are wrong";
}

// Bit for bit, except that any NaN equals any other.
template <typename T>
testing::AssertionResult same(const std::vector<T>& actual, const std::vector<T>& expected) {
  return all_match(actual, expected, [](const T& a, const T& b) {
    if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, Half>) {
      const double x = static_cast<double>(a);
      const double y = static_cast<double>(b);
      if (std::isnan(x) && std::isnan(y)) return true;
      return x == y && std::signbit(x) == std::signbit(y);
    } else {
      return a == b;
    }
  });
}

template <typename T>
testing::AssertionResult within_ulps(const std::vector<T>& actual, const std::vector<T>& expected,
                                     uint64_t ulps) {
  return all_match(actual, expected,
                   [ulps](const T& a, const T& b) { return ulps_between(a, b) <= ulps; });
}

}  // namespace halyard::cts
