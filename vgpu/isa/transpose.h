// Between memory, where a lane's dwords lie side by side, and registers, where a dword's lanes do;
// and dwords from all over memory. In AVX-512's own instructions where the build has them, because
// gcc's vectoriser makes scalar code of these loops.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#include "vgpu/isa/memory_access.h"
#include "vgpu/isa/wave.h"

namespace halyard::vgpu::isa {

#if defined(__AVX512F__)
namespace avx512 {

// The even or odd dwords of two vectors one behind the other, and the inverse: their lower or upper
// halves, dword by dword in turn.
inline __m512i evens(__m512i a, __m512i b) {
  const __m512i which =
      _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  return _mm512_permutex2var_epi32(a, which, b);
}
inline __m512i odds(__m512i a, __m512i b) {
  const __m512i which =
      _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
  return _mm512_permutex2var_epi32(a, which, b);
}
inline __m512i lower(__m512i a, __m512i b) {
  const __m512i which = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  return _mm512_permutex2var_epi32(a, which, b);
}
inline __m512i upper(__m512i a, __m512i b) {
  const __m512i which =
      _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  return _mm512_permutex2var_epi32(a, which, b);
}

}  // namespace avx512
#endif

// dst[k].lane[l] = the k-th dword of lane l at p + 4 * kDwords * l.
template <unsigned kDwords>
void spread_lanes(VectorRegister* dst, const uint8_t* p) {
#if defined(__AVX512F__)
  if constexpr (kDwords == 2 || kDwords == 4) {
    for (unsigned l = 0; l < kLanes; l += 16) {
      const uint8_t* const from = p + 4 * kDwords * l;
      __m512i v[kDwords];
      for (unsigned k = 0; k < kDwords; ++k) v[k] = _mm512_loadu_si512(from + 64 * k);
      if constexpr (kDwords == 2) {
        _mm512_store_si512(dst[0].lane + l, avx512::evens(v[0], v[1]));
        _mm512_store_si512(dst[1].lane + l, avx512::odds(v[0], v[1]));
      } else {
        const __m512i even0 = avx512::evens(v[0], v[1]), even1 = avx512::evens(v[2], v[3]);
        const __m512i odd0 = avx512::odds(v[0], v[1]), odd1 = avx512::odds(v[2], v[3]);
        _mm512_store_si512(dst[0].lane + l, avx512::evens(even0, even1));
        _mm512_store_si512(dst[1].lane + l, avx512::evens(odd0, odd1));
        _mm512_store_si512(dst[2].lane + l, avx512::odds(even0, even1));
        _mm512_store_si512(dst[3].lane + l, avx512::odds(odd0, odd1));
      }
    }
    return;
  }
#endif
  uint32_t values[kLanes * kDwords];
  std::memcpy(values, p, sizeof values);
  for (unsigned k = 0; k < kDwords; ++k) {
    for (unsigned l = 0; l < kLanes; ++l) dst[k].lane[l] = values[l * kDwords + k];
  }
}

// The inverse.
template <unsigned kDwords>
void gather_lanes(uint8_t* p, const VectorRegister* data) {
#if defined(__AVX512F__)
  if constexpr (kDwords == 2 || kDwords == 4) {
    for (unsigned l = 0; l < kLanes; l += 16) {
      uint8_t* const to = p + 4 * kDwords * l;
      __m512i v[kDwords];
      for (unsigned k = 0; k < kDwords; ++k) v[k] = _mm512_load_si512(data[k].lane + l);
      if constexpr (kDwords == 2) {
        _mm512_storeu_si512(to, avx512::lower(v[0], v[1]));
        _mm512_storeu_si512(to + 64, avx512::upper(v[0], v[1]));
      } else {
        const __m512i even0 = avx512::lower(v[0], v[2]), even1 = avx512::upper(v[0], v[2]);
        const __m512i odd0 = avx512::lower(v[1], v[3]), odd1 = avx512::upper(v[1], v[3]);
        _mm512_storeu_si512(to, avx512::lower(even0, odd0));
        _mm512_storeu_si512(to + 64, avx512::upper(even0, odd0));
        _mm512_storeu_si512(to + 128, avx512::lower(even1, odd1));
        _mm512_storeu_si512(to + 192, avx512::upper(even1, odd1));
      }
    }
    return;
  }
#endif
  uint32_t values[kLanes * kDwords];
  for (unsigned k = 0; k < kDwords; ++k) {
    for (unsigned l = 0; l < kLanes; ++l) values[l * kDwords + k] = data[k].lane[l];
  }
  std::memcpy(p, values, sizeof values);
}

// dst[k].lane[l] = the k-th dword at base + offset[l], for the lanes of `mask`. All of them are
// accessible. `offset` may be one of the results.
template <unsigned kDwords>
void load_scattered(VectorRegister* dst, uint64_t mask, const uint8_t* base,
                    const uint32_t* offset) {
#if defined(__AVX512F__)
  for (unsigned l = 0; l < kLanes; l += 16) {
    const auto lanes = static_cast<__mmask16>(mask >> l);
    const __m512i at = _mm512_load_si512(offset + l);
    __m512i v[kDwords];
    for (unsigned k = 0; k < kDwords; ++k) {
      v[k] = _mm512_mask_i32gather_epi32(_mm512_load_si512(dst[k].lane + l), lanes, at,
                                         base + 4 * k, 1);
    }
    for (unsigned k = 0; k < kDwords; ++k) _mm512_store_si512(dst[k].lane + l, v[k]);
  }
#else
  for (; mask; mask &= mask - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(mask));
    uint32_t values[kDwords];
    std::memcpy(values, base + offset[l], sizeof values);
    for (unsigned k = 0; k < kDwords; ++k) dst[k].lane[l] = values[k];
  }
#endif
}

// The same with host addresses in place of offsets; not among the results.
template <unsigned kDwords>
void load_scattered(VectorRegister* dst, uint64_t mask, const uint64_t* address) {
#if defined(__AVX512F__)
  for (unsigned l = 0; l < kLanes; l += 8) {
    const auto lanes = static_cast<__mmask8>(mask >> l);
    const __m512i at = _mm512_loadu_si512(address + l);
    for (unsigned k = 0; k < kDwords; ++k) {
      auto* const row = reinterpret_cast<__m256i*>(dst[k].lane + l);
      // The base is dword k; the addresses are the indices.
      const auto* const base = reinterpret_cast<const void*>(uintptr_t{4} * k);
      _mm256_store_si256(row,
                         _mm512_mask_i64gather_epi32(_mm256_load_si256(row), lanes, at, base, 1));
    }
  }
#else
  for (; mask; mask &= mask - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(mask));
    const auto* const p = reinterpret_cast<const uint8_t*>(address[l]);
    for (unsigned k = 0; k < kDwords; ++k) dst[k].lane[l] = load<uint32_t>(p + 4 * k);
  }
#endif
}

}  // namespace halyard::vgpu::isa
