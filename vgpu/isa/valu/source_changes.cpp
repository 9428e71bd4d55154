#include "vgpu/isa/valu/source_changes.h"

#include <bit>

#include "vgpu/isa/valu/half.h"
#include "vgpu/isa/valu/half_vectors.h"

namespace halyard::vgpu::isa::valu {
namespace {

constexpr bool is_packed16(Type type) {
  return type == Type::kPkF16 || type == Type::kPkBF16 || type == Type::kPkB16;
}

// Makes an f32 of a half of each dword. `to` may be `from`.
void widen_row(bool high, const uint32_t* from, uint32_t* to) {
#if defined(__F16C__) && defined(__AVX2__)
  for (unsigned n = 0; n < kLanes; n += 2 * kVectorLanes) {
    const Dwords halves =
        interleave_halves(load_lanes(from + n), load_lanes(from + n + kVectorLanes), high);
    const Floats first = widen(lower(halves)), second = widen(upper(halves));
    store_floats(to + n, even_elements(first, second));
    store_floats(to + n + kVectorLanes, odd_elements(first, second));
  }
#else
  const unsigned shift = high ? 16 : 0;
#pragma GCC ivdep
  for (unsigned lane = 0; lane < kLanes; ++lane)
    to[lane] = to_bits(to_f32(F16{static_cast<uint16_t>(from[lane] >> shift)}));
#endif
}

// An f16 denormal becomes a zero, which as an f32 it is below 2^-14.
void flush_widened(uint32_t* row) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const bool denormal = (row[lane] & 0x7fffffff) < 0x38800000;
    row[lane] &= denormal ? 0x80000000 : ~0u;
  }
}

}  // namespace

void change_sources(const Instruction& in, const Shape& shape, LaneArgs& args, LaneBuffer* copies) {
  const unsigned encoded = shape.sources - (shape.accumulates ? 1u : 0u);
  if (in.format == Format::kVop3p) {
    for (unsigned i = 0; i < encoded; ++i)
      change_vop3p_source(shape.src[i], in.halves(i), args.src[i], copies + i * kChangedRows);
    return;
  }
  const unsigned op_sel = in.format == Format::kVop3 ? in.op_sel : 0u;
  // Only the sources (a bit for each) that may need it.
  unsigned left = unsigned{in.neg} | in.abs | op_sel;
  if (in.has_sdwa) {
    left |= in.extra->sdwa.src_sel[0] != SubDword::kDword ? 1u : 0u;
    left |= in.extra->sdwa.src_sel[1] != SubDword::kDword ? 2u : 0u;
  }
  for (left &= (1u << encoded) - 1; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    const Type type = shape.src[i];
    const uint32_t neg = in.neg >> i & 1, abs = in.abs >> i & 1;
    const unsigned from_high = op_sel >> i & 1;
    const uint32_t*& row = args.src[i][shape.src_dwords[i] - 1];
    uint32_t* const to = copies[i * kChangedRows].lane;
    unsigned part = kDword;
    uint32_t keep = ~0u, flip = 0;
    if (is_packed16(type)) {
      flip = neg << 15 | abs << 31;  // neg_lo, neg_hi
    } else {
      const unsigned sign = is_16bit(type) ? 15 : 31;
      keep = ~(abs << sign);
      flip = neg << sign;
      if (is_16bit(type) && from_high != 0) part = kWord1;
    }
    if (in.has_sdwa && i < 2) {
      part = static_cast<unsigned>(in.extra->sdwa.src_sel[i]);
      if (in.extra->sdwa.sext[i]) [[unlikely]] {
        extend_row(in.extra->sdwa.src_sel[i], row, to);
        row = to;
        part = kDword;
      }
    }
    change_row(part, keep, flip, row, to);
    row = to;
  }
}

void mix_sources(const Instruction& in, const FloatMode& mode, LaneArgs& args, LaneBuffer* copies) {
  for (unsigned i = 0; i < 3; ++i) {
    const uint32_t*& row = args.src[i][0];
    uint32_t* const to = copies[i * kChangedRows].lane;
    if ((in.op_sel_hi >> i & 1) != 0) {
      widen_row((in.op_sel >> i & 1) != 0, row, to);
      if ((mode.denorm_f16_f64 & 1) == 0) [[unlikely]]
        flush_widened(to);
      row = to;
    }
    if (((in.neg | in.abs) >> i & 1) == 0) continue;
    const uint32_t keep = (in.abs >> i & 1) != 0 ? 0x7fffffff : ~0u;
    const uint32_t flip = (in.neg >> i & 1) != 0 ? 0x80000000 : 0;
    change_row(kDword, keep, flip, row, to);
    row = to;
  }
}

}  // namespace halyard::vgpu::isa::valu
