// The modifiers: DPP and SDWA on sources, op_sel, neg and abs, omod and clamp, partial writes.

#include <algorithm>

#include "vgpu/isa/valu/dpp.h"
#include "vgpu/isa/valu/half.h"
#include "vgpu/isa/valu/operands.h"
#include "vgpu/isa/valu/result_modifiers.h"
#include "vgpu/isa/valu/values.h"

namespace halyard::vgpu::isa::valu {
namespace {

constexpr bool is_packed16(Type type) {
  return type == Type::kPkF16 || type == Type::kPkB16;
}

// The part of each dword that SDWA selects of source `i`. `to` may be `from`.
void select_part(const Sdwa& sdwa, unsigned i, const uint32_t* from, uint32_t* to) {
  const SubDword sel = sdwa.src_sel[i];
  const unsigned bits = sub_dword_bits(sel), shift = sub_dword_shift(sel);
  if (sdwa.sext[i]) {
    const unsigned down = 32 - bits, up = down - shift;
#pragma GCC ivdep
    for (unsigned lane = 0; lane < kLanes; ++lane)
      to[lane] = static_cast<uint32_t>(static_cast<int32_t>(from[lane] << up) >> down);
    return;
  }
#if defined(__AVX512BW__)
  // Which byte of a dword each byte comes from, 0x80 for a zero; and so for four dwords at a time.
  const unsigned first = shift / 8;
  const unsigned bytes = bits == 8 ? 0x80808000 | first : 0x80800100 | first * 0x0101;
  const __m512i dwords = _mm512_set4_epi32(0x0c0c0c0c, 0x08080808, 0x04040404, 0);
  const __m512i source = _mm512_add_epi32(_mm512_set1_epi32(static_cast<int>(bytes)), dwords);
  for (unsigned n = 0; n < kLanes; n += 16)
    _mm512_store_si512(to + n, _mm512_shuffle_epi8(_mm512_load_si512(from + n), source));
#else
  const uint32_t mask = bits == 8 ? 0xff : 0xffff;
#pragma GCC ivdep
  for (unsigned lane = 0; lane < kLanes; ++lane) to[lane] = from[lane] >> shift & mask;
#endif
}

// The rows of the sources, each either a register's own or a modified copy.
class Sources {
 public:
  Sources(const Wave& w, const Instruction& in, const Shape& shape, LaneArgs& args)
      : in_(in), shape_(shape), args_(args) {
    for (unsigned i = 0; i < shape.sources; ++i) {
      const Operand& operand = source_operand(in, shape, i);
      const VectorRegister* const from = vector_source(w, operand);
      if (from == nullptr) splat_rows(w, operand, shape.src_dwords[i], buffer_[i]);
      for (unsigned d = 0; d < shape.src_dwords[i]; ++d) {
        args.src[i][d] = from != nullptr ? from[d].lane : buffer_[i][d].lane;
      }
    }
  }

  void apply_dpp(const DppLanes& lanes) {
    for (unsigned d = 0; d < shape_.src_dwords[0]; ++d) {
      permute(lanes.control, lanes.valid, args_.src[0][d], buffer_[0][d].lane);
      args_.src[0][d] = buffer_[0][d].lane;
    }
  }

  void apply_sdwa() {
    for (unsigned i = 0; i < std::min<unsigned>(shape_.sources, 2); ++i) {
      if (is_accumulator(i)) continue;
      if (in_.sdwa.src_sel[i] == SubDword::kDword) continue;
      select_part(in_.sdwa, i, args_.src[i][0], buffer_[i][0].lane);
      args_.src[i][0] = buffer_[i][0].lane;
    }
  }

  void apply_op_sel() {
    const bool packed = in_.format == Format::kVop3p;
    for (unsigned i = 0; i < shape_.sources; ++i) {
      if (is_accumulator(i)) continue;
      const bool low_from_high = (in_.op_sel >> i & 1) != 0;
      const bool high_from_high = (in_.op_sel_hi >> i & 1) != 0;
      if (packed && is_packed16(shape_.src[i])) {
        if (!low_from_high && high_from_high) continue;
        const unsigned right = low_from_high ? 16 : 0, left = high_from_high ? 0 : 16;
        update(i, 0, [=](const uint32_t* from, unsigned lane) {
          return (from[lane] >> right & 0xffff) | (from[lane] << left & 0xffff0000);
        });
      } else if (packed && shape_.src[i] == Type::kPkF32) {
        select_dwords(i, low_from_high, high_from_high);
      } else if (is_16bit(shape_.src[i]) && low_from_high) {
        update(i, 0, [](const uint32_t* from, unsigned lane) { return from[lane] >> 16; });
      }
    }
  }

  // v_mad_mix: a source is an f32, or, with its op_sel_hi bit, the half of a dword that op_sel
  // says.
  void apply_mix(const FloatMode& mode) {
    for (unsigned i = 0; i < shape_.sources; ++i) {
      if ((in_.op_sel_hi >> i & 1) == 0) continue;
      const unsigned shift = (in_.op_sel >> i & 1) != 0 ? 16 : 0;
      // The decoder gave a float constant as an f32; integer constants are small numbers.
      if (in_.src[i].kind == OperandKind::kConstant && is_float_constant(i)) {
        update(i, 0, [](const uint32_t* from, unsigned lane) {
          return uint32_t{nearest_f16(from_bits<float>(from[lane])).bits};
        });
      }
      const bool keep = (mode.denorm_f16_f64 & 1) != 0;
      update(i, 0, [=](const uint32_t* from, unsigned lane) {
        const F16 half{static_cast<uint16_t>(from[lane] >> shift)};
        return to_bits(to_f32(keep ? half : flush(half)));
      });
    }
  }

  void apply_signs() {
    for (unsigned i = 0; i < shape_.sources; ++i) {
      const bool neg = (in_.neg >> i & 1) != 0;
      const bool abs = (in_.abs >> i & 1) != 0;
      if ((!neg && !abs) || is_accumulator(i)) continue;
      if (is_packed16(shape_.src[i])) {  // neg is neg_lo, abs is neg_hi
        flip(i, 0, (neg ? 0x8000u : 0) | (abs ? 0x80000000u : 0));
      } else if (shape_.src[i] == Type::kPkF32) {
        flip(i, 0, neg ? 0x80000000u : 0);
        flip(i, 1, abs ? 0x80000000u : 0);
      } else {
        const uint32_t sign = is_16bit(shape_.src[i]) ? 0x8000 : 0x80000000;
        const uint32_t keep = abs ? ~sign : ~0u, flip = neg ? sign : 0;
        update(i, shape_.src_dwords[i] - 1u,
               [=](const uint32_t* from, unsigned lane) { return (from[lane] & keep) ^ flip; });
      }
    }
  }

 private:
  // Source field 240..248 of VOP3P: 0.5 … 1/(2 pi).
  bool is_float_constant(unsigned i) const {
    const unsigned field = static_cast<unsigned>(in_.encoding >> (32 + 9 * i)) & 0x1ff;
    return field >= 240 && field <= 248;
  }

  bool is_accumulator(unsigned i) const { return shape_.accumulates && i + 1u == shape_.sources; }

  static void splat_rows(const Wave& w, const Operand& operand, unsigned dwords, LaneBuffer* rows) {
    if (dwords == 1) {
      splat<1>(w, operand, rows);
    } else if (dwords == 2) {
      splat<2>(w, operand, rows);
    } else {
      splat<kMaxDwords>(w, operand, rows);
    }
  }

  // The row may be its own source: a lane is read before it is written, and lanes do not meet.
  template <class F>
  void update(unsigned i, unsigned d, F value) {
    const uint32_t* const from = args_.src[i][d];
    uint32_t* const to = buffer_[i][d].lane;
#pragma GCC ivdep
    for (unsigned lane = 0; lane < kLanes; ++lane) to[lane] = value(from, lane);
    args_.src[i][d] = to;
  }

  void flip(unsigned i, unsigned d, uint32_t bits) {
    if (bits == 0) return;
    update(i, d, [=](const uint32_t* from, unsigned lane) { return from[lane] ^ bits; });
  }

  // Packed f32: the halves are dwords. Reading from a copy keeps the buffers from being overwritten
  // before they are used.
  void select_dwords(unsigned i, bool low_from_high, bool high_from_high) {
    LaneBuffer old[2];
    std::memcpy(old[0].lane, args_.src[i][0], sizeof old[0]);
    std::memcpy(old[1].lane, args_.src[i][1], sizeof old[1]);
    buffer_[i][0] = old[low_from_high];
    buffer_[i][1] = old[high_from_high];
    args_.src[i][0] = buffer_[i][0].lane;
    args_.src[i][1] = buffer_[i][1].lane;
  }

  const Instruction& in_;
  const Shape& shape_;
  LaneArgs& args_;
  LaneBuffer buffer_[3][kMaxDwords];
};

// Omod and clamp on a result, and what a partial one leaves of its dword.
[[gnu::noinline]] void finish(const Wave& w, const Instruction& in, const Shape& shape,
                              LaneBuffer* out) {
  if (shape.float_result && (in.omod != 0 || in.clamp)) {
    const bool single = shape.dst == Type::kF32 || shape.dst == Type::kPkF32;
    const RoundingScope scope(single ? w.mode.round_f32 : w.mode.round_f16_f64);
    modify_results(in, w.mode, shape.dst, out);
  }
  if (is_partial(in, shape)) merge_destination(w, in, shape, out[0]);
}
bool is_finished(const Instruction& in, const Shape& shape) {
  return !is_partial(in, shape) && !(shape.float_result && (in.omod != 0 || in.clamp));
}

void write_flags(Wave& w, const Instruction& in, const Shape& shape, uint64_t exec,
                 const LaneBuffer& flags) {
  const uint64_t mask = pack_mask(flags) & exec;
  commit_mask(w, in.sdst, mask);
  if (shape.exec_result) w.set_exec(mask);
}

void read_flags(const Wave& w, const Instruction& in, const Shape& shape, LaneBuffer& flags) {
  expand_mask(shape.flag_input == FlagInput::kVcc ? w.vcc() : uniform_value(w, in.src[2]), flags);
}

// Whether all operands are single dwords, as those of nearly all DPP and SDWA instructions are.
bool is_of_dwords(const Instruction& in, const Shape& shape) {
  const unsigned dwords =
      shape.dst_dwords | shape.src_dwords[0] | shape.src_dwords[1] | shape.src_dwords[2];
  return dwords == 1 && (in.dpp.enabled || in.sdwa.enabled) && !shape.mixed_sources &&
         in.format != Format::kVop3 && in.format != Format::kVop3p;
}

// DPP and SDWA of single dwords: as run_general(), with nothing that these cannot have.
template <bool kDpp>
[[gnu::noinline]] Outcome run_dwords(Wave& w, const Instruction& in, const Shape& shape,
                                     Core core) {
  LaneArgs args;
  LaneBuffer buffer[3];
  LaneBuffer flag_in;
  LaneBuffer flag_out;
  LaneBuffer out;
  const auto fetch = [&](unsigned i) __attribute__((always_inline)) {
    if (i >= shape.sources) return;
    const Operand& operand = source_operand(in, shape, i);
    const VectorRegister* const from = vector_source(w, operand);
    if (from == nullptr) [[unlikely]]
      splat<1>(w, operand, &buffer[i]);
    args.src[i][0] = from != nullptr ? from->lane : buffer[i].lane;
  };
  [[maybe_unused]] const auto select = [&](unsigned i) __attribute__((always_inline)) {
    const bool accumulator = shape.accumulates && i + 1u == shape.sources;
    if (i >= shape.sources || accumulator) return;
    if (in.sdwa.src_sel[i] == SubDword::kDword) return;
    select_part(in.sdwa, i, args.src[i][0], buffer[i].lane);
    args.src[i][0] = buffer[i].lane;
  };
  const auto change_sign = [&](unsigned i) __attribute__((always_inline)) {
    const bool accumulator = shape.accumulates && i + 1u == shape.sources;
    if (i >= shape.sources || accumulator || ((in.neg | in.abs) >> i & 1) == 0) return;
    const uint32_t sign = is_16bit(shape.src[i]) ? 0x8000 : 0x80000000;
    const uint32_t keep = (in.abs >> i & 1) != 0 ? ~sign : ~0u;
    const uint32_t flip = (in.neg >> i & 1) != 0 ? sign : 0;
    const uint32_t* const from = args.src[i][0];
    uint32_t* const to = buffer[i].lane;
#pragma GCC ivdep
    for (unsigned lane = 0; lane < kLanes; ++lane) to[lane] = (from[lane] & keep) ^ flip;
    args.src[i][0] = to;
  };
  fetch(0);
  fetch(1);
  fetch(2);
  uint64_t exec = w.exec();
  if constexpr (kDpp) {
    const DppLanes lanes = dpp_lanes(in.dpp, exec);
    permute(lanes.control, lanes.valid, args.src[0][0], buffer[0].lane);
    args.src[0][0] = buffer[0].lane;
    exec &= lanes.written;
  } else {
    select(0);
    select(1);
  }
  if ((in.neg | in.abs) != 0) {
    change_sign(0);
    change_sign(1);
    change_sign(2);
  }
  if (shape.flag_input != FlagInput::kNone) read_flags(w, in, shape, flag_in);
  args.flag_in = flag_in.lane;
  args.flag_out = flag_out.lane;
  VectorRegister* const to = destination(w, in.dst);
  const bool finished = is_finished(in, shape);
  const bool in_place = finished && exec == ~0ull && to != nullptr && disjoint(args, shape, to);
  args.out[0] = in_place ? to->lane : out.lane;
  args.out[1] = args.out[2] = args.out[3] = nullptr;
  core(args, w.mode);
  if (shape.dst_dwords != 0 && !in_place) {
    if (!finished) finish(w, in, shape, &out);
    commit(w, in.dst, &out, 1, exec);
  }
  if (shape.flag_result) write_flags(w, in, shape, exec, flag_out);
  return Outcome::kNext;
}

}  // namespace

Outcome run_general(Wave& w, const Instruction& in, const Shape& shape, Core core) {
  if (is_of_dwords(in, shape)) {
    return in.dpp.enabled ? run_dwords<true>(w, in, shape, core)
                          : run_dwords<false>(w, in, shape, core);
  }
  LaneArgs args{};
  LaneBuffer flag_in;
  LaneBuffer out[kMaxDwords];
  LaneBuffer flag_out;
  Sources sources(w, in, shape, args);
  uint64_t exec = w.exec();
  if (in.dpp.enabled) {
    const DppLanes lanes = dpp_lanes(in.dpp, exec);
    sources.apply_dpp(lanes);
    exec &= lanes.written;
  }
  if (in.sdwa.enabled) sources.apply_sdwa();
  if (shape.mixed_sources) {
    sources.apply_mix(w.mode);
  } else if (in.format == Format::kVop3 || in.format == Format::kVop3p) {
    sources.apply_op_sel();
  }
  if ((in.neg | in.abs) != 0) sources.apply_signs();

  if (shape.flag_input != FlagInput::kNone) read_flags(w, in, shape, flag_in);
  args.flag_in = flag_in.lane;
  args.flag_out = flag_out.lane;
  VectorRegister* const to = destination(w, in.dst);
  const bool finished = is_finished(in, shape);
  const bool in_place = finished && exec == ~0ull && to != nullptr && disjoint(args, shape, to);
  for (unsigned d = 0; d < kMaxDwords; ++d) {
    args.out[d] = in_place && d < shape.dst_dwords ? to[d].lane : out[d].lane;
  }
  core(args, w.mode);
  if (shape.dst_dwords != 0 && !in_place) {
    if (!finished) finish(w, in, shape, out);
    commit(w, in.dst, out, shape.dst_dwords, exec);
  }
  if (shape.flag_result) write_flags(w, in, shape, exec, flag_out);
  return Outcome::kNext;
}

}  // namespace halyard::vgpu::isa::valu
