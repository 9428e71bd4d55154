// Rows of v_mad_u64_u32 and v_mad_i64_i32 (RowLoop of apply.h): the compiler would multiply 64 bits
// by 64.
#pragma once

#include "vgpu/isa/valu/apply.h"
#include "vgpu/isa/valu/lane_ops_integer.h"

namespace halyard::vgpu::isa::valu {

#if defined(__AVX512DQ__)
// Multiplies the even dwords of both.
template <bool kSigned>
__m512i multiply_even(__m512i a, __m512i b) {
  return kSigned ? _mm512_mul_epi32(a, b) : _mm512_mul_epu32(a, b);
}

// The flag of `product + addend`: of unsigned values the carry, of signed ones the 65th bit.
template <bool kSigned>
__mmask8 sum_flag(__m512i product, __m512i addend, __m512i sum) {
  if constexpr (!kSigned) return _mm512_cmplt_epu64_mask(sum, addend);
  // The sign that most of the three have.
  return _mm512_movepi64_mask(_mm512_ternarylogic_epi64(product, addend, sum, 0xe8));
}

template <bool kSigned>
struct MultiplyAddLoop {
  static constexpr bool kHere = true;
  static bool run(const LaneArgs& args) {
    constexpr __mmask16 kOdd = 0xaaaa;
    for (unsigned n = 0; n < kLanes; n += 16) {
      const auto load = [n](const uint32_t* row) { return _mm512_load_si512(row + n); };
      const __m512i a = load(args.src[0][0]), b = load(args.src[1][0]);
      const __m512i low = load(args.src[2][0]), high = load(args.src[2][1]);
      const __m512i even = multiply_even<kSigned>(a, b);
      const __m512i odd =
          multiply_even<kSigned>(_mm512_srli_epi64(a, 32), _mm512_srli_epi64(b, 32));
      const __m512i even_addend = _mm512_mask_mov_epi32(low, kOdd, _mm512_slli_epi64(high, 32));
      const __m512i odd_addend = _mm512_mask_mov_epi32(_mm512_srli_epi64(low, 32), kOdd, high);
      const __m512i even_sum = _mm512_add_epi64(even, even_addend);
      const __m512i odd_sum = _mm512_add_epi64(odd, odd_addend);
      const __mmask8 even_flag = sum_flag<kSigned>(even, even_addend, even_sum);
      const __mmask8 odd_flag = sum_flag<kSigned>(odd, odd_addend, odd_sum);
      _mm512_store_si512(args.out[0] + n,
                         _mm512_mask_mov_epi32(even_sum, kOdd, _mm512_slli_epi64(odd_sum, 32)));
      _mm512_store_si512(args.out[1] + n,
                         _mm512_mask_mov_epi32(_mm512_srli_epi64(even_sum, 32), kOdd, odd_sum));
      _mm512_store_si512(
          args.flag_out + n,
          _mm512_mask_mov_epi32(_mm512_movm_epi64(even_flag), kOdd, _mm512_movm_epi64(odd_flag)));
    }
    return true;
  }
};

template <>
struct RowLoop<mad_u64_u32> : MultiplyAddLoop<false> {};
template <>
struct RowLoop<mad_i64_i32> : MultiplyAddLoop<true> {};
#endif

}  // namespace halyard::vgpu::isa::valu
