// Fast paths against the exact functions. A row without rare cases takes an instruction's fast path
// if it has one; the same row with a rare case in one lane takes the exact one for all of them. The
// other lanes' results must not differ.
//
// Random rows as elsewhere hold a NaN nearly always, and see fast paths hardly ever.

#include <gtest/gtest.h>

#include <iterator>

#include "vgpu/isa/valu/tests/random_machine.h"

namespace halyard::vgpu::isa::test {
namespace {

constexpr unsigned kSlowLane = 63;
constexpr unsigned kSourceStride = 4;  // registers from one source to the next

// What may be in a row beside ordinary numbers.
enum class Spice : uint8_t { kNothing, kZeros, kInfinities, kDenormals };

class Rows : public RandomMachine {
 public:
  Rows() : RandomMachine(103) {}

  void fill_sources(const Opcode& o, Spice spice) {
    for (unsigned i = 0; i < 3; ++i) {
      for (unsigned lane = 0; lane < kLanes; ++lane) set(kSourceStride * i, lane, o.src[i], spice);
    }
    for (unsigned lane = 0; lane < kLanes; ++lane) set(kDst, lane, o.dst, spice);
  }

 private:
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random() % n); }

  // Of a format with `mantissa` bits below an exponent of `exponent`. Trailing zeros make integers
  // and halves; exponents are those of such numbers.
  uint64_t number(unsigned mantissa, unsigned exponent, Spice spice) {
    const uint64_t sign = uint64_t{below(2)} << (mantissa + exponent);
    const uint64_t mask = (1ull << mantissa) - 1;
    const uint64_t fraction = random() & mask & ~0ull << below(mantissa + 1);
    const uint64_t all = (1ull << exponent) - 1, bias = all / 2;
    if (spice != Spice::kNothing && below(8) == 0) {
      if (spice == Spice::kInfinities) return sign | all << mantissa;
      return spice == Spice::kZeros ? sign : sign | fraction;
    }
    // As small as f16's denormals.
    if (spice == Spice::kDenormals && below(8) == 0 && exponent > 5)
      return sign | (bias - 26 + below(14)) << mantissa | fraction;
    return sign | (bias - 3 + below(mantissa + 6)) % all << mantissa | fraction;
  }
  // Selectors for v_perm_b32 as well.
  uint32_t integer(Spice spice) {
    constexpr uint8_t kBytes[] = {0, 1, 2, 3, 4, 5, 6, 7, 12, 13, 0x80, 0xff};
    if (spice == Spice::kZeros) return below(4) == 0 ? 0 : 1u << below(32);
    if (spice != Spice::kNothing) return static_cast<uint32_t>(random());
    uint32_t x = 0;
    for (unsigned i = 0; i < 4; ++i) x = x << 8 | kBytes[below(std::size(kBytes))];
    return x;
  }
  void set(unsigned reg, unsigned lane, Type type, Spice spice) {
    const auto half = [&] { return static_cast<uint32_t>(number(10, 5, spice)); };
    for (unsigned r = reg; r < reg + kSourceStride; ++r) {
      if (type == Type::kF32 || type == Type::kPkF32) {
        v(r, lane) = static_cast<uint32_t>(number(23, 8, spice));
      } else if (type == Type::kF16 || type == Type::kPkF16) {
        v(r, lane) = half() | half() << 16;
      } else {
        v(r, lane) = integer(spice);
      }
    }
    if (type == Type::kF64) set64(reg, lane, number(52, 11, spice));
  }
};

TEST(FastPaths, AgreeWithTheExactFunctions) {
  // NaNs of every type; denormals of every type; signs to be spread by v_perm_b32.
  constexpr uint32_t kRare[] = {0x7ff17d01, 0x00010001, 0x08080808};
  Rows m;
  for (const Opcode& o : vector_opcodes()) {
    if (o.plain == nullptr || moves_lanes(row_of(o.op).name)) continue;
    Instruction in = Machine::make(row_of(o.op).name,
                                   is_packed(row_of(o.op).name) ? Format::kVop3p : Format::kVop3);
    for (unsigned i = 0; i < 3; ++i) in.src[i] = vreg(kSourceStride * i);
    in.dst = o.dst == Type::kMask ? Operand{} : vreg(kDst);
    for (int round = 0; round < 24; ++round) {
      m.fill_sources(o, static_cast<Spice>(round % 4));
      for (uint32_t& s : m.wave.sgpr) s = static_cast<uint32_t>(m.random());
      m.wave.set_exec(~0ull);
      const std::vector<VectorRegister> before(m.wave.vgpr, m.wave.vgpr + Machine::kRegisters);
      const Wave scalars = m.wave;
      m.run(in);
      const std::vector<VectorRegister> fast(m.wave.vgpr, m.wave.vgpr + Machine::kRegisters);
      const uint64_t mask = m.wave.vcc(), exec = m.wave.exec();
      for (const uint32_t rare : kRare) {
        std::copy(before.begin(), before.end(), m.wave.vgpr);
        std::memcpy(m.wave.sgpr, scalars.sgpr, sizeof m.wave.sgpr);
        m.wave.set_exec(~0ull);
        for (unsigned r = 0; r < kDst; ++r) m.v(r, kSlowLane) = rare;
        m.run(in);
        constexpr uint64_t kOthers = ~(1ull << kSlowLane);
        ASSERT_EQ(m.wave.vcc() & kOthers, mask & kOthers) << row_of(o.op).name;
        ASSERT_EQ(m.wave.exec() & kOthers, exec & kOthers) << row_of(o.op).name;
        for (unsigned d = 0; d < kDstDwords; ++d) {
          for (unsigned lane = 0; lane < kSlowLane; ++lane) {
            ASSERT_EQ(fast[kDst + d].lane[lane], m.v(kDst + d, lane))
                << row_of(o.op).name << " of " << std::hex << before[0].lane[lane] << ", "
                << before[kSourceStride].lane[lane] << ", " << before[2 * kSourceStride].lane[lane]
                << ", and in the next registers " << before[1].lane[lane] << ", "
                << before[kSourceStride + 1].lane[lane] << ", "
                << before[2 * kSourceStride + 1].lane[lane];
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace halyard::vgpu::isa::test
