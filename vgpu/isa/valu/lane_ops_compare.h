// Comparisons and classification, one lane each (Vega ISA chapter 12, VOPC).
#pragma once

#include "vgpu/isa/valu/lane_ops_float.h"
#include "vgpu/isa/valu/values.h"

namespace halyard::vgpu::isa::valu {

// Bit 0 <, bit 1 ==, bit 2 >, bit 3 unordered: the four bits of a float comparison's opcode, so
// that the opcode number is the set of relations for which the comparison holds.
enum Relation : unsigned { kLess = 1, kEqual = 2, kGreater = 4, kUnordered = 8 };

template <class T, unsigned kHolds>
bool compare_float(T x, T y, const FloatMode& m) {
  const auto a = comparable(flush_input(x, m));
  const auto b = comparable(flush_input(y, m));
  // Every set of relations is one host comparison or its negation.
  switch (kHolds) {
    case 0:
      return false;
    case kLess:
      return a < b;
    case kEqual:
      return a == b;
    case kLess | kEqual:
      return a <= b;
    case kGreater:
      return a > b;
    case kLess | kGreater:
      return either(a<b, a> b);
    case kGreater | kEqual:
      return a >= b;
    case kLess | kEqual | kGreater:
      return both(a == a, b == b);
    case kUnordered:
      return either(a != a, b != b);
    case kUnordered | kLess | kGreater:
      return a != b;
    case kUnordered | kLess:
      return !(a >= b);
    case kUnordered | kEqual:
      return !either(a<b, a> b);
    case kUnordered | kLess | kEqual:
      return !(a > b);
    case kUnordered | kGreater:
      return !(a <= b);
    case kUnordered | kGreater | kEqual:
      return !(a < b);
    default:
      return true;
  }
}

template <class T, unsigned kHolds>
constexpr bool compare_int(T a, T b) {
  return ((kHolds & kLess) != 0 && a < b) || ((kHolds & kEqual) != 0 && a == b) ||
         ((kHolds & kGreater) != 0 && a > b);
}

// The ten classes of v_cmp_class, bit by bit.
template <class T>
unsigned class_bit(T x) {
  const bool negative = is_negative(x);
  if (is_nan(x)) return is_signaling(x) ? 0 : 1;
  if (is_infinite(x)) return negative ? 2 : 9;
  if (is_zero(x)) return negative ? 5 : 6;
  if (is_denormal_or_zero(x)) return negative ? 4 : 7;
  return negative ? 3 : 8;
}
// Classifies the bits as they are: a denormal is one even where arithmetic would flush it.
template <class T>
bool compare_class(T x, uint32_t classes) {
  return (classes >> class_bit(x) & 1) != 0;
}

}  // namespace halyard::vgpu::isa::valu
