// The 32-bit integer instructions against a scalar model written from the ISA document's pseudocode
// (Vega ISA, 12.7 to 12.11), with random and edge-case operands in every lane.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>

#include "vgpu/isa/valu/tests/machine.h"

namespace halyard::vgpu::isa::test {
namespace {

using U = uint32_t;

int32_t s(U x) {
  return static_cast<int32_t>(x);
}
U u24(U x) {
  return x & 0xffffff;
}
int64_t i24(U x) {
  return static_cast<int32_t>(x << 8) >> 8;
}
U byte(U x, unsigned n) {
  return x >> (8 * n) & 0xff;
}
U distance(U a, U b) {
  return a > b ? a - b : b - a;
}
U sad_u8(U a, U b) {
  U sum = 0;
  for (unsigned n = 0; n < 4; ++n) sum += distance(byte(a, n), byte(b, n));
  return sum;
}
U field(U a, U b, U c, bool is_signed) {
  const unsigned offset = b & 31, width = c & 31;
  const U from = is_signed ? static_cast<U>(s(a) >> offset) : a >> offset;
  const U shifted = from & ((1u << width) - 1);
  if (!is_signed || width == 0 || (shifted >> (width - 1) & 1) == 0) return shifted;
  return shifted | ~((1u << width) - 1);
}
U leading(U a) {
  return a == 0 ? ~0u : static_cast<U>(std::countl_zero(a));
}
U leading_sign(U a) {
  for (unsigned i = 1; i < 32; ++i) {
    if ((a >> (31 - i) & 1) != a >> 31) return i;
  }
  return ~0u;
}
// V_PERM_B32: selectors 0..7 are bytes of {S0, S1}, 8..11 signs, 12 zero, more 0xff.
U permuted(U a, U b, U selectors) {
  const uint64_t both = uint64_t{a} << 32 | b;
  U result = 0;
  for (unsigned n = 0; n < 4; ++n) {
    const U select = byte(selectors, n);
    U value = 0xff;
    if (select < 8)
      value = static_cast<U>(both >> (8 * select)) & 0xff;
    else if (select < 12)
      value = (both >> (16 * (select - 8) + 15) & 1) != 0 ? 0xff : 0;
    else if (select == 12)
      value = 0;
    result |= value << (8 * n);
  }
  return result;
}
template <class T>
T median(T a, T b, T c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

struct Row {
  const char* name;
  unsigned sources;
  U (*model)(U a, U b, U c);
};

#define HALYARD_MODEL(name, sources, ...)                                                     \
  {name, sources, []([[maybe_unused]] U a, [[maybe_unused]] U b, [[maybe_unused]] U c) -> U { \
     return static_cast<U>(__VA_ARGS__);                                                      \
   }}

const Row kRows[] = {
    HALYARD_MODEL("v_mov_b32", 1, a),
    HALYARD_MODEL("v_not_b32", 1, ~a),
    HALYARD_MODEL("v_ffbh_u32", 1, leading(a)),
    HALYARD_MODEL("v_ffbh_i32", 1, leading_sign(a)),
    HALYARD_MODEL("v_ffbl_b32", 1, a == 0 ? ~0u : static_cast<U>(std::countr_zero(a))),
    HALYARD_MODEL("v_add_u32", 2, a + b),
    HALYARD_MODEL("v_sub_u32", 2, a - b),
    HALYARD_MODEL("v_subrev_u32", 2, b - a),
    HALYARD_MODEL("v_add_i32", 2, a + b),
    HALYARD_MODEL("v_sub_i32", 2, a - b),
    HALYARD_MODEL("v_mul_lo_u32", 2, a* b),
    HALYARD_MODEL("v_mul_hi_u32", 2, uint64_t{a} * b >> 32),
    HALYARD_MODEL("v_mul_hi_i32", 2, int64_t{s(a)} * s(b) >> 32),
    HALYARD_MODEL("v_mul_u32_u24", 2, u24(a) * u24(b)),
    HALYARD_MODEL("v_mul_hi_u32_u24", 2, uint64_t{u24(a)} * u24(b) >> 32),
    HALYARD_MODEL("v_mul_i32_i24", 2, i24(a) * i24(b)),
    HALYARD_MODEL("v_mul_hi_i32_i24", 2, i24(a) * i24(b) >> 32),
    HALYARD_MODEL("v_and_b32", 2, a& b),
    HALYARD_MODEL("v_or_b32", 2, a | b),
    HALYARD_MODEL("v_xor_b32", 2, a ^ b),
    HALYARD_MODEL("v_lshlrev_b32", 2, b << (a & 31)),
    HALYARD_MODEL("v_lshrrev_b32", 2, b >> (a & 31)),
    HALYARD_MODEL("v_ashrrev_i32", 2, s(b) >> (a & 31)),
    HALYARD_MODEL("v_min_i32", 2, std::min(s(a), s(b))),
    HALYARD_MODEL("v_max_i32", 2, std::max(s(a), s(b))),
    HALYARD_MODEL("v_min_u32", 2, std::min(a, b)),
    HALYARD_MODEL("v_max_u32", 2, std::max(a, b)),
    HALYARD_MODEL("v_bfm_b32", 2, ((1u << (a & 31)) - 1) << (b & 31)),
    HALYARD_MODEL("v_bcnt_u32_b32", 2, static_cast<U>(std::popcount(a)) + b),
    HALYARD_MODEL("v_mad_u32_u24", 3, u24(a) * u24(b) + c),
    HALYARD_MODEL("v_mad_i32_i24", 3, static_cast<U>(i24(a) * i24(b)) + c),
    HALYARD_MODEL("v_bfe_u32", 3, field(a, b, c, false)),
    HALYARD_MODEL("v_bfe_i32", 3, field(a, b, c, true)),
    HALYARD_MODEL("v_bfi_b32", 3, (a & b) | (~a & c)),
    HALYARD_MODEL("v_alignbit_b32", 3, (uint64_t{a} << 32 | b) >> (c & 31)),
    HALYARD_MODEL("v_alignbyte_b32", 3, (uint64_t{a} << 32 | b) >> (8 * (c & 3))),
    HALYARD_MODEL("v_perm_b32", 3, permuted(a, b, c)),
    HALYARD_MODEL("v_min3_i32", 3, std::min({s(a), s(b), s(c)})),
    HALYARD_MODEL("v_max3_i32", 3, std::max({s(a), s(b), s(c)})),
    HALYARD_MODEL("v_med3_i32", 3, median(s(a), s(b), s(c))),
    HALYARD_MODEL("v_min3_u32", 3, std::min({a, b, c})),
    HALYARD_MODEL("v_max3_u32", 3, std::max({a, b, c})),
    HALYARD_MODEL("v_med3_u32", 3, median(a, b, c)),
    HALYARD_MODEL("v_sad_u8", 3, sad_u8(a, b) + c),
    HALYARD_MODEL("v_sad_hi_u8", 3, (sad_u8(a, b) << 16) + c),
    HALYARD_MODEL("v_sad_u16", 3,
                  distance(a & 0xffff, b & 0xffff) + distance(a >> 16, b >> 16) + c),
    HALYARD_MODEL("v_sad_u32", 3, distance(a, b) + c),
    HALYARD_MODEL("v_add3_u32", 3, a + b + c),
    HALYARD_MODEL("v_lshl_add_u32", 3, (a << (b & 31)) + c),
    HALYARD_MODEL("v_add_lshl_u32", 3, (a + b) << (c & 31)),
    HALYARD_MODEL("v_lshl_or_b32", 3, (a << (b & 31)) | c),
    HALYARD_MODEL("v_and_or_b32", 3, (a & b) | c),
    HALYARD_MODEL("v_or3_b32", 3, a | b | c),
    HALYARD_MODEL("v_xad_u32", 3, (a ^ b) + c),
};

#undef HALYARD_MODEL

TEST(IntegerModel, EveryRowAgreesInEveryLane) {
  std::mt19937_64 random(7);
  const U edges[] = {0,          1,          2,          31,         32,         0x7fffff,
                     0x800000,   0xffffff,   0x7fffffff, 0x80000000, 0x80000001, 0xffffffff,
                     0x0c0b0a09, 0x00010203, 0x80008000, 0xffff0000};
  Machine m;
  for (const Row& row : kRows) {
    for (int round = 0; round < 8; ++round) {
      for (unsigned r = 0; r < 3; ++r) {
        for (unsigned lane = 0; lane < kLanes; ++lane) {
          m.v(r, lane) =
              random() % 3 ? static_cast<U>(random()) : edges[random() % std::size(edges)];
          if (random() % 4 == 0) m.v(r, lane) &= 0x0f0f0f0f;
        }
      }
      Instruction in = Machine::make(row.name);
      for (unsigned r = 0; r < row.sources; ++r) in.src[r] = vreg(r);
      in.dst = vreg(8);
      m.run_both(in);
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        const U a = m.v(0, lane), b = m.v(1, lane), c = m.v(2, lane);
        ASSERT_EQ(m.v(8, lane), row.model(a, b, c))
            << row.name << std::hex << " 0x" << a << " 0x" << b << " 0x" << c;
      }
    }
  }
}

}  // namespace
}  // namespace halyard::vgpu::isa::test
