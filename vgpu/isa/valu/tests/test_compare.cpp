#include <gtest/gtest.h>

#include <string>

#include "vgpu/isa/valu/tests/half_oracle.h"
#include "vgpu/isa/valu/tests/machine.h"

namespace halyard::vgpu::isa::test {
namespace {

// Runs one comparison of lane-uniform operands and returns its bit.
bool holds(Machine& m, const std::string& mnemonic, uint64_t a, uint64_t b) {
  m.fill64(0, a);
  m.fill64(2, b);
  Instruction in = Machine::make(mnemonic.c_str());
  in.src[0] = vreg(0);
  in.src[1] = vreg(2);
  in.sdst = sreg(10);
  m.run_both(in);
  const uint64_t mask = m.wave.scalar64(10);
  EXPECT_TRUE(mask == 0 || mask == ~0ull);
  return mask != 0;
}

struct FloatRelation {
  const char* name;
  bool less, equal, greater, unordered;
};
constexpr FloatRelation kFloatRelations[] = {
    {"f", false, false, false, false}, {"lt", true, false, false, false},
    {"eq", false, true, false, false}, {"le", true, true, false, false},
    {"gt", false, false, true, false}, {"lg", true, false, true, false},
    {"ge", false, true, true, false},  {"o", true, true, true, false},
    {"u", false, false, false, true},  {"nge", true, false, false, true},
    {"nlg", false, true, false, true}, {"ngt", true, true, false, true},
    {"nle", false, false, true, true}, {"neq", true, false, true, true},
    {"nlt", false, true, true, true},  {"tru", true, true, true, true},
};

TEST(Compare, EveryFloatRelationOfEveryType) {
  const double values[] = {-INFINITY, -2.0, -0.0, 0.0, 1.0, 1.5, INFINITY, NAN};
  Machine m;
  const auto encode = [](const std::string& type, double x) -> uint64_t {
    if (type == "f64") return bits(x);
    if (type == "f32") return bits(static_cast<float>(x));
    if (std::isnan(x)) return 0x7e00;
    if (std::isinf(x)) return x > 0 ? 0x7c00 : 0xfc00;
    return round_half(x, 0, std::signbit(x));
  };
  for (const std::string type : {"f16", "f32", "f64"}) {
    for (const auto& r : kFloatRelations) {
      for (const double a : values) {
        for (const double b : values) {
          const bool unordered = std::isnan(a) || std::isnan(b);
          const bool expected =
              unordered ? r.unordered : (a < b ? r.less : (a == b ? r.equal : r.greater));
          EXPECT_EQ(holds(m, "v_cmp_" + (r.name + ("_" + type)), encode(type, a), encode(type, b)),
                    expected)
              << r.name << " " << type << " " << a << " " << b;
        }
      }
    }
  }
}

TEST(Compare, DenormalsCompareAsZeroWhereTheModeFlushesThem) {
  Machine m;
  EXPECT_TRUE(holds(m, "v_cmp_gt_f32", 1, 0));
  EXPECT_TRUE(holds(m, "v_cmp_gt_f64", 1, 0));
  m.wave.mode.denorm_f32 = 0;
  EXPECT_FALSE(holds(m, "v_cmp_gt_f32", 1, 0));
  EXPECT_TRUE(holds(m, "v_cmp_eq_f32", 1, 0x80000002));
  EXPECT_TRUE(holds(m, "v_cmp_gt_f64", 1, 0));
  m.wave.mode.denorm_f16_f64 = 0;
  EXPECT_FALSE(holds(m, "v_cmp_gt_f64", 1, 0));
  EXPECT_FALSE(holds(m, "v_cmp_gt_f16", 1, 0));
}

template <class T>
void integer_relations(const std::string& type) {
  Machine m;
  using U = std::make_unsigned_t<T>;
  const T values[] = {0,
                      1,
                      std::numeric_limits<T>::min(),
                      std::numeric_limits<T>::max(),
                      static_cast<T>(-1),
                      static_cast<T>(0x1234)};
  for (const T a : values) {
    for (const T b : values) {
      // Bits above a 16-bit operand must not matter.
      const uint64_t above = sizeof(T) == 2 ? 0xabcd0000u : 0;
      const uint64_t x = static_cast<U>(a) | above, y = static_cast<U>(b);
      const std::string context = type + " " + std::to_string(a) + " " + std::to_string(b);
      EXPECT_FALSE(holds(m, "v_cmp_f_" + type, x, y)) << context;
      EXPECT_EQ(holds(m, "v_cmp_lt_" + type, x, y), a < b) << context;
      EXPECT_EQ(holds(m, "v_cmp_eq_" + type, x, y), a == b) << context;
      EXPECT_EQ(holds(m, "v_cmp_le_" + type, x, y), a <= b) << context;
      EXPECT_EQ(holds(m, "v_cmp_gt_" + type, x, y), a > b) << context;
      EXPECT_EQ(holds(m, "v_cmp_ne_" + type, x, y), a != b) << context;
      EXPECT_EQ(holds(m, "v_cmp_ge_" + type, x, y), a >= b) << context;
      EXPECT_TRUE(holds(m, "v_cmp_t_" + type, x, y)) << context;
    }
  }
}

TEST(Compare, EveryIntegerRelationOfEveryType) {
  integer_relations<int16_t>("i16");
  integer_relations<uint16_t>("u16");
  integer_relations<int32_t>("i32");
  integer_relations<uint32_t>("u32");
  integer_relations<int64_t>("i64");
  integer_relations<uint64_t>("u64");
}

TEST(Compare, EachValueHasExactlyOneClass) {
  struct Case {
    uint32_t f32;
    uint64_t f64;
    uint32_t f16;
    unsigned bit;
  };
  const Case cases[] = {
      {0x7f800001, 0x7ff0000000000001, 0x7c01, 0}, {0x7fc00000, 0x7ff8000000000000, 0x7e00, 1},
      {0xff800000, 0xfff0000000000000, 0xfc00, 2}, {0xbf800000, 0xbff0000000000000, 0xbc00, 3},
      {0x80000001, 0x8000000000000001, 0x8001, 4}, {0x80000000, 0x8000000000000000, 0x8000, 5},
      {0x00000000, 0x0000000000000000, 0x0000, 6}, {0x007fffff, 0x000fffffffffffff, 0x03ff, 7},
      {0x00800000, 0x0010000000000000, 0x0400, 8}, {0x7f800000, 0x7ff0000000000000, 0x7c00, 9},
  };
  Machine m;
  m.wave.mode.denorm_f32 = 0;  // classes look at the bits
  for (const Case& c : cases) {
    for (unsigned bit = 0; bit < 12; ++bit) {
      EXPECT_EQ(holds(m, "v_cmp_class_f32", c.f32, 1u << bit), bit == c.bit) << c.bit;
      EXPECT_EQ(holds(m, "v_cmp_class_f64", c.f64, 1u << bit), bit == c.bit) << c.bit;
      EXPECT_EQ(holds(m, "v_cmp_class_f16", c.f16, 1u << bit), bit == c.bit) << c.bit;
    }
  }
}

TEST(Compare, SignModifiersApply) {
  Machine m;
  m.fill(0, bits(-3.0f));
  Instruction in = Machine::make("v_cmp_gt_f32");
  in.src[0] = vreg(0);
  in.src[1] = constant(bits(2.0f));
  in.abs = 1;
  m.run(in);
  EXPECT_EQ(m.wave.vcc(), ~0ull);
}

}  // namespace
}  // namespace halyard::vgpu::isa::test
