// A lane operation over all lanes of its rows, in the wave's mode of floats.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "vgpu/isa/valu/operands.h"
#include "vgpu/isa/valu/signature.h"
#include "vgpu/isa/valu/values.h"

namespace halyard::vgpu::isa::valu {

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
// false if a rare case (see core()) makes the results void. kHere says if this build has it, and
// kFindsNans, which may be left out, that a NaN among the results counts as rare. Of mixed sources,
// run() is the loop for those that are f32 by now; run_mixed() widens them by itself, and leaves
// the other half of each dword as it was where the result fills one.
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
  if constexpr (!kIsReal<T>) {
    return false;
  } else if constexpr (std::is_same_v<T, double>) {
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
template <auto kFunction, auto kFast, bool kMixed = false>
[[gnu::always_inline]] inline bool run_fast(const LaneArgs& args) {
  bool rare = false;
  if constexpr (RowLoop<kFast>::kHere) {
    if constexpr (kMixed) {
      rare = !RowLoop<kFast>::run_mixed(args);
    } else {
      rare = !RowLoop<kFast>::run(args);
    }
    if constexpr (requires { requires RowLoop<kFast>::kFindsNans; }) return !rare;
  } else {
    loop<kFast>(args, kDefaultMode);
    if constexpr (Signature<decltype(kFast)>::kFlagResult)
      rare = any_flag(*reinterpret_cast<const LaneBuffer*>(args.flag_out));
  }
  return !rare && !any_nan<typename Signature<decltype(kFunction)>::Value>(
                      reinterpret_cast<const LaneBuffer*>(args.out[0]));
}

// Runs the loop in a mode other than the default. f32 and f64 results round in the host's mode, so
// it is switched; half.h rounds f16 results, and needs the host in nearest even.
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

}  // namespace halyard::vgpu::isa::valu
