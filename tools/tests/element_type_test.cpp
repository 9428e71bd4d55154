#include "tools/values/element_type.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "tools/values/float16.h"
#include "tools/values/float8.h"

namespace halyard::values {
namespace {

using ::testing::HasSubstr;

constexpr ElementType kAll[] = {
    ElementType::kI1,         ElementType::kI8,        ElementType::kI16,
    ElementType::kI32,        ElementType::kI64,       ElementType::kU8,
    ElementType::kU16,        ElementType::kU32,       ElementType::kU64,
    ElementType::kF16,        ElementType::kBf16,      ElementType::kF32,
    ElementType::kF64,        ElementType::kI4,        ElementType::kU4,
    ElementType::kF8E5M2,     ElementType::kF8E4M3Fn,  ElementType::kF8E5M2Fnuz,
    ElementType::kF8E4M3Fnuz, ElementType::kF8E8M0Fnu, ElementType::kCf64,
    ElementType::kCf128};

template <typename T>
T parsed(ElementType type, std::string_view text) {
  T value = {};
  const auto trouble = parse_element(type, text, &value);
  EXPECT_FALSE(trouble) << text << ": " << *trouble;
  return value;
}

std::string trouble(ElementType type, std::string_view text) {
  uint64_t value = 0;
  return parse_element(type, text, &value).value_or("");
}

TEST(ElementType, NamesReadBack) {
  for (const ElementType type : kAll) EXPECT_EQ(element_type_from_name(to_string(type)), type);
  EXPECT_EQ(element_type_from_name("ui8"), ElementType::kU8);
  EXPECT_EQ(element_type_from_name("ui64"), ElementType::kU64);
  EXPECT_EQ(element_type_from_name("si32"), ElementType::kI32);
  EXPECT_EQ(element_type_from_name("ui4"), ElementType::kU4);
  EXPECT_EQ(element_type_from_name("complex<f32>"), ElementType::kCf64);
  for (const char* wrong :
       {"", "i", "i2", "ui1", "ui", "uu8", "uf32", "si1", "sf32", "F32", "f32 ", "f128"}) {
    EXPECT_EQ(element_type_from_name(wrong), std::nullopt) << wrong;
  }
}

// The largest and least numbers of each format as OCP's and AMD's documents give them.
TEST(ElementType, EightBitFloatsHaveTheirFormatsNumbers) {
  const struct {
    Float8 format;
    double largest, least;
    uint8_t one, nan;
  } rows[] = {
      {Float8::kE5M2, 57344, 0x1p-16, 0x3c, 0x7e},
      {Float8::kE4M3Fn, 448, 0x1p-9, 0x38, 0x7f},
      {Float8::kE5M2Fnuz, 57344, 0x1p-17, 0x40, 0x80},
      {Float8::kE4M3Fnuz, 240, 0x1p-10, 0x40, 0x80},
      {Float8::kE8M0Fnu, 0x1p127, 0x1p-127, 0x7f, 0xff},
  };
  for (const auto& row : rows) {
    const int number = static_cast<int>(row.format);
    EXPECT_EQ(float8_largest(row.format), row.largest) << number;
    EXPECT_EQ(float8_from_double(row.format, 1), row.one) << number;
    EXPECT_EQ(float8_from_double(row.format, NAN), row.nan) << number;
    EXPECT_TRUE(std::isnan(float8_to_float(row.format, row.nan))) << number;
    const uint8_t least = row.format == Float8::kE8M0Fnu ? 0 : 1;
    EXPECT_EQ(float8_to_float(row.format, least), row.least) << number;
    // Each code reads back, and each midpoint goes to the even neighbour.
    for (int code = 0; code < 256; ++code) {
      const float value = float8_to_float(row.format, static_cast<uint8_t>(code));
      if (std::isnan(value)) continue;
      EXPECT_EQ(float8_from_double(row.format, value), code) << number << " " << code;
      const float next = float8_to_float(row.format, static_cast<uint8_t>(code + 1));
      if (code >= 127 || !std::isfinite(next) || !std::isfinite(value)) continue;
      EXPECT_EQ(float8_from_double(row.format, (double{value} + next) / 2),
                code % 2 == 0 ? code : code + 1)
          << number << " " << code;
    }
  }
  EXPECT_EQ(float8_from_double(Float8::kE4M3Fn, 464), 0x7e);  // a tie with 480, which is not there
  EXPECT_EQ(float8_from_double(Float8::kE4M3Fn, 465), std::nullopt);
  EXPECT_EQ(float8_from_double(Float8::kE5M2, 61440), std::nullopt);  // rounds to infinity
  EXPECT_EQ(float8_from_double(Float8::kE5M2, -INFINITY), 0xfc);
  EXPECT_EQ(float8_from_double(Float8::kE4M3Fnuz, -0.0), 0);
  EXPECT_EQ(float8_from_double(Float8::kE8M0Fnu, 0), std::nullopt);
  EXPECT_THAT(trouble(ElementType::kF8E4M3Fn, "inf"),
              HasSubstr("which holds numbers up to 448 and nan"));
  EXPECT_THAT(trouble(ElementType::kI4, "8"), HasSubstr("holds -8 to 7"));
}

TEST(ElementType, ReadsIntegersAtTheirLimits) {
  EXPECT_EQ(parsed<int8_t>(ElementType::kI8, "-128"), -128);
  EXPECT_EQ(parsed<int8_t>(ElementType::kI8, "+127"), 127);
  EXPECT_EQ(parsed<uint8_t>(ElementType::kU8, "0xff"), 255);
  EXPECT_EQ(parsed<int32_t>(ElementType::kI32, "-0x80000000"), INT32_MIN);
  EXPECT_EQ(parsed<int64_t>(ElementType::kI64, "-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(parsed<uint64_t>(ElementType::kU64, "18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(parsed<uint16_t>(ElementType::kU16, "0b101"), 5);
  EXPECT_EQ(parsed<uint8_t>(ElementType::kI1, "true"), 1);
  EXPECT_EQ(parsed<uint8_t>(ElementType::kI1, "0"), 0);
  EXPECT_EQ(parsed<uint32_t>(ElementType::kU32, "-0"), 0U);
}

TEST(ElementType, RefusesIntegersThatDoNotFit) {
  EXPECT_THAT(trouble(ElementType::kI8, "128"), HasSubstr("-128 to 127"));
  EXPECT_THAT(trouble(ElementType::kI8, "-129"), HasSubstr("-128 to 127"));
  EXPECT_THAT(trouble(ElementType::kU8, "-1"), HasSubstr("0 to 255"));
  EXPECT_THAT(trouble(ElementType::kI1, "2"), HasSubstr("0 to 1"));
  EXPECT_THAT(trouble(ElementType::kU64, "18446744073709551616"), HasSubstr("does not fit u64"));
  EXPECT_THAT(trouble(ElementType::kI64, "9223372036854775808"), HasSubstr("does not fit i64"));
}

TEST(ElementType, RefusesWhatIsNoInteger) {
  for (const char* wrong :
       {"", "-", "+", "1.5", "1e3", "0x", "0b2", "--1", "+-1", "x", "1x", " 1"}) {
    EXPECT_THAT(trouble(ElementType::kI32, wrong), HasSubstr("not a number")) << wrong;
  }
}

TEST(ElementType, ReadsFloats) {
  EXPECT_EQ(parsed<float>(ElementType::kF32, "0.1"), 0.1F);
  EXPECT_EQ(parsed<float>(ElementType::kF32, "0x1.8p3"), 12.0F);
  EXPECT_EQ(parsed<double>(ElementType::kF64, "-1e-320"), -1e-320);
  EXPECT_EQ(parsed<float>(ElementType::kF32, "1e-60"), 0.0F);
  EXPECT_EQ(parsed<float>(ElementType::kF32, "-inf"), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(parsed<double>(ElementType::kF64, "nan")));
  EXPECT_EQ(parsed<uint16_t>(ElementType::kF16, "1.5"), 0x3e00);
  EXPECT_EQ(parsed<uint16_t>(ElementType::kBf16, "1.5"), 0x3fc0);
  EXPECT_EQ(parsed<uint16_t>(ElementType::kF16, "inf"), 0x7c00);
}

// 1 + 2^-24 is a tie for f32. Slightly above it f32 rounds up; by way of f64 it would not.
TEST(ElementType, RoundsF32Once) {
  EXPECT_EQ(parsed<float>(ElementType::kF32, "1.000000059604644775390625"), 1.0F);
  EXPECT_EQ(parsed<float>(ElementType::kF32, "1.000000059604644775390625000001"),
            1.00000011920929F);
}

TEST(ElementType, RefusesFloatsThatDoNotFit) {
  EXPECT_THAT(trouble(ElementType::kF32, "1e39"), HasSubstr("does not fit f32"));
  EXPECT_THAT(trouble(ElementType::kF64, "-1e309"), HasSubstr("does not fit f64"));
  EXPECT_THAT(trouble(ElementType::kF16, "65520"), HasSubstr("65504"));
  EXPECT_THAT(trouble(ElementType::kBf16, "1e39"), HasSubstr("does not fit bf16"));
  EXPECT_EQ(parsed<uint16_t>(ElementType::kF16, "65519"), 0x7bff);
}

TEST(ElementType, RefusesWhatIsNoFloat) {
  for (const char* wrong : {"", "-", ".", "1.5.2", "1e", "0x", "1,5", "infinit", " 1", "1 "}) {
    EXPECT_THAT(trouble(ElementType::kF32, wrong), HasSubstr("not a number")) << wrong;
  }
  EXPECT_THAT(trouble(ElementType::kF32, std::string_view("1\0", 2)), HasSubstr("not a number"));
}

TEST(ElementType, QuotesWithoutControlCharacters) {
  EXPECT_THAT(trouble(ElementType::kI32, "a\x1b[2J"), HasSubstr("\"a?[2J\""));
  EXPECT_LT(trouble(ElementType::kI32, std::string(5000, 'a')).size(), 100U);
}

TEST(ElementType, PrintsTheShortestTextThatReadsBack) {
  const float tenth = 0.1F;
  EXPECT_EQ(format_element(ElementType::kF32, &tenth), "0.1");
  const uint16_t half_tenth = f16_from_double(0.1);
  EXPECT_EQ(format_element(ElementType::kF16, &half_tenth), "0.1");
  const uint16_t largest = 0x7bff;
  EXPECT_EQ(format_element(ElementType::kF16, &largest), "65504");
  const uint16_t thousands = f16_from_double(2050);
  EXPECT_EQ(format_element(ElementType::kF16, &thousands), "2050");
  const float infinite = -std::numeric_limits<float>::infinity();
  EXPECT_EQ(format_element(ElementType::kF32, &infinite), "-inf");
  const int8_t small = -5;
  EXPECT_EQ(format_element(ElementType::kI8, &small), "-5");
  const uint8_t letter = 'A';
  EXPECT_EQ(format_element(ElementType::kU8, &letter), "65");
}

// Any bits, printed and read again, are the same value, for every type.
TEST(ElementType, RandomBitsSurvivePrintingAndReading) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    for (const ElementType type : kAll) {
      uint64_t bits[2] = {random(), random()};
      if (type == ElementType::kI1) bits[0] &= 1;
      if (type == ElementType::kU4) bits[0] &= 0xf;
      if (type == ElementType::kI4) bits[0] = ((bits[0] & 0xf) ^ 8) - 8;
      const std::string text = format_element(type, bits);
      uint64_t again[2] = {};
      const auto trouble = parse_element(type, text, again);
      ASSERT_FALSE(trouble) << *trouble;
      // A NaN's payload is not printed.
      if (text.find("nan") != std::string::npos) {
        ASSERT_EQ(format_element(type, again), text);
      } else {
        ASSERT_EQ(std::memcmp(bits, again, byte_size(type)), 0) << to_string(type) << " " << text;
      }
    }
  }
}

TEST(Float16, EveryNumberSurvivesWidening) {
  for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float f16 = f16_to_float(half);
    const float bf16 = bf16_to_float(half);
    if (std::isnan(f16)) {
      EXPECT_TRUE(std::isnan(f16_to_float(f16_from_double(f16))));
    } else {
      ASSERT_EQ(f16_from_double(f16), half);
    }
    // A bfloat16 is the upper half of a float.
    if (std::isnan(bf16)) {
      EXPECT_TRUE(std::isnan(std::bit_cast<float>(bits << 16)));
    } else {
      ASSERT_EQ(std::bit_cast<uint32_t>(bf16), bits << 16);
      ASSERT_EQ(bf16_from_double(bf16), half);
    }
  }
}

// Between two neighbours: the middle goes to the even one, and whatever is off it to the nearer.
TEST(Float16, RoundsToNearestEven) {
  for (uint32_t bits = 0; bits < 0x7bff; ++bits) {
    const double low = f16_to_float(static_cast<uint16_t>(bits));
    const double high = f16_to_float(static_cast<uint16_t>(bits + 1));
    const double middle = (low + high) / 2;
    ASSERT_EQ(f16_from_double(middle), bits + (bits & 1));
    ASSERT_EQ(f16_from_double(std::nextafter(middle, low)), bits);
    ASSERT_EQ(f16_from_double(std::nextafter(middle, high)), bits + 1);
    ASSERT_EQ(f16_from_double(-middle), 0x8000 | (bits + (bits & 1)));
  }
  EXPECT_EQ(f16_from_double(65520), 0x7c00);
  EXPECT_EQ(f16_from_double(std::nextafter(65520, 0)), 0x7bff);
  EXPECT_EQ(f16_from_double(1e300), 0x7c00);
  EXPECT_EQ(f16_from_double(-1e-300), 0x8000);
  EXPECT_EQ(bf16_from_double(1e300), 0x7f80);
}

}  // namespace
}  // namespace halyard::values
