// Integer and bit operations, one lane each (Vega ISA chapter 12: VOP1, VOP2, VOP3A, VOP3B).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "vgpu/isa/valu/values.h"

namespace halyard::vgpu::isa::valu {

// Saturation to the range of T, for CLAMP and for packing conversions.
template <class T, class Wide>
constexpr T saturate(Wide x) {
  using L = std::numeric_limits<T>;
  if (x < static_cast<Wide>(L::min())) return L::min();
  if (x > static_cast<Wide>(L::max())) return L::max();
  return static_cast<T>(x);
}

// Moves and bits.
inline uint32_t mov_b32(uint32_t a) {
  return a;
}
inline uint32_t not_b32(uint32_t a) {
  return ~a;
}
inline uint32_t and_b32(uint32_t a, uint32_t b) {
  return a & b;
}
inline uint32_t or_b32(uint32_t a, uint32_t b) {
  return a | b;
}
inline uint32_t xor_b32(uint32_t a, uint32_t b) {
  return a ^ b;
}
inline uint32_t xnor_b32(uint32_t a, uint32_t b) {
  return ~(a ^ b);
}
inline uint32_t or3_b32(uint32_t a, uint32_t b, uint32_t c) {
  return a | b | c;
}
inline uint32_t and_or_b32(uint32_t a, uint32_t b, uint32_t c) {
  return (a & b) | c;
}
inline uint32_t bfi_b32(uint32_t a, uint32_t b, uint32_t c) {
  return (a & b) | (~a & c);
}
inline uint32_t cndmask_b32(uint32_t a, uint32_t b, bool condition) {
  return condition ? b : a;
}

inline uint32_t bfrev_b32(uint32_t a) {
  a = (a >> 1 & 0x55555555) | (a & 0x55555555) << 1;
  a = (a >> 2 & 0x33333333) | (a & 0x33333333) << 2;
  a = (a >> 4 & 0x0f0f0f0f) | (a & 0x0f0f0f0f) << 4;
  a = (a >> 8 & 0x00ff00ff) | (a & 0x00ff00ff) << 8;
  return a >> 16 | a << 16;
}
inline uint32_t ffbh_u32(uint32_t a) {
  return a == 0 ? ~0u : static_cast<uint32_t>(std::countl_zero(a));
}
// The lowest bit alone, as a float, has its number as the exponent: few hosts count zeros in
// vectors. The top bit becomes -2^31.
inline uint32_t ffbl_b32(uint32_t a) {
  const auto lowest = static_cast<float>(static_cast<int32_t>(a & (0u - a)));
  const uint32_t number = (std::bit_cast<uint32_t>(lowest) >> 23 & 0xff) - 127;
  return a == 0 ? ~0u : number;
}
// The first bit, from the top, that differs from the sign.
inline uint32_t ffbh_i32(int32_t a) {
  return ffbh_u32(static_cast<uint32_t>(a ^ (a >> 31)));
}
// Sums of neighbours: few hosts count bits in vectors, and no build may rely on it.
constexpr uint32_t count_ones(uint32_t x) {
  const uint32_t pairs = x - (x >> 1 & 0x55555555);
  const uint32_t nibbles = (pairs & 0x33333333) + (pairs >> 2 & 0x33333333);
  const uint32_t bytes = (nibbles + (nibbles >> 4)) & 0x0f0f0f0f;
  const uint32_t words = bytes + (bytes >> 8);
  return (words + (words >> 16)) & 0x3f;
}
inline uint32_t bcnt_u32_b32(uint32_t a, uint32_t b) {
  return count_ones(a) + b;
}
// The bits of lanes before each lane, of a half of a mask. In tables, to be read as vectors.
struct LanesBelow {
  uint32_t low[64], high[64];
};
inline constexpr LanesBelow kLanesBelow = [] {
  LanesBelow masks{};
  for (unsigned lane = 0; lane < 64; ++lane) {
    const uint64_t below = (1ull << lane) - 1;
    masks.low[lane] = static_cast<uint32_t>(below);
    masks.high[lane] = static_cast<uint32_t>(below >> 32);
  }
  return masks;
}();
inline uint32_t mbcnt_lo_u32_b32(uint32_t a, uint32_t b, Lane lane) {
  return count_ones(a & kLanesBelow.low[lane.index]) + b;
}
inline uint32_t mbcnt_hi_u32_b32(uint32_t a, uint32_t b, Lane lane) {
  return count_ones(a & kLanesBelow.high[lane.index]) + b;
}
inline uint32_t bfm_b32(uint32_t a, uint32_t b) {
  return ((1u << (a & 31)) - 1) << (b & 31);
}
inline uint32_t bfe_u32(uint32_t a, uint32_t b, uint32_t c) {
  return (a >> (b & 31)) & ((1u << (c & 31)) - 1);
}
inline uint32_t bfe_i32(int32_t a, uint32_t b, uint32_t c) {
  const unsigned width = c & 31;
  if (width == 0) return 0;
  const uint32_t field = static_cast<uint32_t>(a >> (b & 31));
  return static_cast<uint32_t>(static_cast<int32_t>(field << (32 - width)) >> (32 - width));
}
inline uint32_t alignbit_b32(uint32_t a, uint32_t b, uint32_t c) {
  return static_cast<uint32_t>((static_cast<uint64_t>(a) << 32 | b) >> (c & 31));
}
inline uint32_t alignbyte_b32(uint32_t a, uint32_t b, uint32_t c) {
  return static_cast<uint32_t>((static_cast<uint64_t>(a) << 32 | b) >> (8 * (c & 3)));
}

// Shifts. "rev": the amount comes first.
inline uint32_t lshlrev_b32(uint32_t a, uint32_t b) {
  return b << (a & 31);
}
inline uint32_t lshrrev_b32(uint32_t a, uint32_t b) {
  return b >> (a & 31);
}
inline int32_t ashrrev_i32(uint32_t a, int32_t b) {
  return b >> (a & 31);
}
inline uint64_t lshlrev_b64(uint32_t a, uint64_t b) {
  return b << (a & 63);
}
inline uint64_t lshrrev_b64(uint32_t a, uint64_t b) {
  return b >> (a & 63);
}
inline int64_t ashrrev_i64(uint32_t a, int64_t b) {
  return b >> (a & 63);
}
inline uint16_t lshlrev_b16(uint16_t a, uint16_t b) {
  return static_cast<uint16_t>(b << (a & 15));
}
inline uint16_t lshrrev_b16(uint16_t a, uint16_t b) {
  return static_cast<uint16_t>(b >> (a & 15));
}
inline int16_t ashrrev_i16(uint16_t a, int16_t b) {
  return static_cast<int16_t>(b >> (a & 15));
}
inline uint32_t lshl_add_u32(uint32_t a, uint32_t b, uint32_t c) {
  return (a << (b & 31)) + c;
}
inline uint32_t add_lshl_u32(uint32_t a, uint32_t b, uint32_t c) {
  return (a + b) << (c & 31);
}
inline uint32_t lshl_or_b32(uint32_t a, uint32_t b, uint32_t c) {
  return (a << (b & 31)) | c;
}
inline uint32_t xad_u32(uint32_t a, uint32_t b, uint32_t c) {
  return (a ^ b) + c;
}

// 32-bit sums and differences.
inline uint32_t add_u32(uint32_t a, uint32_t b) {
  return a + b;
}
inline uint32_t sub_u32(uint32_t a, uint32_t b) {
  return a - b;
}
inline uint32_t subrev_u32(uint32_t a, uint32_t b) {
  return b - a;
}
inline uint32_t add3_u32(uint32_t a, uint32_t b, uint32_t c) {
  return a + b + c;
}
inline uint32_t add_u32_clamp(uint32_t a, uint32_t b) {
  return a + b < a ? ~0u : a + b;
}
inline uint32_t sub_u32_clamp(uint32_t a, uint32_t b) {
  return a < b ? 0 : a - b;
}
inline uint32_t subrev_u32_clamp(uint32_t a, uint32_t b) {
  return sub_u32_clamp(b, a);
}
inline int32_t add_i32_clamp(int32_t a, int32_t b) {
  return saturate<int32_t>(int64_t{a} + b);
}
inline int32_t sub_i32_clamp(int32_t a, int32_t b) {
  return saturate<int32_t>(int64_t{a} - b);
}

inline Flagged<uint32_t> add_co_u32(uint32_t a, uint32_t b) {
  return {a + b, a + b < a};
}
inline Flagged<uint32_t> sub_co_u32(uint32_t a, uint32_t b) {
  return {a - b, a < b};
}
inline Flagged<uint32_t> subrev_co_u32(uint32_t a, uint32_t b) {
  return {b - a, b < a};
}
inline Flagged<uint32_t> addc_co_u32(uint32_t a, uint32_t b, bool carry) {
  const uint32_t sum = a + b;
  const uint32_t result = sum + (carry ? 1u : 0u);
  return {result, sum < a || result < sum};
}
inline Flagged<uint32_t> subb_co_u32(uint32_t a, uint32_t b, bool borrow) {
  const uint32_t difference = a - b;
  const uint32_t result = difference - (borrow ? 1u : 0u);
  return {result, a < b || difference < result};
}
inline Flagged<uint32_t> subbrev_co_u32(uint32_t a, uint32_t b, bool borrow) {
  return subb_co_u32(b, a, borrow);
}
// With CLAMP, the value saturates; the carry is unchanged.
inline Flagged<uint32_t> saturated_sum(Flagged<uint32_t> r) {
  return {r.flag ? ~0u : r.value, r.flag != 0};
}
inline Flagged<uint32_t> saturated_difference(Flagged<uint32_t> r) {
  return {r.flag ? 0u : r.value, r.flag != 0};
}
inline Flagged<uint32_t> add_co_u32_clamp(uint32_t a, uint32_t b) {
  return saturated_sum(add_co_u32(a, b));
}
inline Flagged<uint32_t> sub_co_u32_clamp(uint32_t a, uint32_t b) {
  return saturated_difference(sub_co_u32(a, b));
}
inline Flagged<uint32_t> subrev_co_u32_clamp(uint32_t a, uint32_t b) {
  return saturated_difference(subrev_co_u32(a, b));
}
inline Flagged<uint32_t> addc_co_u32_clamp(uint32_t a, uint32_t b, bool carry) {
  return saturated_sum(addc_co_u32(a, b, carry));
}
inline Flagged<uint32_t> subb_co_u32_clamp(uint32_t a, uint32_t b, bool borrow) {
  return saturated_difference(subb_co_u32(a, b, borrow));
}
inline Flagged<uint32_t> subbrev_co_u32_clamp(uint32_t a, uint32_t b, bool borrow) {
  return saturated_difference(subbrev_co_u32(a, b, borrow));
}

// Products.
inline uint32_t low24(uint32_t a) {
  return a & 0xffffff;
}
inline int32_t low24_signed(uint32_t a) {
  return static_cast<int32_t>(a << 8) >> 8;
}
inline uint32_t mul_lo_u32(uint32_t a, uint32_t b) {
  return a * b;
}
inline uint32_t mul_hi_u32(uint32_t a, uint32_t b) {
  return static_cast<uint32_t>(uint64_t{a} * b >> 32);
}
inline uint32_t mul_hi_i32(int32_t a, int32_t b) {
  return static_cast<uint32_t>(int64_t{a} * b >> 32);
}
inline uint32_t mul_u32_u24(uint32_t a, uint32_t b) {
  return low24(a) * low24(b);
}
inline uint32_t mul_hi_u32_u24(uint32_t a, uint32_t b) {
  return mul_hi_u32(low24(a), low24(b));
}
inline uint32_t mul_i32_i24(uint32_t a, uint32_t b) {
  return static_cast<uint32_t>(low24_signed(a)) * static_cast<uint32_t>(low24_signed(b));
}
inline uint32_t mul_hi_i32_i24(uint32_t a, uint32_t b) {
  return mul_hi_i32(low24_signed(a), low24_signed(b));
}
inline uint32_t mad_u32_u24(uint32_t a, uint32_t b, uint32_t c) {
  return mul_u32_u24(a, b) + c;
}
inline uint32_t mad_u32_u24_clamp(uint32_t a, uint32_t b, uint32_t c) {
  return saturate<uint32_t>(uint64_t{low24(a)} * low24(b) + c);
}
inline uint32_t mad_i32_i24(uint32_t a, uint32_t b, uint32_t c) {
  return mul_i32_i24(a, b) + c;
}
inline int32_t mad_i32_i24_clamp(uint32_t a, uint32_t b, int32_t c) {
  return saturate<int32_t>(int64_t{low24_signed(a)} * low24_signed(b) + c);
}
inline uint32_t mad_u32_u16(uint16_t a, uint16_t b, uint32_t c) {
  return uint32_t{a} * b + c;
}
inline uint32_t mad_u32_u16_clamp(uint16_t a, uint16_t b, uint32_t c) {
  return saturate<uint32_t>(uint64_t{a} * b + c);
}
inline uint32_t mad_i32_i16(int16_t a, int16_t b, uint32_t c) {
  return static_cast<uint32_t>(int32_t{a} * b) + c;
}
inline int32_t mad_i32_i16_clamp(int16_t a, int16_t b, int32_t c) {
  return saturate<int32_t>(int64_t{a} * b + c);
}
inline Flagged<uint64_t> mad_u64_u32(uint32_t a, uint32_t b, uint64_t c) {
  const uint64_t product = uint64_t{a} * b;
  return {product + c, product + c < c};
}
// The flag is the 65th bit of the signed sum, as the ISA has it.
inline Flagged<int64_t> mad_i64_i32(int32_t a, int32_t b, int64_t c) {
  const int64_t product = int64_t{a} * b;
  const int64_t sum =
      static_cast<int64_t>(static_cast<uint64_t>(product) + static_cast<uint64_t>(c));
  const bool overflow = ((product ^ sum) & (c ^ sum)) < 0;
  return {sum, (sum < 0) != overflow};
}
inline Flagged<uint64_t> mad_u64_u32_clamp(uint32_t a, uint32_t b, uint64_t c) {
  const Flagged<uint64_t> r = mad_u64_u32(a, b, c);
  return {r.flag ? ~0ull : r.value, r.flag != 0};
}
inline Flagged<int64_t> mad_i64_i32_clamp(int32_t a, int32_t b, int64_t c) {
  const Flagged<int64_t> r = mad_i64_i32(a, b, c);
  if ((r.value < 0) == (r.flag != 0)) return r;
  return {r.flag ? INT64_MIN : INT64_MAX, r.flag != 0};
}

// Minimum, maximum, median.
template <class T>
constexpr T min_int(T a, T b) {
  return a < b ? a : b;
}
template <class T>
constexpr T max_int(T a, T b) {
  return a >= b ? a : b;
}
template <class T>
constexpr T min3_int(T a, T b, T c) {
  return min_int(min_int(a, b), c);
}
template <class T>
constexpr T max3_int(T a, T b, T c) {
  return max_int(max_int(a, b), c);
}
template <class T>
constexpr T med3_int(T a, T b, T c) {
  return max_int(min_int(a, b), min_int(max_int(a, b), c));
}

// 16-bit arithmetic.
inline uint16_t add_u16(uint16_t a, uint16_t b) {
  return static_cast<uint16_t>(a + b);
}
inline uint16_t sub_u16(uint16_t a, uint16_t b) {
  return static_cast<uint16_t>(a - b);
}
inline uint16_t subrev_u16(uint16_t a, uint16_t b) {
  return static_cast<uint16_t>(b - a);
}
inline uint16_t mul_lo_u16(uint16_t a, uint16_t b) {
  return static_cast<uint16_t>(uint32_t{a} * b);
}
inline uint16_t mad_u16(uint16_t a, uint16_t b, uint16_t c) {
  return static_cast<uint16_t>(uint32_t{a} * b + c);
}
inline uint16_t add_u16_clamp(uint16_t a, uint16_t b) {
  return saturate<uint16_t>(int{a} + b);
}
inline uint16_t sub_u16_clamp(uint16_t a, uint16_t b) {
  return saturate<uint16_t>(int{a} - b);
}
inline uint16_t subrev_u16_clamp(uint16_t a, uint16_t b) {
  return saturate<uint16_t>(int{b} - a);
}
inline uint16_t mul_lo_u16_clamp(uint16_t a, uint16_t b) {
  return saturate<uint16_t>(uint32_t{a} * b);
}
inline uint16_t mad_u16_clamp(uint16_t a, uint16_t b, uint16_t c) {
  return saturate<uint16_t>(uint64_t{a} * b + c);
}
inline int16_t add_i16_clamp(int16_t a, int16_t b) {
  return saturate<int16_t>(int{a} + b);
}
inline int16_t sub_i16_clamp(int16_t a, int16_t b) {
  return saturate<int16_t>(int{a} - b);
}
inline int16_t mad_i16_clamp(int16_t a, int16_t b, int16_t c) {
  return saturate<int16_t>(int64_t{a} * b + c);
}

// --- gfx942 and gfx950.
inline uint64_t mov_b64(uint64_t a) {
  return a;
}
// A count above 4 is taken for 0 (CDNA 4 ISA, V_LSHL_ADD_U64).
inline uint64_t lshl_add_u64(uint64_t a, uint32_t count, uint64_t c) {
  const uint32_t bits = count & 7;
  return (a << (bits > 4 ? 0 : bits)) + c;
}
// A step of a linear feedback shift register.
inline uint32_t prng_b32(uint32_t x) {
  return x << 1 ^ (x >> 31 != 0 ? 197u : 0u);
}
template <class Byte>
uint16_t ashr_pk(int32_t a, int32_t b, uint32_t amount) {
  const auto byte = [&](int32_t x) {
    return static_cast<uint16_t>(static_cast<uint8_t>(saturate<Byte>(x >> (amount & 31))));
  };
  return static_cast<uint16_t>(byte(a) | byte(b) << 8);
}

}  // namespace halyard::vgpu::isa::valu
