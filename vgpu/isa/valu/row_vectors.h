// Rows in the host's vector registers, for loops that the compiler does not find: the widest
// vectors of a build, seen as dwords or as words, and what their operators lack.
#pragma once

#include <cstdint>
#include <utility>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace halyard::vgpu::isa::valu {

#if defined(__SSE2__)
#if defined(__AVX512BW__)
inline constexpr unsigned kVectorBytes = 64;
#elif defined(__AVX2__)
inline constexpr unsigned kVectorBytes = 32;
#else
inline constexpr unsigned kVectorBytes = 16;
#endif
inline constexpr unsigned kVectorLanes = kVectorBytes / 4;

// They may alias anything, as the intrinsics' own types may.
using Dwords [[gnu::vector_size(kVectorBytes), gnu::may_alias]] = uint32_t;
using SignedDwords [[gnu::vector_size(kVectorBytes), gnu::may_alias]] = int32_t;
using Bytes [[gnu::vector_size(kVectorBytes), gnu::may_alias]] = uint8_t;
using Words [[gnu::vector_size(kVectorBytes), gnu::may_alias]] = uint16_t;
using SignedWords [[gnu::vector_size(kVectorBytes), gnu::may_alias]] = int16_t;
using Floats [[gnu::vector_size(kVectorBytes), gnu::may_alias]] = float;

using LaneNumbers = std::make_integer_sequence<int, kVectorLanes>;

inline Dwords load_lanes(const uint32_t* row) {
  return *reinterpret_cast<const Dwords*>(row);
}
inline void store_lanes(uint32_t* row, Dwords x) {
  *reinterpret_cast<Dwords*>(row) = x;
}
inline Floats load_floats(const uint32_t* row) {
  return Floats(load_lanes(row));
}
inline void store_floats(uint32_t* row, Floats x) {
  store_lanes(row, Dwords(x));
}

#if defined(__AVX512BW__)
using HostInts = __m512i;
// Products of signed words, the two of a dword added; wraps for 4 * -32768 only.
inline Dwords multiply_add_words(HostInts a, HostInts b) {
  return Dwords(_mm512_madd_epi16(a, b));
}
// Products of unsigned bytes and signed ones, the two of a word added; sums must fit in 16 bits.
inline Words multiply_add_bytes(HostInts a, HostInts b) {
  return Words(_mm512_maddubs_epi16(a, b));
}
// The upper words of products of unsigned words.
inline Words multiply_high(HostInts a, HostInts b) {
  return Words(_mm512_mulhi_epu16(a, b));
}
// Each dword's bytes, or zeros, as `pattern` says for each 16 bytes.
inline Dwords shuffle_bytes(Dwords x, const uint8_t (&pattern)[16]) {
  const __m128i bytes = _mm_load_si128(reinterpret_cast<const __m128i*>(pattern));
  return Dwords(_mm512_shuffle_epi8(HostInts(x), _mm512_broadcast_i32x4(bytes)));
}
inline Dwords add_bytes(HostInts a, HostInts b) {
  return Dwords(_mm512_add_epi8(a, b));
}
// The same with a pattern for each 16 bytes.
inline Dwords shuffle_bytes(Dwords x, Dwords pattern) {
  return Dwords(_mm512_shuffle_epi8(HostInts(x), HostInts(pattern)));
}
// Whether any bit is set.
inline bool any_bit(Dwords x) {
  return _mm512_test_epi32_mask(HostInts(x), HostInts(x)) != 0;
}
#elif defined(__AVX2__)
using HostInts = __m256i;
inline Dwords multiply_add_words(HostInts a, HostInts b) {
  return Dwords(_mm256_madd_epi16(a, b));
}
inline Words multiply_add_bytes(HostInts a, HostInts b) {
  return Words(_mm256_maddubs_epi16(a, b));
}
inline Words multiply_high(HostInts a, HostInts b) {
  return Words(_mm256_mulhi_epu16(a, b));
}
inline Dwords shuffle_bytes(Dwords x, const uint8_t (&pattern)[16]) {
  const __m128i bytes = _mm_load_si128(reinterpret_cast<const __m128i*>(pattern));
  return Dwords(_mm256_shuffle_epi8(HostInts(x), _mm256_broadcastsi128_si256(bytes)));
}
inline Dwords add_bytes(HostInts a, HostInts b) {
  return Dwords(_mm256_add_epi8(a, b));
}
inline Dwords shuffle_bytes(Dwords x, Dwords pattern) {
  return Dwords(_mm256_shuffle_epi8(HostInts(x), HostInts(pattern)));
}
inline bool any_bit(Dwords x) {
  return _mm256_testz_si256(HostInts(x), HostInts(x)) == 0;
}
#else
using HostInts = __m128i;
inline Dwords multiply_add_words(HostInts a, HostInts b) {
  return Dwords(_mm_madd_epi16(a, b));
}
inline Words multiply_high(HostInts a, HostInts b) {
  return Words(_mm_mulhi_epu16(a, b));
}
#endif
#endif

}  // namespace halyard::vgpu::isa::valu
