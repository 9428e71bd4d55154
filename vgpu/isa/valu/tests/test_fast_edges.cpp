// Fast paths against the exact functions, as test_fast_paths.cpp, at the edges of what they are
// for: most operands are near one, and single ones among them have an exponent at a limit.

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include "vgpu/isa/valu/tests/random_machine.h"

namespace halyard::vgpu::isa::test {
namespace {

constexpr unsigned kRareLane = 37;

// Where usual operands end: zeros, denormals, and exponents of which an operation may think as
// large or small.
constexpr std::array<uint32_t, 25> kEdges32 = {
    0,          0x80000000, 1,          0x807fffff, 0x00800000, 0x80ffffff, 0x0b800000,
    0x0bffffff, 0x0c000000, 0x0f800000, 0x34000000, 0x3f800000, 0xbf800000, 0x3f000000,
    0x40000000, 0x6f800000, 0x6f7fffff, 0x7e000000, 0x7e7fffff, 0x7e800000, 0x7f000000,
    0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000};
constexpr std::array<uint64_t, 22> kEdges64 = {0,
                                               0x8000000000000000,
                                               1,
                                               0x800fffffffffffff,
                                               0x0010000000000000,
                                               0x801fffffffffffff,
                                               0x0350000000000000,
                                               0x035fffffffffffff,
                                               0x0360000000000000,
                                               0x3ff0000000000000,
                                               0xbff0000000000000,
                                               0x3fe0000000000000,
                                               0x4000000000000000,
                                               0x6fe0000000000000,
                                               0x6ff0000000000000,
                                               0x7fc0000000000000,
                                               0x7fdfffffffffffff,
                                               0x7fd0000000000000,
                                               0x7fe0000000000000,
                                               0xffefffffffffffff,
                                               0x7ff0000000000000,
                                               0xfff0000000000000};
constexpr std::array<uint16_t, 14> kEdges16 = {0,      0x8000, 1,      0x83ff, 0x0400,
                                               0x87ff, 0x3c00, 0xbc00, 0x3800, 0x4000,
                                               0x7bff, 0xfbff, 0x7c00, 0xfc00};
// As the exponents of v_ldexp.
constexpr std::array<uint32_t, 14> kEdgesOfInts = {
    0,         1,         126,        127,        128,        1023,       1024,
    0u - 126u, 0u - 127u, 0u - 1022u, 0u - 1023u, 0x7fffffff, 0x80000000, 0u - 1u};

struct Results {
  explicit Results(const Wave& w)
      : rows(w.vgpr + kDst, w.vgpr + kDst + kDstDwords), flags(w.scalar64(20)), vcc(w.vcc()) {}
  std::vector<VectorRegister> rows;
  uint64_t flags, vcc;
};

class FastEdges : public testing::Test {
 protected:
  RandomMachine m{77};

  // Values that are usual for their type, or an edge.
  uint64_t value(Type type, bool edge) {
    const uint64_t any = m.random();
    switch (type) {
      case Type::kF32:
      case Type::kPkF32: {
        const auto one = [&](uint64_t x) -> uint64_t {
          if (edge) return kEdges32[x % kEdges32.size()];
          return (x & 0x80ffffff) | 0x3f000000;
        };
        return one(any & 0xffffffff) | one(any >> 32) << 32;
      }
      case Type::kF64:
        if (edge) return kEdges64[any % kEdges64.size()];
        return (any & 0x803fffffffffffff) | 0x3fc0000000000000;
      case Type::kF16:
      case Type::kPkF16: {
        const auto one = [&](uint64_t x) -> uint64_t {
          if (edge) return kEdges16[x / 2 % (x % 2 == 0 ? 2 : kEdges16.size())];  // often zeros
          return (x & 0x8bff) | 0x3800;
        };
        return one(any & 0xffff) | one(any >> 16 & 0xffff) << 16;
      }
      default:
        return edge ? kEdgesOfInts[any % kEdgesOfInts.size()] : any % 32;
    }
  }
  void fill(const Opcode& o, const Instruction& in, unsigned edges) {
    for (unsigned s = 0; s < 3; ++s) {
      const unsigned r = in.src[s].index;
      if (in.src[s].kind != OperandKind::kVector) continue;
      for (unsigned lane = 0; lane < kLanes; ++lane) m.set64(r, lane, value(o.src[s], false));
      // Often an edge meets usual operands, and now and then another edge.
      for (unsigned n = 0; n < edges; ++n) {
        m.set64(r, static_cast<unsigned>((n * 5 + m.random() % 2) % kRareLane),
                value(o.src[s], m.random() % 2 == 0));
      }
    }
  }
  // False after a failure, which says it all for this opcode.
  bool agrees(const Opcode& o, unsigned round) {
    const Handler handler = o.plain != nullptr ? o.plain : o.general;
    Instruction in = m.instruction(o);
    for (unsigned s = 0; s < 3; ++s) in.src[s] = vreg(4 * s);
    in.sdst = sreg(20);
    if (o.src[2] == Type::kMask) in.src[2] = vcc();
    in.op_sel_hi = 7;
    in = decoded(in);
    const uint64_t vcc_before = round % 8 == 7 ? uint64_t{1} << round % 32 : 0;
    fill(o, in, round % 3 * 2);
    std::vector<VectorRegister> old(kDstDwords);
    for (VectorRegister& row : old) {
      for (uint32_t& lane : row.lane) lane = static_cast<uint32_t>(value(o.dst, false));
    }
    const auto run = [&] {
      std::memcpy(m.wave.vgpr + kDst, old.data(), sizeof old[0] * kDstDwords);
      m.wave.set_exec(~0ull);
      m.wave.set_vcc(vcc_before);
      EXPECT_EQ(handler(m.wave, in), Outcome::kNext) << row_of(o.op).name;
      return Results(m.wave);
    };
    const Results usual = run();
    for (unsigned s = 0; s < 3; ++s) {
      if (in.src[s].kind == OperandKind::kVector)
        m.set64(in.src[s].index, kRareLane, nan(o.src[s]));
    }
    const Results full = run();
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      if (lane == kRareLane) continue;
      bool same = ((usual.flags ^ full.flags) >> lane & 1) == 0;
      same &= ((usual.vcc ^ full.vcc) >> lane & 1) == 0;
      for (unsigned d = 0; d < kDstDwords; ++d)
        same &= usual.rows[d].lane[lane] == full.rows[d].lane[lane];
      if (same) continue;
      ADD_FAILURE() << row_of(o.op).name << std::hex << " of " << m.v64(0, lane) << ' '
                    << m.v64(4, lane) << ' ' << m.v64(8, lane) << ": " << usual.rows[1].lane[lane]
                    << '\'' << usual.rows[0].lane[lane] << ", for all operands "
                    << full.rows[1].lane[lane] << '\'' << full.rows[0].lane[lane];
      return false;
    }
    return true;
  }
  static uint64_t nan(Type type) {
    switch (type) {
      case Type::kF64:
        return 0x7ff8000000000001;
      case Type::kF16:
      case Type::kPkF16:
        return 0x7e017e01;
      default:
        return 0x7fc000017fc00001;
    }
  }
};

TEST_F(FastEdges, AgreeWithTheLoopsForAllOperands) {
  m.wave.mode = FloatMode{};
  for (const Opcode& o : vector_opcodes()) {
    if (moves_lanes(row_of(o.op).name)) continue;
    for (unsigned round = 0; round < 600 && agrees(o, round); ++round) continue;
  }
}

}  // namespace
}  // namespace halyard::vgpu::isa::test
