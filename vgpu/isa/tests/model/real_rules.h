// What the float instructions have in common: denormals and NaNs (Vega ISA 3.4 and 6.2; what the
// document leaves open is as vgpu/isa/valu/values.h says it was decided).
#pragma once

#include <initializer_list>
#include <utility>

#include "vgpu/isa/tests/model/row.h"

namespace halyard::vgpu::isa::model {

inline uint64_t operand(const Lane& l, unsigned i, Float f) {
  if (f == Float::kF64) return l.u64(i);
  return f == Float::kF16 ? l.u(i) & 0xffff : l.u(i);
}

// The first NaN among the operands, quiet; 0 if there is none.
inline uint64_t first_nan(Float f, std::initializer_list<uint64_t> operands) {
  for (const uint64_t x : operands) {
    if (nan(f, x)) return x | quiet_bit(f);
  }
  return 0;
}

inline uint64_t rounded(Float f, const Exact& x, const FloatRules& rules) {
  return flushed(f, round_to(f, x, rules.rounding, rules.saturate), rules.keep_outputs);
}

// An operation on decoded operands, with all the rules around it.
template <class Operation>
uint64_t arithmetic(Float f, const FloatRules& rules, uint64_t a, Operation operation) {
  a = flushed(f, a, rules.keep_inputs);
  if (const uint64_t n = first_nan(f, {a})) return n;
  return rounded(f, operation(Exact(f, a)), rules);
}
template <class Operation>
uint64_t arithmetic(Float f, const FloatRules& rules, uint64_t a, uint64_t b, Operation operation) {
  a = flushed(f, a, rules.keep_inputs);
  b = flushed(f, b, rules.keep_inputs);
  if (const uint64_t n = first_nan(f, {a, b})) return n;
  return rounded(f, operation(Exact(f, a), Exact(f, b)), rules);
}

uint64_t sum(Float f, const FloatRules& rules, uint64_t a, uint64_t b);
uint64_t difference(Float f, const FloatRules& rules, uint64_t a, uint64_t b);
uint64_t product(Float f, const FloatRules& rules, uint64_t a, uint64_t b);
uint64_t fused(Float f, const FloatRules& rules, uint64_t a, uint64_t b, uint64_t c);
uint64_t unfused(Float f, const FloatRules& rules, uint64_t a, uint64_t b, uint64_t c);
uint64_t smaller(Float f, const FloatRules& rules, bool ieee, uint64_t a, uint64_t b);
uint64_t larger(Float f, const FloatRules& rules, bool ieee, uint64_t a, uint64_t b);

// v_mad_f32 and the transcendental unit flush f32 denormals whatever the mode.
inline FloatRules flushing(FloatRules rules) {
  rules.keep_inputs = rules.keep_outputs = false;
  return rules;
}

}  // namespace halyard::vgpu::isa::model
