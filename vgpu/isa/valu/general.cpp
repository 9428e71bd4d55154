// The modifiers: DPP and SDWA on sources, op_sel, neg and abs, omod and clamp, partial writes.

#include "vgpu/isa/valu/dpp.h"
#include "vgpu/isa/valu/operands.h"
#include "vgpu/isa/valu/result_modifiers.h"
#include "vgpu/isa/valu/source_changes.h"

namespace halyard::vgpu::isa::valu {
namespace {

// The rows of an operand that is the same in all lanes.
void splat_rows(const Wave& w, const Operand& operand, unsigned dwords, LaneBuffer* rows) {
  if (dwords == 1) {
    splat<1>(w, operand, rows);
  } else if (dwords == 2) {
    splat<2>(w, operand, rows);
  } else {
    splat<kMaxDwords>(w, operand, rows);
  }
}

// Omod and clamp on a result, and what a partial one leaves of its dword.
[[gnu::noinline]] void finish(const Wave& w, const Instruction& in, const Shape& shape,
                              LaneBuffer* out) {
  if (shape.float_result && (in.omod != 0 || in.clamp)) {
    const bool single =
        shape.dst == Type::kF32 || shape.dst == Type::kPkF32 || shape.dst == Type::kPkBF16;
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
  return dwords == 1 && (in.has_dpp || in.has_sdwa) && !shape.mixed_sources &&
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
    // An accumulator is a register.
    const VectorRegister* const from = is_accumulator(shape, i)
                                           ? vector_source(w, in.dst)
                                           : vector_source(w, source_operand(in, shape, i));
    if (from == nullptr) [[unlikely]]
      splat<1>(w, source_operand(in, shape, i), &buffer[i]);
    args.src[i][0] = from != nullptr ? from->lane : buffer[i].lane;
  };
  [[maybe_unused]] const auto select = [&](unsigned i) __attribute__((always_inline)) {
    const bool accumulator = shape.accumulates && i + 1u == shape.sources;
    if (i >= shape.sources || accumulator) return;
    const SubDword sel = in.extra->sdwa.src_sel[i];
    if (sel == SubDword::kDword) return;
    if (in.extra->sdwa.sext[i]) {
      extend_row(sel, args.src[i][0], buffer[i].lane);
    } else {
      change_row(static_cast<unsigned>(sel), ~0u, 0, args.src[i][0], buffer[i].lane);
    }
    args.src[i][0] = buffer[i].lane;
  };
  const auto change_sign = [&](unsigned i) __attribute__((always_inline)) {
    const bool accumulator = shape.accumulates && i + 1u == shape.sources;
    if (i >= shape.sources || accumulator || ((in.neg | in.abs) >> i & 1) == 0) return;
    const uint32_t sign = is_16bit(shape.src[i]) ? 0x8000 : 0x80000000;
    const uint32_t keep = (in.abs >> i & 1) != 0 ? ~sign : ~0u;
    const uint32_t flip = (in.neg >> i & 1) != 0 ? sign : 0;
    change_row(kDword, keep, flip, args.src[i][0], buffer[i].lane);
    args.src[i][0] = buffer[i].lane;
  };
  fetch(0);
  fetch(1);
  fetch(2);
  uint64_t exec = w.exec();
  if constexpr (kDpp) {
    const DppLanes lanes = dpp_lanes(in.extra->dpp, exec);
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

// All other cases. Separate from run_general(), so that it needs no stack frame.
[[gnu::noinline]] Outcome run_any(Wave& w, const Instruction& in, const Shape& shape, Core core) {
  LaneArgs args{};
  LaneBuffer buffer[3][kMaxDwords];
  LaneBuffer copies[3 * kChangedRows];
  for (unsigned i = 0; i < shape.sources; ++i) {
    const Operand operand =
        is_accumulator(shape, i) ? Operand(in.dst) : source_operand(in, shape, i);
    const VectorRegister* const from = vector_source(w, operand);
    if (from == nullptr) {
      splat_rows(w, operand, shape.src_dwords[i], buffer[i]);
    }
    for (unsigned d = 0; d < shape.src_dwords[i]; ++d) {
      args.src[i][d] = from != nullptr ? from[d].lane : buffer[i][d].lane;
    }
  }
  uint64_t exec = w.exec();
  if (in.has_dpp) {
    const DppLanes lanes = dpp_lanes(in.extra->dpp, exec);
    for (unsigned d = 0; d < shape.src_dwords[0]; ++d) {
      permute(lanes.control, lanes.valid, args.src[0][d], buffer[0][d].lane);
      args.src[0][d] = buffer[0][d].lane;
    }
    exec &= lanes.written;
  }
  if (shape.mixed_sources) {
    mix_sources(in, w.mode, args, copies);
  } else {
    change_sources(in, shape, args, copies);
  }

  LaneBuffer flag_in;
  LaneBuffer flag_out;
  LaneBuffer out[kMaxDwords];
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

}  // namespace

Outcome run_general(Wave& w, const Instruction& in, const Shape& shape, Core core) {
  if (is_of_dwords(in, shape)) {
    return in.has_dpp ? run_dwords<true>(w, in, shape, core)
                      : run_dwords<false>(w, in, shape, core);
  }
  return run_any(w, in, shape, core);
}

}  // namespace halyard::vgpu::isa::valu
