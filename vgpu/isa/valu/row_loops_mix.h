// v_mad_mix, v_fma_mix and their kin on whole rows (RowLoop of loops.h), which find out what their
// sources are while they read them. In the default mode.
#pragma once

#include <algorithm>

#include "vgpu/isa/valu/half_vectors.h"
#include "vgpu/isa/valu/lane_ops_packed.h"
#include "vgpu/isa/valu/loops.h"

namespace halyard::vgpu::isa::valu {

#if defined(__F16C__) && defined(__AVX2__)
// As many vectors as fit into registers, with three sources. The lanes are permuted: two vectors'
// parts of a row alternate, so that halves meet without a shuffle.
inline constexpr unsigned kMixVectors = 4, kMixLanes = kMixVectors * kVectorLanes;
struct MixedLanes {
  Floats vector[kMixVectors];
};

// A source: if its op_sel_hi bit is set, the half of a dword that op_sel selects, else an f32.
// kFlush: f32 denormals become zeros; those of f16 are normal in f32.
template <bool kFlush, bool kSigns>
[[gnu::always_inline]] inline MixedLanes load_mixed(const uint32_t* row, unsigned halves) {
  const bool half = (halves & kOpSelHi) != 0;
  // NEG, and ABS, as neg_hi is here.
  const uint32_t sign = half ? 0x80008000 : 0x80000000;
  const uint32_t keep = (halves & kNegHi) != 0 ? ~sign : ~0u;
  const uint32_t flip = (halves & kNegLo) != 0 ? sign : 0;
  const auto with_sign = [&](Dwords x) { return kSigns ? (x & keep) ^ flip : x; };
  const auto load_half = [&](const uint32_t* from, bool high) {
    return with_sign(interleave_halves(load_lanes(from), load_lanes(from + kVectorLanes), high));
  };
  const auto load_float = [&](const uint32_t* from) {
    const Floats x = Floats(with_sign(load_lanes(from)));
    return kFlush ? flush_floats(x) : x;
  };
  MixedLanes lanes;
  for (unsigned v = 0; v < kMixVectors; v += 2) {
    const uint32_t* const from = row + v * kVectorLanes;
    if (half) {
      const Dwords pairs = (halves & kOpSel) != 0 ? load_half(from, true) : load_half(from, false);
      lanes.vector[v] = widen(lower(pairs));
      lanes.vector[v + 1] = widen(upper(pairs));
    } else {
      const Floats x = load_float(from), y = load_float(from + kVectorLanes);
      lanes.vector[v] = interleave_lower(x, y);
      lanes.vector[v + 1] = interleave_upper(x, y);
    }
  }
  return lanes;
}

// Two vectors of results: f32; f16 alone in their dwords; f16 in a half of dwords whose other half
// is that of `old`.
inline void store_mixed(uint32_t* row, const uint32_t*, Floats first, Floats second) {
  store_floats(row, even_elements(first, second));
  store_floats(row + kVectorLanes, odd_elements(first, second));
}
inline void store_mixed_halves(uint32_t* row, const uint32_t*, Floats first, Floats second) {
  const Dwords pairs = join(narrow(first), narrow(second));
  store_lanes(row, pairs & 0xffff);
  store_lanes(row + kVectorLanes, pairs >> 16);
}
template <bool kHigh>
void merge_mixed_halves(uint32_t* row, const uint32_t* old, Floats first, Floats second) {
  const Dwords pairs = join(narrow(first), narrow(second));
  const Dwords a = load_lanes(old), b = load_lanes(old + kVectorLanes);
  if constexpr (kHigh) {
    store_lanes(row, pairs << 16 | (a & 0xffff));
    store_lanes(row + kVectorLanes, (pairs & 0xffff0000) | (b & 0xffff));
  } else {
    store_lanes(row, (pairs & 0xffff) | (a & 0xffff0000));
    store_lanes(row + kVectorLanes, pairs >> 16 | (b & 0xffff0000));
  }
}
using StoreMixed = void (*)(uint32_t*, const uint32_t*, Floats, Floats);

struct FusedMix {
  static constexpr bool kFlushes = false;
  static Floats sum(Floats a, Floats b, Floats c, bool) { return fused(a, b, c); }
};
struct MultiplyAddMix {
  static constexpr bool kFlushes = true;
  // all_normal: nothing but the addend could be denormal (mad_of_halves_fast()).
  static Floats sum(Floats a, Floats b, Floats c, bool all_normal) {
    return all_normal ? a * b + c : flush_floats(flush_floats(a * b) + c);
  }
};

// kMerge: the store of run_mixed(), kStore that of run().
template <class Function, StoreMixed kMerge, StoreMixed kStore = kMerge>
struct MixLoop {
  static constexpr bool kHere = true;
  static constexpr bool kFindsNans = true;
  static bool run(const LaneArgs& args) {
    LaneArgs floats = args;
    std::fill_n(floats.halves, 3, uint8_t{0});
    floats.old = args.out[0];  // not looked at
    return run_all<false, kStore>(floats);
  }
  static bool run_mixed(const LaneArgs& args) {
    const unsigned all = args.halves[0] | args.halves[1] | args.halves[2];
    return (all & (kNegLo | kNegHi)) != 0 ? run_all<true, kMerge>(args)
                                          : run_all<false, kMerge>(args);
  }

 private:
  template <bool kSigns, StoreMixed kTo>
  [[gnu::noinline]] static bool run_all(const LaneArgs& args) {
    constexpr bool kFlush = Function::kFlushes;
    const uint32_t* const a = args.src[0][0];
    const uint32_t* const b = args.src[1][0];
    const uint32_t* const c = args.src[2][0];
    const unsigned halves_a = args.halves[0], halves_b = args.halves[1], halves_c = args.halves[2];
    uint32_t* const out = args.out[0];
    const uint32_t* const old = args.old;
    const bool all_normal = (halves_a & halves_b & kOpSelHi) != 0;
    FoundNans nans;
    for (unsigned n = 0; n < kLanes; n += kMixLanes) {
      const MixedLanes x = load_mixed<kFlush, kSigns>(a + n, halves_a);
      const MixedLanes y = load_mixed<kFlush, kSigns>(b + n, halves_b);
      const MixedLanes z = load_mixed<kFlush, kSigns>(c + n, halves_c);
      MixedLanes sum;
      for (unsigned v = 0; v < kMixVectors; ++v)
        sum.vector[v] = Function::sum(x.vector[v], y.vector[v], z.vector[v], all_normal);
      for (unsigned v = 0; v < kMixVectors; v += 2) {
        const unsigned m = n + v * kVectorLanes;
        nans.look_at(sum.vector[v], sum.vector[v + 1]);
        kTo(out + m, old + m, sum.vector[v], sum.vector[v + 1]);
      }
    }
    return !nans.any();
  }
};

template <class Function, bool kHigh>
using HalfMixLoop = MixLoop<Function, merge_mixed_halves<kHigh>, store_mixed_halves>;

template <>
struct RowLoop<mad_mix_fast> : MixLoop<MultiplyAddMix, store_mixed> {};
// A sum that is denormal as an f32 is a zero as an f16, flushed or not.
template <>
struct RowLoop<mad_mix_f16_fast<false>> : HalfMixLoop<MultiplyAddMix, false> {};
template <>
struct RowLoop<mad_mix_f16_fast<true>> : HalfMixLoop<MultiplyAddMix, true> {};
template <>
struct RowLoop<fma_mix_fast> : MixLoop<FusedMix, store_mixed> {};
template <>
struct RowLoop<fma_mix_f16_fast<false>> : HalfMixLoop<FusedMix, false> {};
template <>
struct RowLoop<fma_mix_f16_fast<true>> : HalfMixLoop<FusedMix, true> {};
#endif

}  // namespace halyard::vgpu::isa::valu
