// Comparison of a result with what was expected.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tools/values/tensor.h"

namespace halyard::values {

// Two numbers agree if |actual − expected| ≤ absolute + relative · |expected|. NaN agrees with NaN,
// and an infinity with itself.
struct Tolerance {
  double absolute = 0;
  double relative = 0;
};

// Exact for integers. For floats a few units in the last place, so that a kernel may round in
// another order: f64 1e-12 + 1e-9·|e|, f32 1e-6 + 1e-5·|e|, f16 1e-3 + 1e-3·|e|, bf16 1e-2 +
// 1e-2·|e|, f8E4M3 1e-2 + 0.125·|e|, f8E5M2 1e-2 + 0.25·|e|; complex
// as their parts, each on its own.
Tolerance default_tolerance(ElementType type) noexcept;

struct Comparison {
  uint64_t mismatches = 0;
  uint64_t first = 0;                // index of the first mismatch
  uint64_t worst = 0;                // index of the largest difference
  long double worst_difference = 0;  // NaN if a NaN or an infinity disagrees
};

// The types are equal.
Comparison compare(const Tensor& actual, const Tensor& expected, const Tolerance& tolerance);

// What differs, as the rest of a sentence: "differs in 2 of 4 elements; …". Nothing if the tensors
// agree. A differing type or shape is a difference.
std::optional<std::string> describe_difference(const Tensor& actual, const Tensor& expected,
                                               const Tolerance& tolerance);

}  // namespace halyard::values
