// What follows an operation: omod and clamp, and results that fill a part of their dword.
#pragma once

#include "vgpu/isa/valu/half.h"
#include "vgpu/isa/valu/operands.h"
#include "vgpu/isa/valu/values.h"

namespace halyard::vgpu::isa::valu {

constexpr bool is_16bit(Type type) {
  return type == Type::kF16 || type == Type::kB16 || type == Type::kBF16;
}

inline unsigned sub_dword_shift(SubDword sel) {
  switch (sel) {
    case SubDword::kByte1:
      return 8;
    case SubDword::kByte2:
    case SubDword::kWord1:
      return 16;
    case SubDword::kByte3:
      return 24;
    default:
      return 0;
  }
}
inline unsigned sub_dword_bits(SubDword sel) {
  if (sel >= SubDword::kDword) return 32;
  return sel >= SubDword::kWord0 ? 16 : 8;
}

// Scaling by a power of two, as OMOD codes it: a multiplication, which the host rounds for f32 and
// f64.
template <class T>
T scaled(T x, unsigned omod, const FloatMode& m) {
  constexpr double kFactor[] = {1, 2, 4, 0.5};
  if constexpr (std::is_same_v<T, F16>) {
    return is_nan(x) ? x : to_f16(to_f64(x) * kFactor[omod], m);
  } else {
    return is_nan(x) ? x : x * static_cast<T>(kFactor[omod]);
  }
}

template <class T>
T one() {
  return from_bits<T>(
      static_cast<BitsOf<T>>(static_cast<BitsOf<T>>(Real<T>::kBias) << Real<T>::kMantissaBits));
}

// OMOD, then CLAMP (Vega ISA 6.2.2, "Output modifiers"): OMOD does nothing in IEEE mode or while
// output denormals are kept, and turns -0 into +0 (LLVM's SIFoldOperands says the same). CLAMP
// gives [0, 1]; a NaN becomes 0 in DX10_CLAMP mode.
template <class T>
T with_omod(T x, unsigned omod, const FloatMode& m) {
  const T r = flush(scaled(x, omod, m));
  return is_zero(r) ? zero<T>(false) : r;
}
template <class T>
T clamped(T x, bool nan_is_zero) {
  T r = magnitude_bits(x) > to_bits(one<T>()) ? one<T>() : x;
  r = is_negative(x) ? zero<T>(false) : r;
  return is_nan(x) ? (nan_is_zero ? zero<T>(false) : x) : r;
}

// Replaces all values, of type T, in the results' rows.
template <class T, class F>
void replace(Type type, LaneBuffer* out, F value) {
  if constexpr (std::is_same_v<T, double>) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const uint64_t high = out[1].lane[lane];
      const uint64_t bits = to_bits(value(from_bits<double>(high << 32 | out[0].lane[lane])));
      out[0].lane[lane] = static_cast<uint32_t>(bits);
      out[1].lane[lane] = static_cast<uint32_t>(bits >> 32);
    }
  } else if constexpr (std::is_same_v<T, float>) {
    if (type == Type::kPkBF16) {
      // As f32: what scaling and bounding make of an f32 that ends with 16 zeros ends so too.
      for (uint32_t& lane : out[0].lane) {
        const uint32_t low = to_bits(value(from_bits<float>(lane << 16))) >> 16;
        lane = low | (to_bits(value(from_bits<float>(lane & 0xffff0000))) & 0xffff0000);
      }
      return;
    }
    for (unsigned d = 0; d < (type == Type::kPkF32 ? 2u : 1u); ++d) {
      for (uint32_t& lane : out[d].lane) lane = to_bits(value(from_bits<float>(lane)));
    }
  } else {
    const bool packed = type == Type::kPkF16;
    for (uint32_t& lane : out[0].lane) {
      const uint32_t low = value(F16{static_cast<uint16_t>(lane)}).bits;
      const uint32_t high = value(F16{static_cast<uint16_t>(lane >> 16)}).bits;
      lane = packed ? low | high << 16 : low;
    }
  }
}
template <class T>
void modify_results(const Instruction& in, const FloatMode& m, LaneBuffer* out, Type type) {
  if (in.omod != 0 && !m.ieee && (Real<T>::denorm(m) & 2) == 0) {
    replace<T>(type, out, [&](T x) { return with_omod(x, in.omod, m); });
  }
  if (in.clamp) {
    const bool nan_is_zero = m.dx10_clamp;
    replace<T>(type, out, [=](T x) { return clamped(x, nan_is_zero); });
  }
}

// Out of line, so that no float operation can move out of the caller's rounding scope.
[[gnu::noinline]] inline void modify_results(const Instruction& in, const FloatMode& m, Type type,
                                             LaneBuffer* out) {
  if (type == Type::kF32 || type == Type::kPkF32 || type == Type::kPkBF16)
    return modify_results<float>(in, m, out, type);
  if (type == Type::kF16 || type == Type::kPkF16) return modify_results<F16>(in, m, out, type);
  if (type == Type::kF64) modify_results<double>(in, m, out, type);
}

// The destination dword of SDWA: the result in the selected part, the rest as dst_unused says.
inline void merge_sdwa(const Sdwa& sdwa, const uint32_t* old, uint32_t* value) {
  const unsigned bits = sub_dword_bits(sdwa.dst_sel);
  if (bits == 32) return;
  const unsigned shift = sub_dword_shift(sdwa.dst_sel);
  const uint32_t part = ((1u << bits) - 1) << shift;
  if (sdwa.dst_unused == DstUnused::kSext) {
    // Sign extension fills what lies above the part; what lies below is padded.
    const unsigned up = 32 - bits, down = up - shift;
    for (unsigned lane = 0; lane < kLanes; ++lane)
      value[lane] = static_cast<uint32_t>(static_cast<int32_t>(value[lane] << up) >> down);
    return;
  }
  const uint32_t keep = sdwa.dst_unused == DstUnused::kPreserve ? ~part : 0;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    value[lane] = (value[lane] << shift & part) | (old[lane] & keep);
}

inline bool goes_to_high(const Instruction& in, const Shape& shape) {
  return shape.to_high ||
         (is_16bit(shape.dst) && (in.op_sel & 8) != 0 && in.format == Format::kVop3);
}

// Whether a result fills only a part of its dword.
inline bool is_partial(const Instruction& in, const Shape& shape) {
  return in.has_sdwa ? in.extra->sdwa.dst_sel < SubDword::kDword
                     : goes_to_high(in, shape) || shape.keeps_other;
}

inline void merge_destination(const Wave& w, const Instruction& in, const Shape& shape,
                              LaneBuffer& out) {
  LaneBuffer scratch;
  const uint32_t* const old = row(w, in.dst, 0, scratch);
  if (in.has_sdwa) return merge_sdwa(in.extra->sdwa, old, out.lane);
  if (goes_to_high(in, shape)) {
    for (unsigned lane = 0; lane < kLanes; ++lane)
      out.lane[lane] = out.lane[lane] << 16 | (old[lane] & 0xffff);
  } else {
    for (unsigned lane = 0; lane < kLanes; ++lane)
      out.lane[lane] = (out.lane[lane] & 0xffff) | (old[lane] & 0xffff0000);
  }
}

// Whether no source's row is one of the `dwords` rows from `to`.
inline bool disjoint(const LaneArgs& args, const Shape& shape, const VectorRegister* to) {
  const auto first = reinterpret_cast<uintptr_t>(to);
  for (unsigned i = 0; i < shape.sources; ++i) {
    for (unsigned d = 0; d < shape.src_dwords[i]; ++d) {
      const auto row = reinterpret_cast<uintptr_t>(args.src[i][d]);
      if (row - first < shape.dst_dwords * sizeof *to) return false;
    }
  }
  return true;
}

}  // namespace halyard::vgpu::isa::valu
