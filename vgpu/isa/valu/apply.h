// Turns a lane operation, a plain function for one lane, into the two handlers of an Opcode.
//
//   inline uint32_t add_u32(uint32_t a, uint32_t b);        // lane_ops_integer.h
//   op<add_u32>("v_add_u32")                                // a row of a table
//
// Operand types, and with them the Opcode's Types, follow from the function's signature: each
// parameter is a source in order, except `bool` (carry in or condition), `Lane` (the lane's number)
// and `const FloatMode&`. The result is a value, `bool` (a lane mask: compares) or Flagged<T>.
#pragma once

#include <cstddef>
#include <cstring>
#include <utility>

#include "vgpu/isa/opcode.h"
#include "vgpu/isa/valu/operands.h"
#include "vgpu/isa/valu/values.h"

namespace halyard::vgpu::isa::valu {

// How a value type travels: its operand type, its dwords, and its conversion from and to them.
template <class T>
struct Carrier;

template <class T, Type kTypeOf>
struct DwordCarrier {
  static constexpr Type kType = kTypeOf;
  static T load(const uint32_t* const* rows, unsigned lane) {
    return std::bit_cast<T>(rows[0][lane]);
  }
  static void store(T value, uint32_t* const* rows, unsigned lane) {
    rows[0][lane] = std::bit_cast<uint32_t>(value);
  }
};
template <class T, Type kTypeOf>
struct WordCarrier {
  static constexpr Type kType = kTypeOf;
  static T load(const uint32_t* const* rows, unsigned lane) {
    return std::bit_cast<T>(static_cast<uint16_t>(rows[0][lane]));
  }
  static void store(T value, uint32_t* const* rows, unsigned lane) {
    rows[0][lane] = std::bit_cast<uint16_t>(value);
  }
};
template <class T, Type kTypeOf>
struct QwordCarrier {
  static constexpr Type kType = kTypeOf;
  static T load(const uint32_t* const* rows, unsigned lane) {
    return std::bit_cast<T>(static_cast<uint64_t>(rows[1][lane]) << 32 | rows[0][lane]);
  }
  static void store(T value, uint32_t* const* rows, unsigned lane) {
    const uint64_t bits = std::bit_cast<uint64_t>(value);
    rows[0][lane] = static_cast<uint32_t>(bits);
    rows[1][lane] = static_cast<uint32_t>(bits >> 32);
  }
};

template <>
struct Carrier<uint32_t> : DwordCarrier<uint32_t, Type::kB32> {};
template <>
struct Carrier<int32_t> : DwordCarrier<int32_t, Type::kB32> {};
template <>
struct Carrier<float> : DwordCarrier<float, Type::kF32> {};
template <>
struct Carrier<PkF16> : DwordCarrier<PkF16, Type::kPkF16> {};
template <>
struct Carrier<PkU16> : DwordCarrier<PkU16, Type::kPkB16> {};
template <>
struct Carrier<PkI16> : DwordCarrier<PkI16, Type::kPkB16> {};
template <>
struct Carrier<uint16_t> : WordCarrier<uint16_t, Type::kB16> {};
template <>
struct Carrier<int16_t> : WordCarrier<int16_t, Type::kB16> {};
template <>
struct Carrier<F16> : WordCarrier<F16, Type::kF16> {};
template <>
struct Carrier<uint64_t> : QwordCarrier<uint64_t, Type::kB64> {};
template <>
struct Carrier<int64_t> : QwordCarrier<int64_t, Type::kI64> {};
template <>
struct Carrier<double> : QwordCarrier<double, Type::kF64> {};
template <>
struct Carrier<PkF32> : QwordCarrier<PkF32, Type::kPkF32> {};
template <>
struct Carrier<B128> {
  static constexpr Type kType = Type::kB128;
  static B128 load(const uint32_t* const* rows, unsigned lane) {
    return {{rows[0][lane], rows[1][lane], rows[2][lane], rows[3][lane]}};
  }
  static void store(const B128& value, uint32_t* const* rows, unsigned lane) {
    for (unsigned d = 0; d < 4; ++d) rows[d][lane] = value.dword[d];
  }
};

template <class T>
inline constexpr bool kIsSource =
    !std::is_same_v<T, bool> && !std::is_same_v<T, Lane> && !std::is_same_v<T, const FloatMode&>;

template <class T>
struct ResultOf {
  using Value = T;
  static constexpr bool kFlag = false;
};
template <>
struct ResultOf<bool> {
  using Value = void;
  static constexpr bool kFlag = true;
};
template <class T>
struct ResultOf<Flagged<T>> {
  using Value = T;
  static constexpr bool kFlag = true;
};

template <class T>
inline constexpr bool kIsReal =
    std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, F16> ||
    std::is_same_v<T, PkF16> || std::is_same_v<T, PkF32>;

// What an operation needs beyond what its signature says.
struct Traits {
  bool accumulates = false;
  bool literal_multiplicand = false;
  bool keeps_other = false;
  bool to_high = false;
  bool mixed_sources = false;
  bool reads_vcc = false;
  bool writes_exec = false;
  // Sources (a bit for each) that are shift amounts or widths. Baseline x86-64 shifts all lanes by
  // one amount only, so a loop for amounts that are the same in all lanes is worth having.
  unsigned amounts = 0;
};

template <class Function>
struct Signature;

template <class R, class... A>
struct Signature<R (*)(A...)> {
  using Result = R;
  using Value = typename ResultOf<R>::Value;
  static constexpr bool kFlagResult = ResultOf<R>::kFlag;
  static constexpr bool kFlagInput = (std::is_same_v<A, bool> || ...);
  static constexpr bool kUsesMode = (std::is_same_v<A, const FloatMode&> || ...);
  static constexpr bool kF32Sources = (std::is_same_v<A, float> || ...);
  static constexpr unsigned kSources = (0u + ... + (kIsSource<A> ? 1u : 0u));

  // Source number of parameter `i`.
  static constexpr unsigned source_index(size_t i) {
    constexpr bool kFlags[] = {kIsSource<A>...};
    unsigned n = 0;
    for (size_t k = 0; k < i; ++k) n += kFlags[k];
    return n;
  }

  static constexpr Shape shape(const Traits& traits) {
    Shape s;
    if constexpr (!std::is_void_v<Value>) {
      s.dst = Carrier<Value>::kType;
      s.float_result = kIsReal<Value>;
    } else {
      s.dst = Type::kMask;
    }
    s.dst_dwords = dwords_of(s.dst);
    (add_source<A>(s), ...);
    s.flag_result = kFlagResult;
    s.exec_result = traits.writes_exec;
    s.accumulates = traits.accumulates;
    s.literal_multiplicand = traits.literal_multiplicand;
    s.keeps_other = traits.keeps_other;
    s.to_high = traits.to_high;
    s.mixed_sources = traits.mixed_sources;
    if (kFlagInput) s.flag_input = traits.reads_vcc ? FlagInput::kVcc : FlagInput::kSource2;
    return s;
  }

  // Sources in kUniform are the same in all lanes, and come from `amounts`.
  template <auto kFunction, unsigned kUniform, size_t... I>
  static R call(const LaneArgs& args, const uint32_t (&amounts)[3], unsigned lane,
                const FloatMode& mode, std::index_sequence<I...>) {
    return kFunction(argument<A, source_index(I), kUniform>(args, amounts, lane, mode)...);
  }
  using Indices = std::index_sequence_for<A...>;

 private:
  template <class T>
  static constexpr void add_source(Shape& s) {
    if constexpr (kIsSource<T>) {
      s.src[s.sources] = Carrier<T>::kType;
      s.src_dwords[s.sources] = dwords_of(Carrier<T>::kType);
      ++s.sources;
    }
  }
  template <class T, unsigned kSource, unsigned kUniform>
  static decltype(auto) argument(const LaneArgs& args, const uint32_t (&amounts)[3], unsigned lane,
                                 const FloatMode& mode) {
    if constexpr (std::is_same_v<T, bool>) {
      return args.flag_in[lane] != 0;
    } else if constexpr (std::is_same_v<T, Lane>) {
      return Lane{lane};
    } else if constexpr (std::is_same_v<T, const FloatMode&>) {
      return (mode);
    } else if constexpr ((kUniform >> kSource & 1) != 0) {
      static_assert(std::is_same_v<T, uint32_t>);
      return T{amounts[kSource]};
    } else {
      return Carrier<T>::load(args.src[kSource], lane);
    }
  }
};

// The rows that an operation of this shape reads. Not a loop over them: gcc would unroll it too
// late to keep the copies in registers.
template <Shape kShape, size_t... K>
LaneArgs used_rows(const LaneArgs& args, std::index_sequence<K...>) {
  LaneArgs rows{};
  ((K % kMaxDwords < kShape.src_dwords[K / kMaxDwords]
        ? void(rows.src[K / kMaxDwords][K % kMaxDwords] = args.src[K / kMaxDwords][K % kMaxDwords])
        : void()),
   ...);
  rows.flag_in = args.flag_in;
  return rows;
}

// The loop. `out` and `flag` are LaneArgs' outputs, as parameters because only there does
// __restrict mean something to both compilers.
template <auto kFunction, unsigned kUniform = 0>
[[gnu::always_inline]] inline void loop(const LaneArgs& args, const FloatMode& mode,
                                        uint32_t* __restrict out0, uint32_t* __restrict out1,
                                        uint32_t* __restrict out2, uint32_t* __restrict out3,
                                        uint32_t* __restrict flag) {
  using S = Signature<decltype(kFunction)>;
  uint32_t* const out[kMaxDwords] = {out0, out1, out2, out3};
  // Row addresses in a local, which the stores cannot change.
  const LaneArgs rows = used_rows<S::shape({})>(args, std::make_index_sequence<3 * kMaxDwords>{});
  uint32_t amounts[3] = {};
  for (unsigned i = 0; i < 3; ++i) {
    if ((kUniform >> i & 1) != 0) amounts[i] = args.src[i][0][0];
  }
#pragma GCC ivdep
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const auto result =
        S::template call<kFunction, kUniform>(rows, amounts, lane, mode, typename S::Indices{});
    if constexpr (std::is_void_v<typename S::Value>) {
      flag[lane] = result ? ~0u : 0u;
    } else if constexpr (S::kFlagResult) {
      Carrier<typename S::Value>::store(result.value, out, lane);
      flag[lane] = 0u - result.flag;
    } else {
      Carrier<typename S::Value>::store(result, out, lane);
    }
  }
}

template <auto kFunction, unsigned kUniform = 0>
[[gnu::noinline]] void core_in_default_mode(const LaneArgs& args) {
  loop<kFunction, kUniform>(args, kDefaultMode, args.out[0], args.out[1], args.out[2], args.out[3],
                            args.flag_out);
}

// Out of line, so that no float operation can move out of the rounding scope.
template <auto kFunction>
[[gnu::noinline]] void core_in_any_mode(const LaneArgs& args, const FloatMode& m) {
  const FloatMode mode = m;
  loop<kFunction>(args, mode, args.out[0], args.out[1], args.out[2], args.out[3], args.flag_out);
}

template <class T>
bool any_nan(const LaneBuffer* rows) {
  if constexpr (std::is_same_v<T, double>) {
    return any_nan64(rows[0], rows[1]);
  } else if constexpr (std::is_same_v<T, PkF32>) {
    return any_nan32(rows[0]) || any_nan32(rows[1]);
  } else if constexpr (std::is_same_v<T, float>) {
    return any_nan32(rows[0]);
  } else {
    return any_nan16(rows[0]);
  }
}

// Runs the loop in the wave's mode. f32 and f64 results round as the host does, so it is switched;
// f16 results are rounded by half.h, which wants the host in nearest even.
//
// `kFast`, if given, is kFunction without its rules for rare cases: it runs first, and only if a
// NaN comes out, or one of the flags that it returns is set, does the full one run.
template <auto kFunction, auto kFast>
void core(const LaneArgs& args, const FloatMode& m) {
  using S = Signature<decltype(kFunction)>;
  using Value = typename S::Value;
  if constexpr (!S::kUsesMode) {
    core_in_default_mode<kFunction>(args);
  } else if (is_default(m)) [[likely]] {
    if constexpr (!std::is_same_v<decltype(kFast), std::nullptr_t>) {
      core_in_default_mode<kFast>(args);
      bool rare = any_nan<Value>(reinterpret_cast<const LaneBuffer*>(args.out[0]));
      if constexpr (Signature<decltype(kFast)>::kFlagResult) {
        rare = rare || any_flag(*reinterpret_cast<const LaneBuffer*>(args.flag_out));
      }
      if (!rare) [[likely]]
        return;
    }
    core_in_default_mode<kFunction>(args);
  } else if constexpr (std::is_same_v<Value, float> || std::is_same_v<Value, PkF32> ||
                       (kIsReal<Value> && S::kF32Sources)) {
    // Also v_mad_mixlo and its kin: an f32 sum, whose rounding to f16 does not depend on the host.
    const RoundingScope scope(m.round_f32);
    core_in_any_mode<kFunction>(args, m);
  } else if constexpr (std::is_same_v<Value, double>) {
    const RoundingScope scope(m.round_f16_f64);
    core_in_any_mode<kFunction>(args, m);
  } else {
    core_in_any_mode<kFunction>(args, m);
  }
}

template <auto kFunction, auto kFast, auto kClamped, Traits kTraits>
struct Operation {
  using S = Signature<decltype(kFunction)>;
  static constexpr Shape kShape = S::shape(kTraits);
  static constexpr unsigned kRows =
      kShape.src_dwords[0] + kShape.src_dwords[1] + kShape.src_dwords[2];

  static_assert(kTraits.amounts == 0 || !S::kUsesMode);

  static bool amounts_are_uniform(const Instruction& in) {
    for (unsigned i = 0; i < kShape.sources; ++i) {
      const OperandKind kind = source_operand(in, kShape, i).kind;
      const bool vector = kind == OperandKind::kVector || kind == OperandKind::kAcc;
      if ((kTraits.amounts >> i & 1) != 0 && vector) return false;
    }
    return true;
  }

  // No modifiers: registers are read in place.
  static Outcome plain(Wave& w, const Instruction& in) {
    LaneBuffer scratch[kRows == 0 ? 1 : kRows];
    LaneBuffer flag_in;
    LaneBuffer out[kShape.dst_dwords == 0 ? 1 : kShape.dst_dwords];
    LaneBuffer flag_out;
    LaneArgs args;
    LaneBuffer* next = scratch;
    for (unsigned i = 0; i < kShape.sources; ++i) {
      const Operand& operand = source_operand(in, kShape, i);
      for (unsigned d = 0; d < kShape.src_dwords[i]; ++d) {
        args.src[i][d] = row(w, operand, d, *next++);
      }
    }
    if constexpr (kShape.flag_input != FlagInput::kNone) {
      expand_mask(kShape.flag_input == FlagInput::kVcc ? w.vcc() : uniform_value(w, in.src[2]),
                  flag_in);
    }
    args.flag_in = flag_in.lane;
    for (unsigned d = 0; d < kMaxDwords; ++d) {
      args.out[d] = d < kShape.dst_dwords ? out[d].lane : nullptr;
    }
    args.flag_out = flag_out.lane;
    if (kTraits.amounts != 0 && amounts_are_uniform(in)) {
      core_in_default_mode<kFunction, kTraits.amounts>(args);
    } else {
      core<kFunction, kFast>(args, w.mode);
    }
    const uint64_t exec = w.exec();
    if constexpr (kShape.dst_dwords != 0) commit(w, in.dst, out, kShape.dst_dwords, exec);
    if constexpr (kShape.flag_result) {
      const uint64_t mask = pack_mask(flag_out) & exec;
      commit_mask(w, in.sdst, mask);
      if constexpr (kShape.exec_result) w.set_exec(mask);
    }
    return Outcome::kNext;
  }

  static Outcome general(Wave& w, const Instruction& in) {
    if constexpr (!std::is_same_v<decltype(kClamped), std::nullptr_t>) {
      if (in.clamp) return run_general(w, in, kShape, &core<kClamped, nullptr>);
    }
    return run_general(w, in, kShape, &core<kFunction, kFast>);
  }

  static constexpr Opcode opcode(const char* mnemonic) {
    // Merging and mixing are the general path's work.
    constexpr bool kPlain = !kTraits.keeps_other && !kTraits.mixed_sources;
    Opcode o{mnemonic, kPlain ? &plain : nullptr, &general};
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
constexpr Opcode op(const char* mnemonic) {
  return Operation<kFunction, nullptr, nullptr, kTraits>::opcode(mnemonic);
}
// kFast: see core().
template <auto kFunction, auto kFast, Traits kTraits = Traits{}>
constexpr Opcode op_fast(const char* mnemonic) {
  return Operation<kFunction, kFast, nullptr, kTraits>::opcode(mnemonic);
}
// kClamped: what an integer operation does instead if CLAMP is set.
template <auto kFunction, auto kClamped, Traits kTraits = Traits{}>
constexpr Opcode op_clamp(const char* mnemonic) {
  return Operation<kFunction, nullptr, kClamped, kTraits>::opcode(mnemonic);
}

}  // namespace halyard::vgpu::isa::valu
