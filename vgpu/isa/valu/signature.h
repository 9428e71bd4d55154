// What a lane operation, a plain function for one lane, says by its signature.
//
// Operand types, and with them the Opcode's Types, follow from it: each parameter is a source in
// order, except `bool` (carry in or condition), `Lane` (the lane's number) and `const FloatMode&`.
// The result is a value, `bool` (a lane mask: compares) or Flagged<T>.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "vgpu/isa/opcode.h"
#include "vgpu/isa/valu/carriers.h"
#include "vgpu/isa/valu/operands.h"
#include "vgpu/isa/valu/values.h"

namespace halyard::vgpu::isa::valu {

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
    std::is_same_v<T, PkF16> || std::is_same_v<T, PkBF16> || std::is_same_v<T, PkF32>;

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
      s.dst_dwords = static_cast<uint8_t>(dwords_of(s.dst));
      s.float_result = kIsReal<Value>;
    } else {
      s.dst = Type::kMask;
    }
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
      s.src_dwords[s.sources] = static_cast<uint8_t>(dwords_of(Carrier<T>::kType));
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

}  // namespace halyard::vgpu::isa::valu
