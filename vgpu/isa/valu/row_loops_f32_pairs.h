// Packed f32 on whole rows (RowLoop of loops.h): results are looked at for NaNs while they are in
// registers. In the default mode.
#pragma once

#include "vgpu/isa/valu/half_vectors.h"
#include "vgpu/isa/valu/lane_ops_packed.h"
#include "vgpu/isa/valu/loops.h"

namespace halyard::vgpu::isa::valu {

#if defined(__F16C__) && defined(__AVX2__)
template <class Function, unsigned kSources>
struct FloatPairLoop {
  static constexpr bool kHere = true;
  static constexpr bool kFindsNans = true;
  static bool run(const LaneArgs& args) { return run(args, std::make_index_sequence<kSources>{}); }

 private:
  template <size_t... I>
  static bool run(const LaneArgs& args, std::index_sequence<I...>) {
    uint32_t* const low_out = args.out[0];
    uint32_t* const high_out = args.out[1];
    const uint32_t* const low_rows[] = {args.src[I][0]...};
    const uint32_t* const high_rows[] = {args.src[I][1]...};
    FoundNans nans;
    for (unsigned n = 0; n < kLanes; n += kVectorLanes) {
      const Floats low = Function::result(load_floats(low_rows[I] + n)...);
      const Floats high = Function::result(load_floats(high_rows[I] + n)...);
      nans.look_at(low, high);
      store_floats(low_out + n, low);
      store_floats(high_out + n, high);
    }
    return !nans.any();
  }
};
struct AddFloats {
  static Floats result(Floats a, Floats b) { return a + b; }
};
struct MultiplyFloats {
  static Floats result(Floats a, Floats b) { return a * b; }
};
struct FusedFloats {
  static Floats result(Floats a, Floats b, Floats c) { return fused(a, b, c); }
};

template <>
struct RowLoop<packed2<PkF32, add_fast<float>>> : FloatPairLoop<AddFloats, 2> {};
template <>
struct RowLoop<packed2<PkF32, mul_fast<float>>> : FloatPairLoop<MultiplyFloats, 2> {};
template <>
struct RowLoop<pk_fma_f32_fast> : FloatPairLoop<FusedFloats, 3> {};
#endif

}  // namespace halyard::vgpu::isa::valu
