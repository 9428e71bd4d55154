// v_mad_f32 on whole rows (RowLoop of loops.h). They flush f32 denormals, which takes
// longer than all the rest of them; where looking for denormals is cheaper, they are flushed only
// if there are any. In the default mode.
#pragma once

#include "vgpu/isa/valu/half_vectors.h"
#include "vgpu/isa/valu/lane_ops_float.h"
#include "vgpu/isa/valu/loops.h"

namespace halyard::vgpu::isa::valu {

#if defined(__F16C__) && defined(__AVX2__)
// Whether some f32 are of certain classes, as vfpclassps numbers them.
inline constexpr int kDenormalClass = 0x20, kNanClasses = 0x81;
#if defined(__AVX512DQ__)
class FoundFloats {
 public:
  template <int kClasses>
  void look_for(Floats x) {
    found_ = _kor_mask16(found_, _mm512_fpclass_ps_mask(x, kClasses));
  }
  bool any() const { return found_ != 0; }

 private:
  __mmask16 found_ = 0;
};
#else
// Looks for nothing.
struct FoundFloats {
  template <int kClasses>
  void look_for(Floats) {}
  static bool any() { return false; }
};
#endif

template <>
struct RowLoop<mad_f32_fast> {
  static constexpr bool kHere = true;
#if defined(__AVX512DQ__)
  static constexpr bool kFindsNans = true;
  static bool run(const LaneArgs& args) { return run_without_denormals(args) || run_any(args); }
#else
  static constexpr bool kFindsNans = false;
  static bool run(const LaneArgs& args) { return run_any(args); }
#endif

 private:
#if defined(__AVX512DQ__)
  // False if there were denormals or NaNs.
  static bool run_without_denormals(const LaneArgs& args) {
    uint32_t* const out = args.out[0];
    const uint32_t* const rows[] = {args.src[0][0], args.src[1][0], args.src[2][0]};
    FoundFloats found;
    for (unsigned n = 0; n < kLanes; n += kVectorLanes) {
      const Floats a = load_floats(rows[0] + n), b = load_floats(rows[1] + n);
      const Floats c = load_floats(rows[2] + n), product = a * b, sum = product + c;
      found.look_for<kDenormalClass>(a);
      found.look_for<kDenormalClass>(b);
      found.look_for<kDenormalClass>(c);
      found.look_for<kDenormalClass>(product);
      found.look_for<kDenormalClass | kNanClasses>(sum);
      store_floats(out + n, sum);
    }
    return !found.any();
  }
#endif

  // False if there were NaNs, where this build looks for them.
  static bool run_any(const LaneArgs& args) {
    uint32_t* const out = args.out[0];
    const uint32_t* const rows[] = {args.src[0][0], args.src[1][0], args.src[2][0]};
    FoundFloats found;
    for (unsigned n = 0; n < kLanes; n += kVectorLanes) {
      const Floats a = flush_floats(load_floats(rows[0] + n));
      const Floats b = flush_floats(load_floats(rows[1] + n));
      const Floats c = flush_floats(load_floats(rows[2] + n));
      const Floats sum = flush_floats(flush_floats(a * b) + c);
      found.look_for<kNanClasses>(sum);
      store_floats(out + n, sum);
    }
    return !found.any();
  }
};

#endif

}  // namespace halyard::vgpu::isa::valu
