#include "vgpu/isa/tests/model/matrix_model.h"

#include <algorithm>
#include <climits>

namespace halyard::vgpu::isa::model {
namespace {

struct Shape {
  int exponent_bits, fraction_bits, bias;
};
Shape shape_of(Element e) {
  switch (e) {
    case Element::kF16:
      return {5, 10, 15};
    case Element::kBf16:
      return {8, 7, 127};
    case Element::kXf32:
      return {8, 23, 127};
    case Element::kFp8Fnuz:
      return {4, 3, 8};
    case Element::kBf8Fnuz:
      return {5, 2, 16};
    case Element::kFp8:
      return {4, 3, 7};
    case Element::kBf8:
      return {5, 2, 15};
    case Element::kFp6:
      return {2, 3, 1};
    case Element::kBf6:
      return {3, 2, 3};
    case Element::kFp4:
      return {2, 1, 1};
    case Element::kI8:
      break;
  }
  return {0, 0, 0};
}

Exact not_a_number() {
  Exact x;
  mpfr_set_nan(x.get());
  return x;
}
bool is_nan(const Exact& x) {
  return mpfr_nan_p(x.get()) != 0;
}
bool is_zero(const Exact& x) {
  return mpfr_zero_p(x.get()) != 0;
}
bool is_finite(const Exact& x) {
  return mpfr_number_p(x.get()) != 0;
}

// x as a multiple of 2^unit, by `rounding`.
Exact at_unit(const Exact& x, int unit, mpfr_rnd_t rounding) {
  Exact multiple = scale(x, -unit);
  mpfr_rint(multiple.get(), multiple.get(), rounding);
  return scale(multiple, unit);
}
Exact sum(const Exact& a, const Exact& b) {
  return add(a, b, 0);
}

// A product and the exponent by which it is aligned.
struct Product {
  Exact value;
  int exponent = INT_MIN;  // zeros do not count
};
Product product(const Factor& a, const Factor& b) {
  Product p{multiply(a.value, b.value), a.exponent + b.exponent};
  if (is_zero(p.value)) p.exponent = INT_MIN;
  // Products of 2^128 or more are infinite.
  if (is_finite(p.value) && !is_zero(p.value) && mpfr_get_exp(p.value.get()) > 128)
    mpfr_set_inf(p.value.get(), mpfr_sgn(p.value.get()));
  return p;
}

// "Truncated fused sum": each to 24 bits behind the point of the highest exponent.
Product fused(const std::vector<Product>& products) {
  Product all{Exact(0.0), INT_MIN};
  for (const Product& p : products) all.exponent = std::max(all.exponent, p.exponent);
  for (const Product& p : products) {
    if (!is_zero(p.value))
      all.value = sum(all.value, at_unit(p.value, all.exponent - 24, MPFR_RNDZ));
  }
  return all;
}

uint32_t step(Summing how, uint32_t c_bits, const std::vector<Product>& products) {
  const Exact c(Float::kF32, c_bits);
  // Infinities and NaNs: as IEEE adds them.
  Exact special(0.0);
  for (const Product& p : products) {
    if (!is_finite(p.value)) special = sum(special, p.value);
  }
  if (!is_finite(c) || !is_finite(special))
    return static_cast<uint32_t>(round_to(Float::kF32, sum(special, c), 0));

  if (how == Summing::kExact) {
    Exact total = c;
    for (const Product& p : products) total = sum(total, p.value);
    if (is_zero(total)) return 0;
    return static_cast<uint32_t>(round_to(Float::kF32, total, 0));
  }

  Product dot;
  if (how == Summing::kTruncated) {
    dot = fused(products);
  } else {
    std::vector<Product> even, odd;
    for (size_t n = 0; n < products.size(); ++n) (n % 2 == 0 ? even : odd).push_back(products[n]);
    const Product e = fused(even), o = fused(odd);
    dot = {Exact(0.0), std::max(e.exponent, o.exponent)};
    for (const Product* part : {&e, &o}) {
      if (part->exponent != INT_MIN)
        dot.value = sum(dot.value, at_unit(part->value, dot.exponent - 24, MPFR_RNDD));
    }
  }
  // f32's exponent of c, at least that of denormals.
  const int c_exponent = is_zero(c) ? -126 : std::max<int>(mpfr_get_exp(c.get()) - 1, -126);
  const int exponent = std::max(dot.exponent, c_exponent);
  Exact total = at_unit(dot.value, exponent - 32, MPFR_RNDD);
  const bool too_far = how == Summing::kGrouped && c_exponent < exponent - 25;
  if (!too_far) total = sum(total, at_unit(c, exponent - 24, MPFR_RNDD));
  if (is_zero(total)) return 0;
  const int normalized = std::max<int>(mpfr_get_exp(total.get()) - 1, -126);
  total = at_unit(total, normalized - 31, MPFR_RNDD);
  if (is_zero(total)) return 0;
  return static_cast<uint32_t>(round_to(Float::kF32, total, 0));
}

}  // namespace

unsigned element_bits(Element e) {
  switch (e) {
    case Element::kF16:
    case Element::kBf16:
      return 16;
    case Element::kXf32:
      return 32;
    case Element::kFp6:
    case Element::kBf6:
      return 6;
    case Element::kFp4:
      return 4;
    default:
      return 8;
  }
}

Factor factor(Element e, uint32_t bits) {
  if (e == Element::kI8) {
    return {Exact::integer(static_cast<int8_t>(bits)), 0};
  }
  const Shape s = shape_of(e);
  if (e == Element::kXf32) bits = bits / 8192 * 8192;  // the low 13 bits are cut off
  const uint32_t sign = bits >> (s.exponent_bits + s.fraction_bits) & 1;
  const uint32_t field = bits >> s.fraction_bits & ((1u << s.exponent_bits) - 1);
  const uint32_t fraction = bits & ((1u << s.fraction_bits) - 1);
  const bool last = field == (1u << s.exponent_bits) - 1;
  switch (e) {
    case Element::kFp8Fnuz:
    case Element::kBf8Fnuz:
      if (bits == 0x80) return {not_a_number(), 0};
      break;
    case Element::kFp8:
      if (last && fraction == 7) return {not_a_number(), 0};
      break;
    case Element::kFp6:
    case Element::kBf6:
    case Element::kFp4:
      break;
    default:
      if (last && fraction != 0) return {not_a_number(), 0};
      if (last) {
        Exact infinity;
        mpfr_set_inf(infinity.get(), sign != 0 ? -1 : 1);
        return {infinity, 0};
      }
  }
  const int exponent = std::max(static_cast<int>(field), 1) - s.bias;
  const uint32_t significand = fraction + (field == 0 ? 0 : 1u << s.fraction_bits);
  Exact value = scale(Exact::integer(significand), exponent - s.fraction_bits);
  if (sign != 0) mpfr_neg(value.get(), value.get(), MPFR_RNDN);
  return {value, exponent};
}

Factor scaled(const Factor& f, uint32_t code) {
  if (code == 255) return {not_a_number(), 0};
  const int power = static_cast<int>(code) - 127;
  return {is_nan(f.value) ? f.value : scale(f.value, power), f.exponent + power};
}

uint32_t sum_of_products(Summing how, unsigned at_a_time, uint32_t c, const std::vector<Factor>& a,
                         const std::vector<Factor>& b) {
  for (size_t first = 0; first < a.size(); first += at_a_time) {
    std::vector<Product> products;
    for (size_t n = first; n < std::min(a.size(), first + at_a_time); ++n) {
      products.push_back(product(a[n], b[n]));
      if (how == Summing::kExact) products.back().value = multiply(a[n].value, b[n].value);
    }
    c = step(how, c, products);
  }
  // A NaN's bits are not known; the engine's is the default one.
  return (c & 0x7fffffff) > 0x7f800000 ? 0x7fc00000 : c;
}

}  // namespace halyard::vgpu::isa::model
