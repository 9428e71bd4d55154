// Dot products on whole rows (RowLoop of loops.h): the host multiplies words, or bytes, and adds
// neighbours' products. Sums of products alone fit in a dword but where said.
#pragma once

#include "vgpu/isa/valu/lane_ops_packed.h"
#include "vgpu/isa/valu/loops.h"
#include "vgpu/isa/valu/row_vectors.h"

namespace halyard::vgpu::isa::valu {

#if defined(__SSE2__)
// Of bits that are there to say so: all ones in the dwords whose top bit is set.
inline Dwords where_negative(Dwords x) {
  return Dwords(SignedDwords(x) >> 31);
}

// What CLAMP makes of sum + c: the nearest value that is not out of range.
inline Dwords add_saturated(Dwords sum, Dwords c) {
  const Dwords r = sum + c;
  const Dwords overflow = where_negative((sum ^ r) & (c ^ r));
  const Dwords most = where_negative(c) ^ 0x7fffffff;
  return (r & ~overflow) | (most & overflow);
}
inline Dwords add_saturated_unsigned(Dwords sum, Dwords c) {
  const Dwords r = sum + c;
  return r | Dwords(r < c);
}

struct DotOfSignedWords {
  static Dwords products(Dwords a, Dwords b) {
    return multiply_add_words(HostInts(a), HostInts(b));
  }
  static Dwords wrapped(Dwords a, Dwords b, Dwords c) { return products(a, b) + c; }
  // The sum of products that does not fit is 2^31, as 0x80000000: with a negative c it wraps to the
  // right result, with another one it is too large.
  static Dwords clamped(Dwords a, Dwords b, Dwords c) {
    const Dwords sum = products(a, b);
    const Dwords does_not_fit = Dwords(sum == 0x80000000);
    const Dwords special = (c | ~where_negative(c)) & 0x7fffffff;
    return (add_saturated(sum, c) & ~does_not_fit) | (special & does_not_fit);
  }
};

struct DotOfWords {
  struct Products {
    Dwords low, high;
  };
  static Products products(Dwords a, Dwords b) {
    const Dwords lower = Dwords(Words(a) * Words(b));
    const Dwords upper = Dwords(multiply_high(HostInts(a), HostInts(b)));
    return {(lower & 0xffff) | upper << 16, lower >> 16 | (upper & 0xffff0000)};
  }
  static Dwords wrapped(Dwords a, Dwords b, Dwords c) {
    const Products p = products(a, b);
    return p.low + p.high + c;
  }
  // Nothing is negative, so that a sum that has once overflowed stays out of range.
  static Dwords clamped(Dwords a, Dwords b, Dwords c) {
    const Products p = products(a, b);
    return add_saturated_unsigned(add_saturated_unsigned(p.low, p.high), c);
  }
};

// Fields that make sums of products which fit.
template <class Sum, bool kSigned>
struct DotOf {
  static Dwords wrapped(Dwords a, Dwords b, Dwords c) { return Sum::sum(a, b) + c; }
  static Dwords clamped(Dwords a, Dwords b, Dwords c) {
    return kSigned ? add_saturated(Sum::sum(a, b), c) : add_saturated_unsigned(Sum::sum(a, b), c);
  }
};

struct SumOfSignedBytes {
  // A byte in the upper half of its word is 256 times itself, which the sums can hold.
  static Dwords sum(Dwords a, Dwords b) {
    const Dwords odd = multiply_add_words(HostInts(a & 0xff00ff00), HostInts(SignedWords(b) >> 8));
    const SignedWords even_b = SignedWords(Words(b) << 8) >> 8;
    const Dwords even = multiply_add_words(HostInts(Words(a) << 8), HostInts(even_b));
    return Dwords(SignedDwords(odd + even) >> 8);
  }
};
struct SumOfBytes {
  static Dwords sum(Dwords a, Dwords b) {
    const Dwords odd = multiply_add_words(HostInts(Words(a) >> 8), HostInts(Words(b) >> 8));
    const Dwords even = multiply_add_words(HostInts(a & 0xff00ff), HostInts(b & 0xff00ff));
    return odd + even;
  }
};

#if defined(__AVX2__)
inline constexpr uint32_t kLowNibbles = 0x0f0f0f0f, kEights = 0x08080808;
inline Dwords sum_of_words(Words x) {
  const Words ones = Words(Dwords{} + 0x00010001u);
  return multiply_add_words(HostInts(x), HostInts(ones));
}
struct SumOfSignedNibbles {
  // The host's multiplication takes one factor without a sign: 8 is added to it, and taken away as
  // 8 times the other factor.
  static Dwords sum(Dwords a, Dwords b) {
    const Dwords even_a = (a & kLowNibbles) ^ kEights, odd_a = (a >> 4 & kLowNibbles) ^ kEights;
    const Dwords less_eight = Dwords{} + 0xf8f8f8f8u;
    const Dwords even_b = add_bytes(HostInts((b & kLowNibbles) ^ kEights), HostInts(less_eight));
    const Dwords odd_b =
        add_bytes(HostInts((b >> 4 & kLowNibbles) ^ kEights), HostInts(less_eight));
    const Dwords both_b = add_bytes(HostInts(even_b), HostInts(odd_b));
    const Dwords eights = Dwords{} + kEights;
    return sum_of_words(multiply_add_bytes(HostInts(even_a), HostInts(even_b)) +
                        multiply_add_bytes(HostInts(odd_a), HostInts(odd_b)) -
                        multiply_add_bytes(HostInts(eights), HostInts(both_b)));
  }
};
struct SumOfNibbles {
  static Dwords sum(Dwords a, Dwords b) {
    const Dwords even_a = a & kLowNibbles, odd_a = a >> 4 & kLowNibbles;
    const Dwords even_b = b & kLowNibbles, odd_b = b >> 4 & kLowNibbles;
    return sum_of_words(multiply_add_bytes(HostInts(even_a), HostInts(even_b)) +
                        multiply_add_bytes(HostInts(odd_a), HostInts(odd_b)));
  }
};
#endif

template <class Function, bool kClamp>
struct DotLoop {
  static constexpr bool kHere = true;
  static bool run(const LaneArgs& args) {
    uint32_t* const out = args.out[0];
    const uint32_t* const rows[] = {args.src[0][0], args.src[1][0], args.src[2][0]};
    for (unsigned n = 0; n < kLanes; n += kVectorLanes) {
      const Dwords a = load_lanes(rows[0] + n), b = load_lanes(rows[1] + n);
      const Dwords c = load_lanes(rows[2] + n);
      store_lanes(out + n, kClamp ? Function::clamped(a, b, c) : Function::wrapped(a, b, c));
    }
    return true;
  }
};

template <>
struct RowLoop<dot2_i32_i16<false>> : DotLoop<DotOfSignedWords, false> {};
template <>
struct RowLoop<dot2_i32_i16<true>> : DotLoop<DotOfSignedWords, true> {};
template <>
struct RowLoop<dot2_u32_u16<false>> : DotLoop<DotOfWords, false> {};
template <>
struct RowLoop<dot2_u32_u16<true>> : DotLoop<DotOfWords, true> {};
template <>
struct RowLoop<dot<int32_t, 8, false>> : DotLoop<DotOf<SumOfSignedBytes, true>, false> {};
template <>
struct RowLoop<dot<int32_t, 8, true>> : DotLoop<DotOf<SumOfSignedBytes, true>, true> {};
template <>
struct RowLoop<dot<uint32_t, 8, false>> : DotLoop<DotOf<SumOfBytes, false>, false> {};
template <>
struct RowLoop<dot<uint32_t, 8, true>> : DotLoop<DotOf<SumOfBytes, false>, true> {};
#if defined(__AVX2__)
template <>
struct RowLoop<dot<int32_t, 4, false>> : DotLoop<DotOf<SumOfSignedNibbles, true>, false> {};
template <>
struct RowLoop<dot<int32_t, 4, true>> : DotLoop<DotOf<SumOfSignedNibbles, true>, true> {};
template <>
struct RowLoop<dot<uint32_t, 4, false>> : DotLoop<DotOf<SumOfNibbles, false>, false> {};
template <>
struct RowLoop<dot<uint32_t, 4, true>> : DotLoop<DotOf<SumOfNibbles, false>, true> {};
#endif
#endif

}  // namespace halyard::vgpu::isa::valu
