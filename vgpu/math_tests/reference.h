// Correctly rounded math functions, for comparison: MPFR's, and OpenCL's own by their definitions.
#pragma once

#include <string>

#include "vgpu/isa/tests/model/real.h"

namespace halyard::vgpu::math_testing {

using isa::model::Exact;
using isa::model::Float;

enum class Shape : uint8_t { kUnary, kBinary, kInteger };

struct Function {
  const char* name;
  Shape shape;
  unsigned bound;       // ulps that OpenCL allows in f32 and f64; 0: correctly rounded
  unsigned half_bound;  // in f16
  unsigned bound_for(Float f) const;
};
extern const Function kFunctions[];
extern const unsigned kFunctionCount;

// name(x), name(x, y) or name(x, n), to far more bits than any format has.
Exact reference(const std::string& name, const Exact& x, const Exact& y, long n);

// Where ROCm-Device-Libs 5.2.3 itself does not keep the bound (seen in its bitcode), so that
// nothing can be said of the GPU.
bool library_is_wrong(const std::string& name, Float f, const Exact& x);

// How far `got` is from the exact result, in units of the last place there; infinite if it is not a
// number, or not an infinity, where it should be (or the other way round).
double error_in_ulps(Float f, uint64_t got, const Exact& exact);

}  // namespace halyard::vgpu::math_testing
