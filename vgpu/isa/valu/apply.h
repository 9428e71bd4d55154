// Turns a lane operation, a plain function for one lane, into the two handlers of an Opcode.
//
//   inline uint32_t add_u32(uint32_t a, uint32_t b);        // lane_ops_integer.h
//   op<add_u32>("v_add_u32")                                // a row of a table
//
// signature.h says what its parameters mean.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "vgpu/isa/opcode.h"
#include "vgpu/isa/valu/loops.h"
#include "vgpu/isa/valu/operands.h"
#include "vgpu/isa/valu/result_modifiers.h"
#include "vgpu/isa/valu/signature.h"
#include "vgpu/isa/valu/source_changes.h"
#include "vgpu/isa/valu/values.h"

namespace halyard::vgpu::isa::valu {

template <auto kFunction, auto kFast, auto kClamped, Traits kTraits>
struct Operation {
  using S = Signature<decltype(kFunction)>;
  static constexpr Shape kShape = S::shape(kTraits);

  static_assert(kTraits.amounts == 0 || !S::kUsesMode);

  static constexpr bool kPacked = [] {
    for (const Type type : kShape.src) {
      if (type == Type::kPkB16 || type == Type::kPkF16 || type == Type::kPkBF16 ||
          type == Type::kPkF32)
        return true;
    }
    return false;
  }();
  // Sources whose sign bits NEG and ABS change, as run_general does.
  static constexpr bool kSignable = !kPacked && !kTraits.mixed_sources;
  // Sources of which VOP3P selects halves.
  static constexpr bool kSelectable = kPacked || kTraits.mixed_sources;
  static constexpr bool kHasFast = !std::is_same_v<decltype(kFast), std::nullptr_t>;
  // Mixed sources of which the fast loop takes care.
  static constexpr bool kLoopMixes = [] {
    if constexpr (kTraits.mixed_sources) return RowLoop<kFast>::kHere;
    return false;
  }();

#if defined(__AVX2__)
  static constexpr bool kUniformAmounts = false;  // shifts take an amount for each lane
#else
  static constexpr bool kUniformAmounts = kTraits.amounts != 0;
#endif

  static bool amounts_are_uniform(const Instruction& in) {
    for (unsigned i = 0; i < kShape.sources; ++i) {
      if (is_accumulator(kShape, i)) continue;
      const OperandKind kind = source_operand(in, kShape, i).kind;
      const bool vector = kind == OperandKind::kVector || kind == OperandKind::kAcc;
      if ((kTraits.amounts >> i & 1) != 0 && vector) return false;
    }
    return true;
  }

  // Puts changed copies of the rows that hold signs into `scratch`.
  [[gnu::noinline]] static void apply_signs(const Instruction& in, LaneArgs& args,
                                            LaneBuffer* scratch) {
    for (unsigned i = 0; i < kShape.sources; ++i) {
      const uint32_t sign = is_16bit(kShape.src[i]) ? 0x8000 : 0x80000000;
      const uint32_t keep = (in.abs >> i & 1) != 0 ? ~sign : ~0u;
      const uint32_t flip = (in.neg >> i & 1) != 0 ? sign : 0;
      if ((keep == ~0u && flip == 0) || (kShape.accumulates && i + 1u == kShape.sources)) continue;
      const uint32_t*& row = args.src[i][kShape.src_dwords[i] - 1];
      const uint32_t* const from = row;
      uint32_t* const to = scratch[i].lane;
#pragma GCC ivdep
      for (unsigned lane = 0; lane < kLanes; ++lane) to[lane] = (from[lane] & keep) ^ flip;
      row = to;
    }
  }

  // Applies VOP3P's modifiers to the sources.
  template <size_t... I>
  static void change(const Instruction& in, LaneArgs& args, LaneBuffer* copies,
                     std::index_sequence<I...>) {
    (change_vop3p_source(kShape.src[I], in.halves(I), args.src[I], copies + I * kChangedRows), ...);
  }

  // Writes results that are not in their place yet; of a dword of which they fill a half, the other
  // one stays.
  static void write(Wave& w, const Instruction& in, VectorRegister* to, LaneBuffer* out,
                    uint64_t exec) {
    if constexpr (kTraits.keeps_other) {
      if (to == nullptr) return;
      const uint32_t* const result = out->lane;
      const uint32_t* const old = to->lane;
      uint32_t* const merged = exec == ~0ull ? to->lane : out->lane;
#pragma GCC ivdep
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        merged[lane] = kTraits.to_high ? result[lane] << 16 | (old[lane] & 0xffff)
                                       : (result[lane] & 0xffff) | (old[lane] & 0xffff0000);
      }
      if (exec == ~0ull) return;
    }
    commit(w, in.dst, out, kShape.dst_dwords, exec);
  }

  // The rows of all sources. Spelled out for each, as gcc does not unroll a loop over them.
  template <size_t... I>
  static void fetch(const Wave& w, const Instruction& in, LaneArgs& args, LaneBuffer* scratch,
                    std::index_sequence<I...>) {
    (fetch_one<I>(w, in, args, scratch + I * kMaxDwords), ...);
  }
  template <unsigned kSource>
  [[gnu::always_inline]] static void fetch_one(const Wave& w, const Instruction& in, LaneArgs& args,
                                               LaneBuffer* scratch) {
    constexpr unsigned kDwords = kShape.src_dwords[kSource];
    const VectorRegister* from = nullptr;
    if constexpr (is_accumulator(kShape, kSource)) {
      from = vector_source(w, in.dst);
    } else {
      const Operand& operand = source_operand(in, kShape, kSource);
      from = vector_source(w, operand);
      if (from == nullptr) [[unlikely]]
        splat<kDwords>(w, operand, scratch);
    }
    for (unsigned d = 0; d < kDwords; ++d) {
      args.src[kSource][d] = from != nullptr ? from[d].lane : scratch[d].lane;
    }
  }

  // Whether a row of a source is a row of the destination.
  template <size_t... K>
  static bool overlaps(const LaneArgs& args, const VectorRegister* to, std::index_sequence<K...>) {
    if (kTraits.accumulates) return true;
    const auto first = reinterpret_cast<uintptr_t>(to);
    return ((K % kMaxDwords < kShape.src_dwords[K / kMaxDwords] &&
             reinterpret_cast<uintptr_t>(args.src[K / kMaxDwords][K % kMaxDwords]) - first <
                 kShape.dst_dwords * sizeof *to) ||
            ...);
  }

  // No modifiers but signs.
  static Outcome plain(Wave& w, const Instruction& in) { return run<false>(w, in); }

  // Registers are read in place, and written in place if all lanes are active and nothing has to be
  // taken back. kSelects: with VOP3P's selections.
  template <bool kSelects>
  static Outcome run(Wave& w, const Instruction& in) {
    LaneBuffer scratch[kShape.sources == 0 ? 1 : kShape.sources * kMaxDwords];
    LaneBuffer changed[kSelects ? 3 * kChangedRows : kShape.sources == 0 ? 1 : kShape.sources];
    LaneBuffer flag_in;
    LaneBuffer out[kShape.dst_dwords == 0 ? 1 : kShape.dst_dwords];
    LaneBuffer flag_out;
    LaneArgs args;
    fetch(w, in, args, scratch, std::make_index_sequence<kShape.sources>{});
    if constexpr (kLoopMixes) {
      for (unsigned s = 0; s < 3; ++s) args.halves[s] = in.halves(s);
    } else if constexpr (kTraits.mixed_sources) {
      mix_sources(in, w.mode, args, changed);
    } else if constexpr (kSelects) {
      change(in, args, changed, std::make_index_sequence<kShape.sources>{});
    } else if constexpr (kSignable) {
      if ((in.neg | in.abs) != 0) [[unlikely]]
        apply_signs(in, args, changed);
    }
    if constexpr (kShape.flag_input != FlagInput::kNone) {
      expand_mask(kShape.flag_input == FlagInput::kVcc ? w.vcc() : uniform_value(w, in.src[2]),
                  flag_in);
    }
    args.flag_in = flag_in.lane;
    args.flag_out = flag_out.lane;
    for (unsigned d = 0; d < kMaxDwords; ++d) {
      args.out[d] = d < kShape.dst_dwords ? out[d].lane : nullptr;
    }
    const uint64_t exec = w.exec();
    VectorRegister* const to = destination(w, in.dst);
    if (S::kUsesMode && !is_default(w.mode)) [[unlikely]] {
      if constexpr (kLoopMixes) mix_sources(in, w.mode, args, changed);
      core<kFunction, kFast>(args, w.mode);
      write(w, in, to, out, exec);
    } else if constexpr (kHasFast) {
      const bool in_place = (!kTraits.keeps_other || kLoopMixes) && exec == ~0ull &&
                            to != nullptr &&
                            !overlaps(args, to, std::make_index_sequence<3 * kMaxDwords>{});
      for (unsigned d = 0; d < kShape.dst_dwords; ++d) {
        if (in_place) args.out[d] = to[d].lane;
      }
      if constexpr (kLoopMixes) args.old = to != nullptr ? to->lane : out->lane;
      if (run_fast<kFunction, kFast, kLoopMixes>(args)) [[likely]] {
        if (!in_place && kLoopMixes) commit(w, in.dst, out, kShape.dst_dwords, exec);
        if (!in_place && !kLoopMixes) write(w, in, to, out, exec);
      } else if constexpr (kLoopMixes) {
        mix_sources(in, w.mode, args, changed);
        args.out[0] = out->lane;
        core_in_default_mode<kFunction>(args);
        write(w, in, to, out, exec);
      } else {
        core_in_default_mode<kFunction>(args);
        if (!in_place) write(w, in, to, out, exec);
      }
    } else {
      const bool in_place =
          kShape.dst_dwords != 0 && !kTraits.keeps_other && exec == ~0ull && to != nullptr;
      for (unsigned d = 0; d < kShape.dst_dwords; ++d) {
        if (in_place) args.out[d] = to[d].lane;
      }
      if (kUniformAmounts && amounts_are_uniform(in)) {
        loop<kFunction, kUniformAmounts ? kTraits.amounts : 0>(args, kDefaultMode);
      } else {
        loop<kFunction>(args, kDefaultMode);
      }
      if (kShape.dst_dwords != 0 && !in_place) write(w, in, to, out, exec);
    }
    if constexpr (kShape.flag_result) {
      const uint64_t mask = pack_mask(flag_out) & exec;
      commit_mask(w, in.sdst, mask);
      if constexpr (kShape.exec_result) w.set_exec(mask);
    }
    return Outcome::kNext;
  }

  // Whether NEG and ABS are all that the encoding has, so that plain() can execute it.
  static bool only_signs(const Instruction& in) {
    return (in.neg | in.abs) != 0 && in.format == Format::kVop3 && in.op_sel == 0 && in.omod == 0 &&
           !in.clamp && !in.has_dpp && !in.has_sdwa;
  }

  static Outcome general(Wave& w, const Instruction& in) {
    if constexpr (kSignable) {
      if (only_signs(in)) return plain(w, in);
    }
    if constexpr (kSelectable) {
      if (in.format == Format::kVop3p && !in.clamp) return run<true>(w, in);
    }
    if constexpr (!std::is_same_v<decltype(kClamped), std::nullptr_t>) {
      if (in.clamp) return run_general(w, in, kShape, &core<kClamped, nullptr>);
    }
    return run_general(w, in, kShape, &core<kFunction, kFast>);
  }

  static constexpr Opcode opcode(Op name) {
    // Mixing, and results in the upper half, are never without modifiers.
    constexpr bool kPlain = !kTraits.to_high && !kTraits.mixed_sources;
    Opcode o{name, kPlain ? &plain : nullptr, &general};
    o.is_typed = true;
    o.dst = kShape.dst;
    for (unsigned i = 0; i < 3; ++i) {
      // An accumulator is the destination, not an operand of the encoding.
      const bool encoded = !(kTraits.accumulates && i + 1u == kShape.sources);
      o.src[i] = encoded ? kShape.src[i] : Type::kNone;
    }
    if (kShape.flag_input == FlagInput::kSource2) o.src[2] = Type::kMask;
    return o;
  }
};

// Rows of the opcode tables.
template <auto kFunction, Traits kTraits = Traits{}>
constexpr Opcode op(Op name) {
  return Operation<kFunction, nullptr, nullptr, kTraits>::opcode(name);
}
// kFast: see core().
template <auto kFunction, auto kFast, Traits kTraits = Traits{}>
constexpr Opcode op_fast(Op name) {
  return Operation<kFunction, kFast, nullptr, kTraits>::opcode(name);
}
// kClamped: what an integer operation does instead if CLAMP is set.
template <auto kFunction, auto kClamped, Traits kTraits = Traits{}>
constexpr Opcode op_clamp(Op name) {
  return Operation<kFunction, nullptr, kClamped, kTraits>::opcode(name);
}

}  // namespace halyard::vgpu::isa::valu
