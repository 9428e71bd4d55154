// The model of the matrix instructions of gfx942 and gfx950: one element of D at a time, from the
// words of the documents, in exact arithmetic.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/isa/tests/model/real.h"

namespace halyard::vgpu::isa::model {

// What A and B consist of. fp8 and bf8 are "fnuz" on gfx942.
enum class Element : uint8_t {
  kF16,
  kBf16,
  kXf32,
  kFp8Fnuz,
  kBf8Fnuz,
  kFp8,
  kBf8,
  kFp6,
  kBf6,
  kFp4,
  kI8
};

unsigned element_bits(Element element);

// An element of A or B, or a scaled one. `exponent` is what hardware aligns by: the number's own,
// and of denormals their format's least.
struct Factor {
  Exact value;
  int exponent = 0;
};
Factor factor(Element element, uint32_t bits);
// By 2^(scale - 127); 255 is NaN.
Factor scaled(const Factor& f, uint32_t scale);

enum class Summing : uint8_t {
  kTruncated,  // MI300: groups of products, truncated (MMA-Sim's TR_FDPA)
  kGrouped,    // MI300, 8-bit floats: even and odd products apart (GTR_FDPA)
  kExact,      // all of it, rounded once
};

// c, and so many products at a time, added in turn; f32 bits.
uint32_t sum_of_products(Summing how, unsigned at_a_time, uint32_t c, const std::vector<Factor>& a,
                         const std::vector<Factor>& b);

}  // namespace halyard::vgpu::isa::model
