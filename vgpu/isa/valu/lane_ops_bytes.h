// Bytes and cube maps: permutation, sums of absolute differences, interpolation, one lane each
// (Vega ISA 12.10, VOP3A).
#pragma once

#include <cmath>
#include <cstdint>

#include "vgpu/isa/valu/lane_ops_float.h"
#include "vgpu/isa/valu/lane_ops_integer.h"
#include "vgpu/isa/valu/values.h"

namespace halyard::vgpu::isa::valu {

constexpr uint32_t byte_of(uint64_t x, unsigned i) {
  return x >> (8 * i) & 0xff;
}

// Each byte of the result is chosen by a byte of `c`: 0..7 a byte of {a, b}; 8..11 the sign of
// bytes 1, 3, 5, 7, spread; 12 zero; from 13 on all ones.
inline uint32_t perm_b32(uint32_t a, uint32_t b, uint32_t c) {
  const uint64_t data = static_cast<uint64_t>(a) << 32 | b;
  uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const uint32_t sel = byte_of(c, i);
    uint32_t byte = 0xff;
    if (sel < 8) {
      byte = byte_of(data, sel);
    } else if (sel < 12) {
      byte = (byte_of(data, 2 * (sel - 8) + 1) & 0x80) != 0 ? 0xff : 0;
    } else if (sel == 12) {
      byte = 0;
    }
    result |= byte << (8 * i);
  }
  return result;
}

// Signs are rare.
inline Flagged<uint32_t> perm_b32_fast(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t result = 0, rare = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const uint32_t sel = c >> (8 * i) & 0xff;
    const uint32_t byte = ((sel & 4) != 0 ? a : b) >> (8 * (sel & 3)) & 0xff;
    result |= (sel < 12 ? byte : (sel > 12 ? 0xffu : 0u)) << (8 * i);
    rare |= both(sel >= 8, sel < 12);
  }
  return {result, rare != 0};
}

// Averages of bytes; the low bits of `c`'s bytes say whether halves round up.
inline uint32_t lerp_u8(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const uint32_t total = byte_of(a, i) + byte_of(b, i) + (byte_of(c, i) & 1);
    result |= (total >> 1) << (8 * i);
  }
  return result;
}

constexpr uint32_t distance(uint32_t a, uint32_t b) {
  return a > b ? a - b : b - a;
}
constexpr uint32_t distance_of_bytes(uint32_t a, uint32_t b) {
  return distance(byte_of(a, 0), byte_of(b, 0)) + distance(byte_of(a, 1), byte_of(b, 1)) +
         distance(byte_of(a, 2), byte_of(b, 2)) + distance(byte_of(a, 3), byte_of(b, 3));
}
// Masked: a reference byte (of `b`) that is zero does not count.
constexpr uint32_t masked_distance_of_bytes(uint32_t a, uint32_t b) {
  uint32_t total = 0;
  for (unsigned i = 0; i < 4; ++i) {
    if (byte_of(b, i) != 0) total += distance(byte_of(a, i), byte_of(b, i));
  }
  return total;
}

// An accumulation that saturates with CLAMP and wraps without.
template <bool kClamp>
constexpr uint32_t accumulate(uint64_t x, uint32_t sum) {
  return kClamp ? saturate<uint32_t>(x + sum) : static_cast<uint32_t>(x + sum);
}
template <bool kClamp>
uint32_t sad_u8(uint32_t a, uint32_t b, uint32_t c) {
  return accumulate<kClamp>(distance_of_bytes(a, b), c);
}
template <bool kClamp>
uint32_t sad_hi_u8(uint32_t a, uint32_t b, uint32_t c) {
  return accumulate<kClamp>(distance_of_bytes(a, b) << 16, c);
}
template <bool kClamp>
uint32_t sad_u16(uint32_t a, uint32_t b, uint32_t c) {
  const uint32_t low = distance(a & 0xffff, b & 0xffff);
  return accumulate<kClamp>(low + distance(a >> 16, b >> 16), c);
}
template <bool kClamp>
uint32_t sad_u32(uint32_t a, uint32_t b, uint32_t c) {
  return accumulate<kClamp>(distance(a, b), c);
}
template <bool kClamp>
uint32_t msad_u8(uint32_t a, uint32_t b, uint32_t c) {
  return accumulate<kClamp>(masked_distance_of_bytes(a, b), c);
}

// Four distances at once: of the 4-byte windows of `a` that start at bytes 0 to 3.
template <bool kClamp, uint32_t (*kDistance)(uint32_t, uint32_t)>
uint64_t quad_sad_pk_u16(uint64_t a, uint32_t b, uint64_t c) {
  uint64_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const uint32_t window = static_cast<uint32_t>(a >> (8 * i));
    const uint32_t total = kDistance(window, b) + static_cast<uint16_t>(c >> (16 * i));
    const uint16_t part = kClamp ? saturate<uint16_t>(total) : static_cast<uint16_t>(total);
    result |= static_cast<uint64_t>(part) << (16 * i);
  }
  return result;
}
template <bool kClamp>
uint64_t qsad_pk_u16_u8(uint64_t a, uint32_t b, uint64_t c) {
  return quad_sad_pk_u16<kClamp, distance_of_bytes>(a, b, c);
}
template <bool kClamp>
uint64_t mqsad_pk_u16_u8(uint64_t a, uint32_t b, uint64_t c) {
  return quad_sad_pk_u16<kClamp, masked_distance_of_bytes>(a, b, c);
}
template <bool kClamp>
B128 mqsad_u32_u8(uint64_t a, uint32_t b, B128 c) {
  B128 result;
  for (unsigned i = 0; i < 4; ++i) {
    const uint32_t window = static_cast<uint32_t>(a >> (8 * i));
    result.dword[i] = accumulate<kClamp>(masked_distance_of_bytes(window, b), c.dword[i]);
  }
  return result;
}

// Cube maps: the face is that of the largest coordinate, z before y before x.
enum class CubeAxis { kX, kY, kZ };
inline CubeAxis cube_axis(float x, float y, float z) {
  if (std::fabs(z) >= std::fabs(x) && std::fabs(z) >= std::fabs(y)) return CubeAxis::kZ;
  return std::fabs(y) >= std::fabs(x) ? CubeAxis::kY : CubeAxis::kX;
}
inline float cubeid_f32(float x, float y, float z, const FloatMode& m) {
  x = flush_input(x, m);
  y = flush_input(y, m);
  z = flush_input(z, m);
  switch (cube_axis(x, y, z)) {
    case CubeAxis::kZ:
      return z < 0 ? 5.0f : 4.0f;
    case CubeAxis::kY:
      return y < 0 ? 3.0f : 2.0f;
    default:
      return x < 0 ? 1.0f : 0.0f;
  }
}
inline float cubesc_f32(float x, float y, float z, const FloatMode& m) {
  x = flush_input(x, m);
  y = flush_input(y, m);
  z = flush_input(z, m);
  switch (cube_axis(x, y, z)) {
    case CubeAxis::kZ:
      return z < 0 ? negate(x) : x;
    case CubeAxis::kY:
      return x;
    default:
      return x < 0 ? z : negate(z);
  }
}
inline float cubetc_f32(float x, float y, float z, const FloatMode& m) {
  x = flush_input(x, m);
  y = flush_input(y, m);
  z = flush_input(z, m);
  if (cube_axis(x, y, z) != CubeAxis::kY) return negate(y);
  return y < 0 ? negate(z) : z;
}
// Twice the major coordinate.
inline float cubema_f32(float x, float y, float z, const FloatMode& m) {
  x = flush_input(x, m);
  y = flush_input(y, m);
  z = flush_input(z, m);
  const CubeAxis axis = cube_axis(x, y, z);
  const float major = axis == CubeAxis::kZ ? z : (axis == CubeAxis::kY ? y : x);
  return arithmetic(major * 2.0f, m, major);
}

}  // namespace halyard::vgpu::isa::valu
