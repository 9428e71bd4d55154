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

// An integer with the order of x among those that are no NaN; both zeros are 0.
constexpr int32_t order_of(F16 x) {
  const int32_t sign = -static_cast<int32_t>(x.bits >> 15);
  return ((x.bits & 0x7fff) ^ sign) - sign;
}
// To compare integers takes less than to widen both, which most builds do step by step.
template <unsigned kHolds>
bool compare_f16(F16 x, F16 y, const FloatMode& m) {
  const F16 a = flush_input(x, m);
  const F16 b = flush_input(y, m);
  const int32_t i = order_of(a), j = order_of(b);
  const bool less = both((kHolds & kLess) != 0, i < j);
  const bool equal = both((kHolds & kEqual) != 0, i == j);
  const bool greater = both((kHolds & kGreater) != 0, i > j);
  const bool unordered = either(is_nan(a), is_nan(b));
  const bool ordered_holds = either(either(less, equal), greater);
  return (kHolds & kUnordered) != 0 ? either(ordered_holds, unordered)
                                    : both(ordered_holds, !unordered);
}

template <class T, unsigned kHolds>
constexpr bool compare_int(T a, T b) {
  return ((kHolds & kLess) != 0 && a < b) || ((kHolds & kEqual) != 0 && a == b) ||
         ((kHolds & kGreater) != 0 && a > b);
}

// The bit of x among the ten classes of v_cmp_class. Bits of both signs are made, by masks: of
// choices the compiler makes branches.
template <class T>
auto class_of(T x) {
  // As wide as the value, as lanes in a vector should stay.
  using Bit = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  constexpr Bit kLeastNormal = Bit{1} << Real<T>::kMantissaBits;
  constexpr Bit kNan = 3, kInfinity = 0x204, kNormal = 0x108, kDenormal = 0x90, kZero = 0x60;
  constexpr Bit kNegative = 0x3c, kPositive = 0x3c0, kSignaling = 1, kQuiet = 2;
  const auto if_true = [](bool condition, Bit bits) { return (Bit{0} - Bit{condition}) & bits; };
  const Bit magnitude = magnitude_bits(x);
  const bool nan = magnitude > Real<T>::kExponent;
  const Bit kind = kZero ^ if_true(magnitude != 0, kZero ^ kDenormal) ^
                   if_true(magnitude >= kLeastNormal, kDenormal ^ kNormal) ^
                   if_true(magnitude >= Real<T>::kExponent, kNormal ^ kInfinity) ^
                   if_true(nan, kInfinity ^ kNan);
  const Bit sign = kPositive ^ if_true(is_negative(x), kPositive ^ kNegative);
  const Bit quiet = kSignaling ^ if_true((to_bits(x) & Real<T>::kQuiet) != 0, kSignaling ^ kQuiet);
  return kind & (sign ^ if_true(nan, sign ^ quiet));
}
// Classifies the bits as they are: a denormal is one even where arithmetic would flush it.
template <class T>
bool compare_class(T x, uint32_t classes) {
  return (class_of(x) & classes) != 0;
}

}  // namespace halyard::vgpu::isa::valu
