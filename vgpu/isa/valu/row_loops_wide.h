// Rows of 64-bit operations for AVX-512 (RowLoop of loops.h), where the compiler's loops keep one
// of its two vector units waiting: pairs of lanes are joined and split by masked shuffles, and
// v_mad_u64_u32 and v_mad_i64_i32 multiply 32 bits by 32 only.
#pragma once

#include "vgpu/isa/valu/lane_ops_float.h"
#include "vgpu/isa/valu/lane_ops_integer.h"
#include "vgpu/isa/valu/loops.h"

namespace halyard::vgpu::isa::valu {

#if defined(__AVX512DQ__)
inline constexpr __mmask16 kOddDwords = 0xaaaa;

// The even and the odd lanes of 16, as qwords; from the rows of low and high dwords, and to them.
struct Qwords {
  __m512i even, odd;
};
// Dwords 0, 0, 2, 2 … and 1, 1, 3, 3 … of `other` in place of the odd and of the even ones.
inline __m512i with_even_above(__m512i dwords, __m512i other) {
  return _mm512_mask_shuffle_epi32(dwords, kOddDwords, other, _MM_PERM_CCAA);
}
inline __m512i with_odd_below(__m512i dwords, __m512i other) {
  return _mm512_mask_shuffle_epi32(dwords, static_cast<__mmask16>(~kOddDwords), other,
                                   _MM_PERM_DDBB);
}
inline Qwords join(const uint32_t* const* rows, unsigned n) {
  const __m512i low = _mm512_load_si512(rows[0] + n), high = _mm512_load_si512(rows[1] + n);
  return {with_even_above(low, high), with_odd_below(high, low)};
}
inline void split(const Qwords& q, uint32_t* const* rows, unsigned n) {
  // Not by shuffles, of which joining has made enough: shifts and blends are other units' work.
  _mm512_store_si512(rows[0] + n,
                     _mm512_mask_mov_epi32(q.even, kOddDwords, _mm512_slli_epi64(q.odd, 32)));
  _mm512_store_si512(rows[1] + n,
                     _mm512_mask_mov_epi32(_mm512_srli_epi64(q.even, 32), kOddDwords, q.odd));
}

template <class Function, unsigned kSources>
struct DoubleLoop {
  static constexpr bool kHere = true;
  static bool run(const LaneArgs& args) { return run(args, std::make_index_sequence<kSources>{}); }

 private:
  template <size_t... I>
  static bool run(const LaneArgs& args, std::index_sequence<I...>) {
    const Function function;
    for (unsigned n = 0; n < kLanes; n += 16) {
      const Qwords source[] = {join(args.src[I], n)...};
      const __m512d even = function(_mm512_castsi512_pd(source[I].even)...);
      const __m512d odd = function(_mm512_castsi512_pd(source[I].odd)...);
      split({_mm512_castpd_si512(even), _mm512_castpd_si512(odd)}, args.out, n);
    }
    return true;
  }
};
struct AddDoubles {
  __m512d operator()(__m512d a, __m512d b) const { return a + b; }
};
struct MultiplyDoubles {
  __m512d operator()(__m512d a, __m512d b) const { return a * b; }
};
struct FuseDoubles {
  __m512d operator()(__m512d a, __m512d b, __m512d c) const { return _mm512_fmadd_pd(a, b, c); }
};

template <>
struct RowLoop<add_fast<double>> : DoubleLoop<AddDoubles, 2> {};
template <>
struct RowLoop<mul_fast<double>> : DoubleLoop<MultiplyDoubles, 2> {};
template <>
struct RowLoop<fma_fast<double>> : DoubleLoop<FuseDoubles, 3> {};

template <bool kSigned>
struct MultiplyAddLoop {
  static constexpr bool kHere = true;
  static bool run(const LaneArgs& args) {
    for (unsigned n = 0; n < kLanes; n += 16) {
      const __m512i a = _mm512_load_si512(args.src[0][0] + n);
      const __m512i b = _mm512_load_si512(args.src[1][0] + n);
      const Qwords addend = join(args.src[2], n);
      const Qwords product = {multiply_even(a, b),
                              multiply_even(_mm512_srli_epi64(a, 32), _mm512_srli_epi64(b, 32))};
      const Qwords sum = {_mm512_add_epi64(product.even, addend.even),
                          _mm512_add_epi64(product.odd, addend.odd)};
      split(sum, args.out, n);
      const __m512i flags = with_odd_below(flag_bit(product.odd, addend.odd, sum.odd),
                                           flag_bit(product.even, addend.even, sum.even));
      _mm512_store_si512(args.flag_out + n, _mm512_srai_epi32(flags, 31));
    }
    return true;
  }

 private:
  // Multiplies the even dwords of both.
  static __m512i multiply_even(__m512i a, __m512i b) {
    return kSigned ? _mm512_mul_epi32(a, b) : _mm512_mul_epu32(a, b);
  }
  // The top bit is the sum's flag: of unsigned values the carry, which comes out if both have the
  // top bit, or one has it and the sum has not; of signed ones the 65th bit, which is the sign that
  // most of the three have.
  static __m512i flag_bit(__m512i product, __m512i addend, __m512i sum) {
    return _mm512_ternarylogic_epi64(product, addend, sum, kSigned ? 0xe8 : 0xd4);
  }
};

template <>
struct RowLoop<mad_u64_u32> : MultiplyAddLoop<false> {};
template <>
struct RowLoop<mad_i64_i32> : MultiplyAddLoop<true> {};
#endif

}  // namespace halyard::vgpu::isa::valu
