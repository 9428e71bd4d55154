#include "vgpu/isa/matrix_floats.h"

#include <algorithm>

#include "vgpu/isa/lane_access.h"
#include "vgpu/isa/matrix_exact.h"
#include "vgpu/isa/matrix_truncating.h"
#include "vgpu/isa/target.h"
#include "vgpu/isa/valu/half.h"

namespace halyard::vgpu::isa {
namespace {

using matrix::ElementFormat;

constexpr unsigned kMostPerLane = 32;
constexpr unsigned kMostElements = kLanes * kMostPerLane;
constexpr unsigned kMostDepth = 128;
constexpr unsigned kMostRows = 32;

// Where the elements of A or B come from, and where they go: rows of `edge` elements by block and
// k.
struct Input {
  const VectorRegister* registers;
  unsigned edge;
  unsigned per_lane;
  unsigned blocks;
  bool halves = false;  // F8F6F4's 8-bit elements
  unsigned cbsz = 0, abid = 0;

  unsigned groups() const { return kLanes / (edge * blocks); }
  unsigned depth() const { return groups() * per_lane; }
  unsigned first_lane(unsigned block, unsigned group) const {
    return group * edge * blocks + broadcast_block(block, cbsz, abid) * edge;
  }
  unsigned row(unsigned block, unsigned group, unsigned element) const {
    const unsigned k =
        halves ? F8f6f4Layout{edge, true}.k(group, element) : group * per_lane + element;
    return block * depth() + k;
  }
};

template <ElementFormat kFormat>
float value_of(uint32_t bits) {
  if constexpr (kFormat == ElementFormat::kF16) {
    return valu::to_f32(valu::F16{static_cast<uint16_t>(bits)});
  } else if constexpr (kFormat == ElementFormat::kBf16) {
    return std::bit_cast<float>(bits << 16);
  } else if constexpr (kFormat == ElementFormat::kXf32) {
    return std::bit_cast<float>(bits & ~0x1fffu);
  } else {
    return std::bit_cast<float>(valu::kF32OfByte<matrix::float_format(kFormat)>[bits]);
  }
}

// An element of all lanes, from bit `shift` of `low` on; the bits that are not there are the lowest
// of `high`. Loops of a constant length over memory of their own become vectors where they are not
// inlined.
using Converter = void (*)(const uint32_t* low, const uint32_t* high, unsigned shift,
                           float* values);
template <ElementFormat kFormat>
[[gnu::noinline]] void convert_lanes(const uint32_t* __restrict low,
                                     const uint32_t* __restrict high, unsigned shift,
                                     float* __restrict values) {
  constexpr unsigned kBits = matrix::bits_of(kFormat);
  constexpr uint32_t kMask = kBits == 32 ? ~0u : (1u << kBits) - 1;
  const unsigned rest = (32 - shift) % 32;
  for (unsigned l = 0; l < kLanes; ++l) {
    uint32_t bits = low[l] >> shift;
    if constexpr (32 % kBits != 0) bits |= high[l] << rest;
    values[l] = value_of<kFormat>(bits & kMask);
  }
}

Converter converter_of(ElementFormat format) {
  switch (format) {
    case ElementFormat::kF16:
      return convert_lanes<ElementFormat::kF16>;
    case ElementFormat::kBf16:
      return convert_lanes<ElementFormat::kBf16>;
    case ElementFormat::kXf32:
      return convert_lanes<ElementFormat::kXf32>;
    case ElementFormat::kFp8Fnuz:
      return convert_lanes<ElementFormat::kFp8Fnuz>;
    case ElementFormat::kBf8Fnuz:
      return convert_lanes<ElementFormat::kBf8Fnuz>;
    case ElementFormat::kFp8:
      return convert_lanes<ElementFormat::kFp8>;
    case ElementFormat::kBf8:
      return convert_lanes<ElementFormat::kBf8>;
    case ElementFormat::kFp6:
      return convert_lanes<ElementFormat::kFp6>;
    case ElementFormat::kBf6:
      return convert_lanes<ElementFormat::kBf6>;
    case ElementFormat::kFp4:
      return convert_lanes<ElementFormat::kFp4>;
  }
  return nullptr;
}

// Calls prepare(values) with each element of all lanes, and then put(place, lane) for each run of
// `edge` lanes of it, whose place is `place`.
template <class Prepare, class Put>
void load(const Input& in, ElementFormat format, Prepare&& prepare, Put&& put) {
  const unsigned bits = matrix::bits_of(format);
  const Converter convert = converter_of(format);
  for (unsigned e = 0; e < in.per_lane; ++e) {
    const unsigned dword = e * bits / 32, shift = e * bits % 32;
    const uint32_t* const low = in.registers[dword].lane;
    // Where `low` has all of the element, the mask drops what `high` adds.
    const bool straddles = shift + bits > 32;
    float values[kLanes];
    convert(low, straddles ? in.registers[dword + 1].lane : low, shift, values);
    prepare(values);
    for (unsigned block = 0; block < in.blocks; ++block) {
      for (unsigned group = 0; group < in.groups(); ++group)
        put(in.row(block, group, e) * in.edge, in.first_lane(block, group));
    }
  }
}

// Which of B's rows a row of A is multiplied with: all in turn, or those that its indices name.
class Pairing {
 public:
  Pairing(const Wave& w, const Instruction& i, const FloatMultiply& what)
      : Pairing(w, i, what.shape, what.sparse) {}
  Pairing(const Wave& w, const Instruction& i, const MatrixShape& shape, bool sparse)
      : products_(sparse ? shape.k / 2 : shape.k), edge_(shape.m) {
    if (!sparse) return;
    indices_ = vector_registers(const_cast<Wave&>(w), i.src[2])->lane;
    per_lane_ = shape.k * shape.m / kLanes / 2;
    first_bit_ = first_index_bit(per_lane_, i.abs & 3, i.op_sel);
  }

  unsigned products() const { return products_; }

  // B's row (k) for each of the products of row `row` of A.
  void rows(unsigned row, unsigned* k) const {
    if (indices_ == nullptr) {
      for (unsigned t = 0; t < products_; ++t) k[t] = t;
      return;
    }
    for (unsigned t = 0; t < products_; ++t) {
      const uint32_t bits = indices_[t / per_lane_ * edge_ + row] >> first_bit_;
      k[t] = t / 2 * 4 + (bits >> (t % per_lane_ * 2) & 3);
    }
  }

 private:
  unsigned products_;
  unsigned edge_;
  const uint32_t* indices_ = nullptr;
  unsigned per_lane_ = 1;
  unsigned first_bit_ = 0;
};

// B's registers as BLGP wants them.
const VectorRegister* permuted(const VectorRegister* registers, unsigned count, unsigned blgp,
                               VectorRegister* room) {
  if (blgp == 0) return registers;
  for (unsigned d = 0; d < count; ++d) {
    for (unsigned l = 0; l < kLanes; ++l)
      room[d].lane[l] = registers[d].lane[permuted_lane(l, blgp)];
  }
  return room;
}

// Calls compute(block, row, c, d) for each row of D; c and d are the elements of C and D, n each.
// A sparse instruction's C is D. Nothing is written before all is read.
template <class T, class Compute>
void for_each_row(Wave& w, const Instruction& i, const MatrixShape& shape, bool sparse,
                  Compute&& compute) {
  const OutputLayout layout(shape, sizeof(T));
  VectorRegister result[kMostRows];
  VectorRegister* const destination = vector_registers(w, i.dst);
  const VectorRegister* const c = sparse ? destination : vector_registers(w, i.src[2]);
  for (unsigned block = 0; block < shape.blocks; ++block) {
    for (unsigned row = 0; row < shape.m; ++row) {
      const unsigned element = layout.element(block, row), lane = layout.lane(block, row);
      T d[kMostRows] = {};
      for (unsigned j = 0; j < shape.n; ++j) {
        d[j] = std::bit_cast<T>(c != nullptr ? c[element].lane[lane + j] : i.src[2].bits);
      }
      compute(block, row, d);
      for (unsigned j = 0; j < shape.n; ++j)
        result[element].lane[lane + j] = std::bit_cast<uint32_t>(d[j]);
    }
  }
  std::copy_n(result, layout.elements(), destination);
}

void make_canonical(float* d, unsigned n) {
  for (unsigned j = 0; j < n; ++j) d[j] = matrix::canonical(d[j]);
}

// --- MI300.

struct Factors {
  // The columns beyond n of the last row.
  float significand[kMostElements + matrix::kColumns];
  int32_t exponent[kMostElements + matrix::kColumns];
  int32_t highest = matrix::kZeroExponent;

  void load_from(const Input& in, ElementFormat format) {
    const int least = matrix::float_format(format).least_exponent();
    float significands[kLanes];
    int32_t exponents[kLanes];
    load(
        in, format,
        [&](const float* values) { matrix::take_apart(values, least, significands, exponents); },
        [&](unsigned place, unsigned lane) {
          std::copy_n(significands + lane, in.edge, significand + place);
          std::copy_n(exponents + lane, in.edge, exponent + place);
        });
    const unsigned count = kLanes * in.per_lane;
    for (unsigned n = 0; n < count; ++n) highest = std::max(highest, exponent[n]);
    std::fill_n(significand + count, matrix::kColumns, 0.0f);
    std::fill_n(exponent + count, matrix::kColumns, matrix::kZeroExponent);
  }
};

template <class Step>
void multiply_truncating(Wave& w, const Instruction& i, const FloatMultiply& what, const Input& a,
                         const Input& b) {
  Factors left, right;
  left.load_from(a, what.a);
  right.load_from(b, what.b);
  const bool special = left.highest + right.highest >= matrix::kOverflowExponent;
  const MatrixShape& shape = what.shape;
  const Pairing pairing(w, i, what);
  for_each_row<float>(w, i, shape, what.sparse, [&](unsigned block, unsigned row, float* d) {
    unsigned k[kMostDepth];
    float factor[kMostDepth];
    int32_t exponent[kMostDepth];
    pairing.rows(row, k);
    for (unsigned t = 0; t < pairing.products(); ++t) {
      const unsigned place = (block * a.depth() + t) * shape.m + row;
      factor[t] = left.significand[place];
      exponent[t] = left.exponent[place];
    }
    for (unsigned first = 0; first < pairing.products(); first += Step::kLength) {
      const unsigned count = std::min(Step::kLength, pairing.products() - first);
      const float* factors[Step::kLength];
      const int32_t* exponents[Step::kLength];
      const auto add = [&](unsigned from, auto&& step) {
        for (unsigned s = 0; s < count; ++s) {
          const unsigned place = (block * b.depth() + k[first + s]) * shape.n + from;
          factors[s] = right.significand + place;
          exponents[s] = right.exponent + place;
        }
        step(d + from);
      };
      if (special) {
        for (unsigned j = 0; j < shape.n; ++j) {
          add(j, [&](float* c) {
            *c = matrix::special_step<Step>(*c, factor + first, exponent + first, factors,
                                            exponents, count);
          });
        }
      } else {
        // Columns beyond n are computed and not used.
        for (unsigned j = 0; j < shape.n; j += matrix::kColumns) {
          add(j, [&](float* c) {
            Step::template add<matrix::kColumns>(c, factor + first, exponent + first, factors,
                                                 exponents, count);
          });
        }
      }
    }
    make_canonical(d, shape.n);
  });
}

// --- MI350.

struct Values {
  double value[kMostElements];
  unsigned mantissa = 0;
  int highest = -2000;  // exponents of values that are neither 0 nor special
  int lowest = 2000;

  void load_from(const Input& in, ElementFormat format) {
    mantissa = matrix::float_format(format).mantissa_bits;
    double wide[kLanes];
    load(
        in, format, [&](const float* values) { std::copy_n(values, kLanes, wide); },
        [&](unsigned place, unsigned lane) { std::copy_n(wide + lane, in.edge, value + place); });
  }

  // By the scales of each 32 elements along k, E8M0: 2^(byte - 127), or NaN.
  void scale(const Input& in, const VectorRegister& scales, unsigned byte) {
    double factors[kLanes];
    for (unsigned l = 0; l < kLanes; ++l) {
      const uint32_t code = scales.lane[l] >> (8 * byte) & 0xff;
      factors[l] = std::bit_cast<double>(uint64_t{code + 1023 - 127} << 52);
      if (code == 0xff) factors[l] = std::bit_cast<double>(uint64_t{0x7ff8} << 48);
    }
    for (unsigned k = 0; k < in.depth(); ++k) {
      for (unsigned p = 0; p < in.edge; ++p)
        value[k * in.edge + p] *= factors[k / 32 * in.edge + p];
    }
  }

  void measure(unsigned count) {
    int most = -1, least = 0x7fff;
    for (unsigned n = 0; n < count; ++n) {
      const uint64_t bits = std::bit_cast<uint64_t>(value[n]);
      const int exponent = static_cast<int>(bits >> 52 & 0x7ff);
      most = std::max(most, exponent == 0x7ff ? -1 : exponent);
      least = std::min(least, exponent == 0 ? 0x7fff : exponent);
    }
    highest = most;
    lowest = least;
  }
  // Bits from the lowest place of any value to the highest.
  int span() const { return std::max(highest - lowest, 0) + static_cast<int>(mantissa) + 1; }
};

void multiply_exactly(Wave& w, const Instruction& i, const FloatMultiply& what, const Input& a,
                      const Input& b) {
  Values left, right;
  left.load_from(a, what.a);
  right.load_from(b, what.b);
  if (what.scaled) {
    const Scales scales = unpack_scales(i.offset);
    left.scale(a, w.vgpr[scales.vgpr[0]], scales.byte[0]);
    right.scale(b, w.vgpr[scales.vgpr[1]], scales.byte[1]);
  }
  left.measure(kLanes * a.per_lane);
  right.measure(kLanes * b.per_lane);
  const MatrixShape& shape = what.shape;
  const Pairing pairing(w, i, what);
  const int counted = std::bit_width(pairing.products());
  const bool narrow = left.span() + right.span() + 2 * counted <= matrix::kExactSpan;
  for_each_row<float>(w, i, shape, what.sparse, [&](unsigned block, unsigned row, float* d) {
    unsigned k[kMostDepth];
    double factor[kMostDepth];
    pairing.rows(row, k);
    for (unsigned t = 0; t < pairing.products(); ++t)
      factor[t] = left.value[(block * a.depth() + t) * shape.m + row];
    const auto factors = [&](unsigned t, unsigned j) {
      return right.value + (block * b.depth() + k[t]) * shape.n + j;
    };
    const auto add = [&]<unsigned kWidth>(unsigned from) {
      matrix::PairSum<kWidth> sum;
      for (unsigned t = 0; t < pairing.products(); ++t) sum.add(factor[t], factors(t, from));
      for (unsigned j = 0; j < kWidth; ++j) d[from + j] = sum.rounded(j, d[from + j]);
    };
    if (!narrow) {
      for (unsigned j = 0; j < shape.n; ++j) {
        matrix::WideSum sum;
        double plain = d[j];
        for (unsigned t = 0; t < pairing.products(); ++t) {
          const double product = factor[t] * *factors(t, j);
          plain += product;
          if (std::isfinite(product)) sum.add(product);
        }
        if (std::isfinite(d[j])) sum.add(d[j]);
        d[j] = std::isfinite(plain) ? sum.rounded() : static_cast<float>(plain);
      }
    } else if (shape.n == 4) {
      add.template operator()<4>(0);
    } else {
      for (unsigned j = 0; j < shape.n; j += 16) add.template operator()<16>(j);
    }
    make_canonical(d, shape.n);
  });
}

// A and B of `what` in registers.
struct Inputs {
  VectorRegister room[8];  // B's, permuted
  Input a, b;

  Inputs(Wave& w, const Instruction& i, const FloatMultiply& what) {
    const MatrixShape& s = what.shape;
    a = {vector_registers(w, i.src[0]), s.m, InputLayout(s.m, s.k, s.blocks).per_lane, s.blocks};
    b = {vector_registers(w, i.src[1]), s.n, InputLayout(s.n, s.k, s.blocks).per_lane, s.blocks};
    if (what.sparse) a.per_lane /= 2;
  }
};

ElementFormat of_target(ElementFormat format, const Target& target) {
  if (target.float8 != Float8::kFnuz) return format;
  if (format == ElementFormat::kFp8) return ElementFormat::kFp8Fnuz;
  if (format == ElementFormat::kBf8) return ElementFormat::kBf8Fnuz;
  return format;
}

}  // namespace

Outcome multiply_floats(Wave& w, const Instruction& i, const FloatMultiply& what) {
  FloatMultiply how = what;
  how.a = of_target(what.a, *w.target);
  how.b = of_target(what.b, *w.target);
  Inputs in(w, i, how);
  if (!how.sparse) {
    in.a.cbsz = i.abs;
    in.a.abid = i.op_sel;
    in.b.registers =
        permuted(in.b.registers, in.b.per_lane * matrix::bits_of(how.b) / 32, i.neg, in.room);
  }
  if (w.target->matrix_arithmetic != MatrixArithmetic::kCdna3) {
    multiply_exactly(w, i, how, in.a, in.b);
  } else if (matrix::bits_of(how.a) == 8) {
    multiply_truncating<matrix::GroupedStep>(w, i, how, in.a, in.b);
  } else if (how.a == ElementFormat::kXf32) {
    multiply_truncating<matrix::TruncatingStep<4>>(w, i, how, in.a, in.b);
  } else {
    multiply_truncating<matrix::TruncatingStep<8>>(w, i, how, in.a, in.b);
  }
  return Outcome::kNext;
}

Outcome multiply_selected_floats(Wave& w, const Instruction& i, FloatMultiply what) {
  constexpr ElementFormat kFormats[] = {ElementFormat::kFp8, ElementFormat::kBf8,
                                        ElementFormat::kFp6, ElementFormat::kBf6,
                                        ElementFormat::kFp4};
  what.a = kFormats[i.abs];
  what.b = kFormats[i.neg];
  Inputs in(w, i, what);
  in.a.halves = matrix::bits_of(what.a) == 8;
  in.b.halves = matrix::bits_of(what.b) == 8;
  multiply_exactly(w, i, what, in.a, in.b);
  return Outcome::kNext;
}

Outcome multiply_sparse_integers(Wave& w, const Instruction& i, const MatrixShape& shape) {
  const unsigned b_per_lane = InputLayout(shape.n, shape.k, shape.blocks).per_lane;
  const Input a = {vector_registers(w, i.src[0]), shape.m, b_per_lane / 2, shape.blocks};
  const Input b = {vector_registers(w, i.src[1]), shape.n, b_per_lane, shape.blocks};
  int32_t left[kMostElements / 2], right[kMostElements];
  const auto load_bytes = [](const Input& in, int32_t* out) {
    for (unsigned e = 0; e < in.per_lane; ++e) {
      for (unsigned group = 0; group < in.groups(); ++group) {
        const uint32_t* const dwords = in.registers[e / 4].lane + in.first_lane(0, group);
        int32_t* const row = out + in.row(0, group, e) * in.edge;
        for (unsigned p = 0; p < in.edge; ++p)
          row[p] = static_cast<int8_t>(dwords[p] >> (8 * (e % 4)));
      }
    }
  };
  load_bytes(a, left);
  load_bytes(b, right);
  const Pairing pairing(w, i, shape, true);
  for_each_row<uint32_t>(w, i, shape, true, [&](unsigned, unsigned row, uint32_t* d) {
    unsigned k[kMostDepth];
    pairing.rows(row, k);
    for (unsigned t = 0; t < pairing.products(); ++t) {
      const int32_t factor = left[t * shape.m + row];
      const int32_t* const factors = right + k[t] * shape.n;
      for (unsigned j = 0; j < shape.n; ++j) d[j] += static_cast<uint32_t>(factor * factors[j]);
    }
  });
  return Outcome::kNext;
}

}  // namespace halyard::vgpu::isa
