#include "vgpu/isa/tests/model/row.h"

namespace halyard::vgpu::isa::model {

unsigned dwords(Kind kind) {
  switch (kind) {
    case Kind::kNone:
    case Kind::kMask:
      return 0;
    case Kind::kB64:
    case Kind::kF64:
    case Kind::kPkF32:
      return 2;
    case Kind::kB128:
      return 4;
    default:
      return 1;
  }
}
bool is_packed16(Kind kind) {
  return kind == Kind::kPkB16 || kind == Kind::kPkF16 || kind == Kind::kPkBF16;
}
bool is_half(Kind kind) {
  return kind == Kind::kB16 || kind == Kind::kF16 || kind == Kind::kBF16;
}
bool is_real(Kind kind) {
  return kind == Kind::kF16 || kind == Kind::kF32 || kind == Kind::kF64 || kind == Kind::kPkF16 ||
         kind == Kind::kPkF32 || kind == Kind::kMix || kind == Kind::kBF16 || kind == Kind::kPkBF16;
}
Float format(Kind kind) {
  if (kind == Kind::kF64) return Float::kF64;
  if (kind == Kind::kBF16 || kind == Kind::kPkBF16) return Float::kBF16;
  return kind == Kind::kF16 || kind == Kind::kPkF16 ? Float::kF16 : Float::kF32;
}

FloatRules Mode::rules(Float f) const {
  const bool single = f == Float::kF32 || f == Float::kBF16;
  const unsigned denormals = single ? denormals32 : denormals16_64;
  return {single ? round32 : round16_64, (denormals & 1) != 0, (denormals & 2) != 0,
          f == Float::kF16 && overflow16};
}

uint32_t Mode::bits() const {
  return round32 | round16_64 << 2 | denormals32 << 4 | denormals16_64 << 6 |
         (dx10_clamp ? 1u << 8 : 0) | (ieee ? 1u << 9 : 0) | (overflow16 ? 1u << 23 : 0);
}

const std::vector<Row>& vector_rows() {
  static const std::vector<Row> rows = [] {
    std::vector<Row> all;
    add_float_rows(all);
    add_float_special_rows(all);
    add_transcendental_rows(all);
    add_division_rows(all);
    add_conversion_rows(all);
    add_compare_rows(all);
    add_integer_rows(all);
    add_integer16_rows(all);
    add_byte_rows(all);
    add_packed_rows(all);
    add_small_float_rows(all);
    return all;
  }();
  return rows;
}

}  // namespace halyard::vgpu::isa::model
