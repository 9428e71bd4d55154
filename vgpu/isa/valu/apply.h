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

// One of the two lanes that are `pair` in rows seen as pairs of lanes: lane 2 * pair + kOdd.
template <bool kOdd>
struct Twin {
  unsigned pair;
};

inline constexpr uint64_t kEvenLane = 0xffffffff;

inline uint64_t lane_pair(const uint32_t* row, unsigned pair) {
  return reinterpret_cast<const uint64_t*>(row)[pair];
}
inline void set_lane_pair(uint32_t* row, unsigned pair, uint64_t value) {
  reinterpret_cast<uint64_t*>(row)[pair] = value;
}

// How a value type travels: its operand type, its dwords, and its conversion from and to them.
template <class T>
struct Carrier;

template <class T, Type kTypeOf>
struct DwordCarrier {
  static constexpr Type kType = kTypeOf;
  static T load(const uint32_t* const* rows, unsigned lane) {
    return std::bit_cast<T>(rows[0][lane]);
  }
  template <bool kOdd>
  static T load(const uint32_t* const* rows, Twin<kOdd> at) {
    return std::bit_cast<T>(static_cast<uint32_t>(lane_pair(rows[0], at.pair) >> (kOdd ? 32 : 0)));
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
// Two halves of a dword, spelled out: a bit_cast of the pair is not vectorised.
template <class Pair, class Half, Type kTypeOf>
struct PairCarrier {
  static constexpr Type kType = kTypeOf;
  static Pair load(const uint32_t* const* rows, unsigned lane) {
    const uint32_t both = rows[0][lane];
    return {std::bit_cast<Half>(static_cast<uint16_t>(both)),
            std::bit_cast<Half>(static_cast<uint16_t>(both >> 16))};
  }
  static void store(const Pair& value, uint32_t* const* rows, unsigned lane) {
    rows[0][lane] = uint32_t{std::bit_cast<uint16_t>(value.lo)} |
                    uint32_t{std::bit_cast<uint16_t>(value.hi)} << 16;
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
  // Both lanes of a pair from and to whole pairs: no vector changes its width or order.
  template <bool kOdd>
  static T load(const uint32_t* const* rows, Twin<kOdd> at) {
    const uint64_t low = lane_pair(rows[0], at.pair), high = lane_pair(rows[1], at.pair);
    return std::bit_cast<T>(kOdd ? low >> 32 | (high & ~kEvenLane)
                                 : (low & kEvenLane) | high << 32);
  }
  static void store(T even, T odd, uint32_t* const* rows, unsigned pair) {
    const uint64_t a = std::bit_cast<uint64_t>(even), b = std::bit_cast<uint64_t>(odd);
    set_lane_pair(rows[0], pair, (a & kEvenLane) | b << 32);
    set_lane_pair(rows[1], pair, a >> 32 | (b & ~kEvenLane));
  }
};

template <>
struct Carrier<uint32_t> : DwordCarrier<uint32_t, Type::kB32> {};
template <>
struct Carrier<int32_t> : DwordCarrier<int32_t, Type::kB32> {};
template <>
struct Carrier<float> : DwordCarrier<float, Type::kF32> {};
template <>
struct Carrier<PkF16> : PairCarrier<PkF16, F16, Type::kPkF16> {};
template <>
struct Carrier<PkU16> : PairCarrier<PkU16, uint16_t, Type::kPkB16> {};
template <>
struct Carrier<PkI16> : PairCarrier<PkI16, int16_t, Type::kPkB16> {};
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
struct Carrier<PkF32> {
  static constexpr Type kType = Type::kPkF32;
  static PkF32 load(const uint32_t* const* rows, unsigned lane) {
    return {std::bit_cast<float>(rows[0][lane]), std::bit_cast<float>(rows[1][lane])};
  }
  static void store(const PkF32& value, uint32_t* const* rows, unsigned lane) {
    rows[0][lane] = std::bit_cast<uint32_t>(value.lo);
    rows[1][lane] = std::bit_cast<uint32_t>(value.hi);
  }
};
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
inline constexpr bool kIsQword =
    std::is_same_v<T, double> || std::is_same_v<T, uint64_t> || std::is_same_v<T, int64_t>;
template <class T>
inline constexpr bool kIsDword = std::is_same_v<T, uint32_t> || std::is_same_v<T, int32_t>;

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
  // Sources of 64 bits, perhaps with some of 32, and no wider or narrower result: for loops over
  // pairs of lanes.
  static constexpr bool kQwords = (kIsQword<A> || ...) &&
                                  ((kIsQword<A> || kIsDword<A> || !kIsSource<A>) && ...) &&
                                  !(std::is_same_v<A, Lane> || ...) && !kFlagInput &&
                                  (std::is_void_v<Value> || kIsQword<Value>);

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

  // Sources in kUniform are the same in all lanes, and come from `amounts`. `at` is the number of a
  // lane, or a Twin.
  template <auto kFunction, unsigned kUniform, class At, size_t... I>
  static R call(const LaneArgs& args, const uint32_t (&amounts)[3], At at, const FloatMode& mode,
                std::index_sequence<I...>) {
    return kFunction(argument<A, source_index(I), kUniform>(args, amounts, at, mode)...);
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
  template <class T, unsigned kSource, unsigned kUniform, class At>
  static decltype(auto) argument(const LaneArgs& args, const uint32_t (&amounts)[3], At at,
                                 const FloatMode& mode) {
    if constexpr (std::is_same_v<T, bool>) {
      return args.flag_in[at] != 0;
    } else if constexpr (std::is_same_v<T, Lane>) {
      return Lane{at};
    } else if constexpr (std::is_same_v<T, const FloatMode&>) {
      return (mode);
    } else if constexpr ((kUniform >> kSource & 1) != 0) {
      static_assert(std::is_same_v<T, uint32_t>);
      return T{amounts[kSource]};
    } else {
      return Carrier<T>::load(args.src[kSource], at);
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

// Values of 64 bits, whose halves are in two rows: two lanes at a time.
template <auto kFunction, unsigned kUniform>
[[gnu::always_inline]] inline void loop_over_pairs(const LaneArgs& rows,
                                                   const uint32_t (&amounts)[3],
                                                   uint32_t* const* out, uint32_t* flag,
                                                   const FloatMode& mode) {
  using S = Signature<decltype(kFunction)>;
#pragma GCC ivdep
  for (unsigned pair = 0; pair < kLanes / 2; ++pair) {
    const auto even = S::template call<kFunction, kUniform>(rows, amounts, Twin<false>{pair}, mode,
                                                            typename S::Indices{});
    const auto odd = S::template call<kFunction, kUniform>(rows, amounts, Twin<true>{pair}, mode,
                                                           typename S::Indices{});
    if constexpr (std::is_void_v<typename S::Value>) {
      set_lane_pair(flag, pair, (even ? kEvenLane : 0) | (odd ? ~kEvenLane : 0));
    } else if constexpr (S::kFlagResult) {
      Carrier<typename S::Value>::store(even.value, odd.value, out, pair);
      set_lane_pair(flag, pair,
                    (even.flag != 0 ? kEvenLane : 0) | (odd.flag != 0 ? ~kEvenLane : 0));
    } else {
      Carrier<typename S::Value>::store(even, odd, out, pair);
    }
  }
}

// Whole rows of an operation that the compiler does not vectorise well: a specialisation has
// static bool run(const LaneArgs&), which does what loop() does in the default mode and returns
// false if a rare case (see core()) makes the results void. kHere says if this build has it.
template <auto kFunction>
struct RowLoop {
  static constexpr bool kHere = false;
};

// The loop. Its results may go to rows that it reads: a lane's sources are read before its results
// are written, and lanes do not meet, which is all that the pragma promises.
template <auto kFunction, unsigned kUniform = 0>
[[gnu::always_inline]] inline void loop(const LaneArgs& args, const FloatMode& mode) {
  using S = Signature<decltype(kFunction)>;
  // Row addresses in locals, which the stores cannot change.
  uint32_t* const out[kMaxDwords] = {args.out[0], args.out[1], args.out[2], args.out[3]};
  uint32_t* const flag = args.flag_out;
  const LaneArgs rows = used_rows<S::shape({})>(args, std::make_index_sequence<3 * kMaxDwords>{});
  uint32_t amounts[3] = {};
  for (unsigned i = 0; i < 3; ++i) {
    if ((kUniform >> i & 1) != 0) amounts[i] = args.src[i][0][0];
  }
  if constexpr (RowLoop<kFunction>::kHere) {
    RowLoop<kFunction>::run(args);
    return;
  }
  if constexpr (S::kQwords) {
    loop_over_pairs<kFunction, kUniform>(rows, amounts, out, flag, mode);
    return;
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

template <auto kFunction>
[[gnu::noinline]] void core_in_default_mode(const LaneArgs& args) {
  loop<kFunction>(args, kDefaultMode);
}

// Out of line, so that no float operation can move out of the rounding scope.
template <auto kFunction>
[[gnu::noinline]] void core_in_any_mode(const LaneArgs& args, const FloatMode& m) {
  const FloatMode mode = m;
  loop<kFunction>(args, mode);
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

// Runs `kFast` in the default mode; false if a rare case came up and the results are void.
template <auto kFunction, auto kFast>
[[gnu::always_inline]] inline bool run_fast(const LaneArgs& args) {
  bool rare = false;
  if constexpr (RowLoop<kFast>::kHere) {
    rare = !RowLoop<kFast>::run(args);
  } else {
    loop<kFast>(args, kDefaultMode);
    if constexpr (Signature<decltype(kFast)>::kFlagResult)
      rare = any_flag(*reinterpret_cast<const LaneBuffer*>(args.flag_out));
  }
  return !rare && !any_nan<typename Signature<decltype(kFunction)>::Value>(
                      reinterpret_cast<const LaneBuffer*>(args.out[0]));
}

// Runs the loop in a mode that is not the default. f32 and f64 results round as the host does, so
// it is switched; f16 results are rounded by half.h, which wants the host in nearest even.
template <auto kFunction>
[[gnu::noinline]] void core_in_other_mode(const LaneArgs& args, const FloatMode& m) {
  using Value = typename Signature<decltype(kFunction)>::Value;
  if constexpr (std::is_same_v<Value, float> || std::is_same_v<Value, PkF32> ||
                (kIsReal<Value> && Signature<decltype(kFunction)>::kF32Sources)) {
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

// Runs the loop in the wave's mode. Results must not overlap sources.
//
// `kFast`, if given, is kFunction without its rules for rare cases: it runs first, and only if a
// NaN comes out, or one of the flags that it returns is set, does the full one run.
template <auto kFunction, auto kFast>
void core(const LaneArgs& args, const FloatMode& m) {
  using S = Signature<decltype(kFunction)>;
  if constexpr (S::kUsesMode) {
    if (!is_default(m)) [[unlikely]]
      return core_in_other_mode<kFunction>(args, m);
  }
  if constexpr (!std::is_same_v<decltype(kFast), std::nullptr_t>) {
    if (run_fast<kFunction, kFast>(args)) return;
  }
  core_in_default_mode<kFunction>(args);
}

template <auto kFunction, auto kFast, auto kClamped, Traits kTraits>
struct Operation {
  using S = Signature<decltype(kFunction)>;
  static constexpr Shape kShape = S::shape(kTraits);

  static_assert(kTraits.amounts == 0 || !S::kUsesMode);

  // Sources whose sign bits NEG and ABS change, as run_general does.
  static constexpr bool kSignable = [] {
    for (const Type type : kShape.src) {
      if (type == Type::kPkB16 || type == Type::kPkF16 || type == Type::kPkF32) return false;
    }
    return !kTraits.mixed_sources;
  }();
  static constexpr bool kHasFast = !std::is_same_v<decltype(kFast), std::nullptr_t>;

#if defined(__AVX2__)
  static constexpr bool kUniformAmounts = false;  // shifts take an amount for each lane
#else
  static constexpr bool kUniformAmounts = kTraits.amounts != 0;
#endif

  static bool amounts_are_uniform(const Instruction& in) {
    for (unsigned i = 0; i < kShape.sources; ++i) {
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
      const uint32_t sign =
          kShape.src[i] == Type::kF16 || kShape.src[i] == Type::kB16 ? 0x8000 : 0x80000000;
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

  // The other half of a dword of which the result fills the lower one.
  static void keep_other(LaneBuffer& out, const VectorRegister* old) {
    if (!kTraits.keeps_other || old == nullptr) return;
    for (unsigned lane = 0; lane < kLanes; ++lane)
      out.lane[lane] = (out.lane[lane] & 0xffff) | (old->lane[lane] & 0xffff0000);
  }

  // The rows of all sources. Spelled out for each, as gcc does not unroll a loop over them.
  template <size_t... I>
  static void fetch(const Wave& w, const Instruction& in, LaneArgs& args, LaneBuffer* scratch,
                    std::index_sequence<I...>) {
    (fetch_one<I>(w, source_operand(in, kShape, I), args, scratch + I * kMaxDwords), ...);
  }
  template <unsigned kSource>
  [[gnu::always_inline]] static void fetch_one(const Wave& w, const Operand& operand,
                                               LaneArgs& args, LaneBuffer* scratch) {
    constexpr unsigned kDwords = kShape.src_dwords[kSource];
    const VectorRegister* const from = vector_source(w, operand);
    if (from == nullptr) [[unlikely]] {
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

  // No modifiers but signs: registers are read in place, and written in place if all lanes are
  // active and nothing has to be taken back.
  static Outcome plain(Wave& w, const Instruction& in) {
    LaneBuffer scratch[kShape.sources == 0 ? 1 : kShape.sources * kMaxDwords];
    LaneBuffer changed[kShape.sources == 0 ? 1 : kShape.sources];
    LaneBuffer flag_in;
    LaneBuffer out[kShape.dst_dwords == 0 ? 1 : kShape.dst_dwords];
    LaneBuffer flag_out;
    LaneArgs args;
    fetch(w, in, args, scratch, std::make_index_sequence<kShape.sources>{});
    if constexpr (kSignable) {
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
      core<kFunction, kFast>(args, w.mode);
      keep_other(out[0], to);
      commit(w, in.dst, out, kShape.dst_dwords, exec);
    } else if constexpr (kHasFast) {
      const bool in_place = !kTraits.keeps_other && exec == ~0ull && to != nullptr &&
                            !overlaps(args, to, std::make_index_sequence<3 * kMaxDwords>{});
      for (unsigned d = 0; d < kShape.dst_dwords; ++d) {
        if (in_place) args.out[d] = to[d].lane;
      }
      if (!run_fast<kFunction, kFast>(args)) [[unlikely]]
        core_in_default_mode<kFunction>(args);
      if (!in_place) {
        keep_other(out[0], to);
        commit(w, in.dst, out, kShape.dst_dwords, exec);
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
      if (kShape.dst_dwords != 0 && !in_place) {
        keep_other(out[0], to);
        commit(w, in.dst, out, kShape.dst_dwords, exec);
      }
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
           !in.clamp && !in.dpp.enabled && !in.sdwa.enabled;
  }

  static Outcome general(Wave& w, const Instruction& in) {
    if constexpr (kSignable) {
      if (only_signs(in)) return plain(w, in);
    }
    if constexpr (!std::is_same_v<decltype(kClamped), std::nullptr_t>) {
      if (in.clamp) return run_general(w, in, kShape, &core<kClamped, nullptr>);
    }
    return run_general(w, in, kShape, &core<kFunction, kFast>);
  }

  static constexpr Opcode opcode(const char* mnemonic) {
    // Mixing, and results in the upper half, are the general path's work.
    constexpr bool kPlain = !kTraits.to_high && !kTraits.mixed_sources;
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
