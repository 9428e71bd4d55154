#include "tools/values/value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tools/tests/support.h"
#include "tools/values/npy.h"

namespace halyard::values {
namespace {

using testing::bytes_of;
using testing::elements_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::message_of;
using testing::TemporaryFolder;
using testing::write_bytes;

Value parsed(std::string_view text) {
  auto value = parse_value(text);
  EXPECT_TRUE(value.ok()) << text << "\n" << message_of(value.status());
  return value.ok() ? std::move(value).value() : Value{};
}

std::string value_trouble(std::string_view text) {
  const auto value = parse_value(text);
  EXPECT_FALSE(value.ok()) << text;
  return message_of(value.status());
}

template <typename T>
std::vector<T> elements(std::string_view text) {
  return elements_of<T>(parsed(text).to_tensor().data);
}

TEST(ParseValue, ReadsFlatLists) {
  EXPECT_THAT(elements<float>("4xf32=1 2 3 4"), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(elements<float>(" 4xf32= 1, 2,3 , 4 "), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(elements<int32_t>("2x2xi32=1 2 3 4"), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(parsed("2x2xi32=1 2 3 4").type.to_string(), "2x2xi32");
  EXPECT_EQ(parsed("4xf32=1 2 3 4").kind, Value::Kind::kBuffer);
}

TEST(ParseValue, ReadsNestedLists) {
  EXPECT_THAT(elements<int32_t>("2x2xi32=[[1 2][3 4]]"), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(elements<int32_t>("2x2xi32=[ [1, 2], [3 4] ]"), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(elements<uint8_t>("3xu8=[1 2 3]"), ElementsAre(1, 2, 3));
  EXPECT_THAT(elements<int16_t>("1x1x2xi16=[[[7 8]]]"), ElementsAre(7, 8));
  EXPECT_THAT(elements<int16_t>("2x0xi16=[[][]]"), ElementsAre());
}

// As iree-run-module prints results.
TEST(ParseValue, ReadsRowsWithoutBracketsAroundThem) {
  EXPECT_THAT(elements<float>("2x2xf32=[1 2][3 4]"), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(elements<int32_t>("2x2x2xsi32=[[1 2][3 4]][[5 6][7 8]]"),
              ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_THAT(elements<int32_t>("1x2xi32=[1 2]"), ElementsAre(1, 2));
  EXPECT_THAT(elements<int32_t>(" 2x1xi32= [1] , [2] "), ElementsAre(1, 2));
  EXPECT_THAT(value_trouble("2x2xf32=[1 2]"), HasSubstr("1 of the 2 items of dimension 0"));
  EXPECT_THAT(value_trouble("2x2xf32=[1 2][3 4][5 6]"), HasSubstr("text after the last element"));
  EXPECT_THAT(value_trouble("2x2x2xf32=[1 2]"), HasSubstr("nests 3 brackets"));
}

TEST(ParseValue, AShapeAloneIsZeros) {
  const Value value = parsed("2x2xf32");
  EXPECT_EQ(value.kind, Value::Kind::kBuffer);
  EXPECT_EQ(value.contents, Value::Contents::kSplat);
  EXPECT_THAT(elements<float>("2x2xf32"), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(elements<float>("0xf32"), ElementsAre());
  EXPECT_EQ(parsed("1000000000000xf32").bytes(), 4000000000000U);
}

TEST(ParseValue, ReadsNullAndNumbersWithoutAType) {
  EXPECT_EQ(parsed("null").kind, Value::Kind::kNull);
  for (const char* const text : {"7", "-1", "3.14", "0x1f", "1e3", "inf", "true"}) {
    EXPECT_EQ(parsed(text).kind, Value::Kind::kNumber) << text;
    EXPECT_EQ(parsed(text).text, text);
  }
  EXPECT_THAT(value_trouble("nul"), HasSubstr("or is null"));
  EXPECT_THAT(value_trouble("7 8"), HasSubstr("column"));
}

TEST(ParseValue, ReadsStructsWithAddresses) {
  const Value value = parsed("{u8=1 ptr=%a {ptr=%b+16 i32=2} ptr=null}");
  EXPECT_EQ(value.data.size(), 40U);
  EXPECT_THAT(value.pointers, ElementsAre(ValuePointer{8, "%a", 0}, ValuePointer{16, "%b", 16}));
  EXPECT_THAT(value_trouble("{ptr=a}"), HasSubstr("ptr=%NAME"));
  EXPECT_THAT(value_trouble("{ptr=%a+x}"), HasSubstr("is not a number"));
  EXPECT_THAT(value_trouble("{ptr=}"), HasSubstr("ptr=%NAME"));
}

TEST(ParseValue, HalvesOfBytesArePacked) {
  EXPECT_EQ(parsed("5xi4=[1 -2 3 4 -8]").data, bytes_of<uint8_t>({0xe1, 0x43, 0x08}));
  EXPECT_EQ(parsed("2x2xu4=[15 0][1 2]").data, bytes_of<uint8_t>({0x0f, 0x21}));
  EXPECT_EQ(parsed("3xi4=-1").to_tensor().data, bytes_of<uint8_t>({0xff, 0xff}));
  EXPECT_EQ(parsed("{3xi4=[1 2 3] u8=9}").data, bytes_of<uint8_t>({0x21, 0x03, 9}));
  EXPECT_EQ(format_tensor(parsed("5xi4=1 -2 3 4 -8").to_tensor(), 0), "5xi4=1 -2 3 4 -8");
  EXPECT_EQ(parsed("5xi4=0").bytes(), 3U);
}

TEST(ParseValue, ComplexNumbersAndEightBitFloats) {
  EXPECT_THAT(elements<float>("3xcf64=1+2i -3i 4e-1-1e1i"), ElementsAre(1, 2, 0, -3, 0.4F, -10));
  EXPECT_THAT(elements<double>("1xcomplex<f64>=(1+2j)"), ElementsAre(1, 2));
  EXPECT_EQ(format_tensor(parsed("2xcf64=1+2i -3i").to_tensor(), 0), "2xcf64=1+2i 0-3i");
  EXPECT_THAT(elements<uint8_t>("4xf8E4M3FN=1 -2 448 nan"), ElementsAre(0x38, 0xc0, 0x7e, 0x7f));
  EXPECT_EQ(format_tensor(parsed("2x2xf8E4M3FN=[1 2][3 4.5]").to_tensor(), 0),
            "2x2xf8E4M3FN=[[1 2][3 4.5]]");
}

TEST(ParseValue, OneElementStandsForAll) {
  const Value value = parsed("1024xf32=0.5");
  EXPECT_EQ(value.contents, Value::Contents::kSplat);
  EXPECT_EQ(value.data.size(), 4U);
  EXPECT_EQ(elements_of<float>(value.to_tensor().data), std::vector<float>(1024, 0.5F));
  EXPECT_EQ(parsed("1xf32=2").contents, Value::Contents::kData);
}

// A size that no machine has is fine until somebody allocates it.
TEST(ParseValue, HugeSplatsAndOutputsTakeNoMemory) {
  EXPECT_EQ(parsed("1000000000000xf32=0").bytes(), 4000000000000U);
  EXPECT_EQ(parsed("&1000000000000xf32").bytes(), 4000000000000U);
}

TEST(ParseValue, ReadsOutputOnlyBuffers) {
  const Value value = parsed("&3xi64");
  EXPECT_EQ(value.kind, Value::Kind::kBuffer);
  EXPECT_EQ(value.contents, Value::Contents::kZero);
  EXPECT_THAT(elements_of<int64_t>(value.to_tensor().data), ElementsAre(0, 0, 0));
}

TEST(ParseValue, ReadsScalars) {
  const Value value = parsed("i32=7");
  EXPECT_EQ(value.kind, Value::Kind::kScalar);
  EXPECT_THAT(elements_of<int32_t>(value.data), ElementsAre(7));
  EXPECT_THAT(elements_of<float>(parsed("f32=1.5").data), ElementsAre(1.5F));
  EXPECT_EQ(parsed("ui16=0xffff").bytes(), 2U);
}

TEST(ParseValue, ReadsBytesAndLds) {
  EXPECT_EQ(parsed("bytes=0x0a0Bff").data, bytes_of<uint8_t>({0x0a, 0x0b, 0xff}));
  EXPECT_EQ(parsed("lds=4096").lds_bytes, 4096U);
  EXPECT_EQ(parsed("lds=4096").kind, Value::Kind::kLds);
}

TEST(ParseValue, LaysStructsOutAsCDoes) {
  struct Inner {
    uint8_t first;
    uint32_t count;
  };
  struct Outer {
    uint8_t tag;
    uint16_t rows;
    uint64_t stride;
    float scale;
    Inner nested[2];
    uint8_t last;
  };
  std::vector<std::byte> expected(sizeof(Outer));
  const auto put = [&](size_t offset, auto value) {
    std::memcpy(expected.data() + offset, &value, sizeof(value));
  };
  put(offsetof(Outer, tag), uint8_t{1});
  put(offsetof(Outer, rows), uint16_t{2});
  put(offsetof(Outer, stride), uint64_t{3});
  put(offsetof(Outer, scale), 4.5F);
  put(offsetof(Outer, nested[0].first), uint8_t{5});
  put(offsetof(Outer, nested[0].count), uint32_t{6});
  put(offsetof(Outer, nested[1].first), uint8_t{7});
  put(offsetof(Outer, nested[1].count), uint32_t{8});
  put(offsetof(Outer, last), uint8_t{9});
  const Value value = parsed("{u8=1 u16=2, u64=3 f32=4.5 {u8=5 u32=6} {u8=7 u32=8} u8=9 }");
  EXPECT_EQ(value.kind, Value::Kind::kBytes);
  EXPECT_EQ(value.data, expected);
  EXPECT_EQ(parsed("{u8=1 3xi16=[1 2 3]}").data, bytes_of<int16_t>({1, 1, 2, 3}));
}

TEST(ParseValue, ReadsFiles) {
  const TemporaryFolder folder;
  write_bytes(folder / "a.bin", std::string_view("\x01\x00\x02\x00", 4));
  EXPECT_EQ(parsed("@" + (folder / "a.bin")).kind, Value::Kind::kBytes);
  EXPECT_EQ(parsed("@" + (folder / "a.bin")).data.size(), 4U);
  EXPECT_THAT(elements<int16_t>("2xi16=@" + (folder / "a.bin")), ElementsAre(1, 2));

  const TensorType type{ElementType::kI16, {2}};
  write_bytes(folder / "a.npy", *npy_header(type) + std::string("\x03\x00\x04\x00", 4));
  EXPECT_EQ(parsed("@" + (folder / "a.npy")).type, type);
  EXPECT_THAT(elements<int16_t>("@" + (folder / "a.npy")), ElementsAre(3, 4));
  EXPECT_THAT(elements<int16_t>("2xi16=@" + (folder / "a.npy")), ElementsAre(3, 4));
  EXPECT_THAT(value_trouble("2xu16=@" + (folder / "a.npy")), HasSubstr("holds 2xi16, not 2xu16"));
}

// An .npz file as NumPy writes it: a zip file whose members are .npy files.
std::string npz(std::string_view member) {
  std::string file("PK\x03\x04\x2d", 5);
  file.resize(26);
  file += {static_cast<char>(member.size()), '\0', '\0', '\0'};
  return file + std::string(member) + std::string(64, '\1');
}

TEST(ParseValue, WhatAFileHoldsSaysWhatItIs) {
  const TemporaryFolder folder;
  const TensorType type{ElementType::kI16, {2}};
  const std::string array = *npy_header(type) + std::string("\x03\x00\x04\x00", 4);
  for (const char* const name : {"a.NPY", "a.bin", "array"}) {
    write_bytes(folder / name, array);
    EXPECT_EQ(parsed("@" + (folder / name)).type, type) << name;
    EXPECT_THAT(elements<int16_t>("2xi16=@" + (folder / name)), ElementsAre(3, 4)) << name;
    EXPECT_THAT(value_trouble("2xu16=@" + (folder / name)), HasSubstr("holds 2xi16, not 2xu16"));
  }
  write_bytes(folder / "lies.NPY", "abcd");
  EXPECT_THAT(value_trouble("1xf32=@" + (folder / "lies.NPY")), HasSubstr("not a valid .npy file"));
  const std::string empty_archive = "PK\x05\x06" + std::string(18, '\0');
  for (const std::string& archive : {npz("arr_0.npy"), empty_archive}) {
    write_bytes(folder / "archive", archive);
    EXPECT_THAT(value_trouble("@" + (folder / "archive")), HasSubstr("is an .npz file"));
  }
  write_bytes(folder / "lies.NpZ", "abcd");
  EXPECT_THAT(value_trouble("@" + (folder / "lies.NpZ")), HasSubstr("is an .npz file"));
  // Numbers may begin as a zip file does.
  for (const std::string& numbers : {npz("other.txt"), npz("arr_0.npy").substr(0, 35),
                                     npz("arr_0.npy").substr(0, 20), empty_archive + "more"}) {
    write_bytes(folder / "numbers", numbers);
    EXPECT_EQ(parsed("@" + (folder / "numbers")).kind, Value::Kind::kBytes) << numbers.size();
  }
}

TEST(ParseValue, FileTroubleNamesTheFile) {
  const TemporaryFolder folder;
  EXPECT_THAT(value_trouble("@" + (folder / "none.bin")), HasSubstr(folder / "none.bin"));
  EXPECT_THAT(value_trouble("@" + (folder / "none.bin")), HasSubstr("No such file"));
  EXPECT_THAT(value_trouble("@" + folder.path()), HasSubstr("Is a directory"));
  EXPECT_THAT(value_trouble("@/dev/zero"), HasSubstr("neither a regular file nor a pipe"));
  write_bytes(folder / "three.bin", "abc");
  EXPECT_THAT(value_trouble("1xf32=@" + (folder / "three.bin")),
              HasSubstr("3 bytes, but 1xf32 has 4"));
  write_bytes(folder / "bad.npy", "abc");
  EXPECT_THAT(value_trouble("@" + (folder / "bad.npy")), HasSubstr(folder / "bad.npy"));
}

struct Malformed {
  const char* text;
  size_t column;
  const char* message;
};

TEST(ParseValue, SaysWhereTextIsMalformed) {
  const Malformed cases[] = {
      {"", 1, "a value is expected"},
      {"   ", 4, "a value is expected"},
      {"4f32=1", 2, "an 'x'"},
      {"4y", 2, "an 'x'"},
      {"4x", 3, "a size or a type"},
      {"4xf33=1", 3, "a size or a type"},
      {"4xf32:1", 6, "'=' is expected"},
      {"4xf32=", 7, "0 of the 4 elements"},
      {"4xf32=1 2 3", 12, "3 of the 4 elements"},
      {"4xf32=1 2 3 4 5", 15, "has only 4 elements"},
      {"0xf32=1", 7, "has only 0 elements"},
      {"4xf32=1 2 x 4", 11, "\"x\" is not a number of type f32"},
      {"4xf32=1,,2", 9, "not ','"},
      {"2xf32=1,2,", 11, "after the comma"},
      {"4xi8=1 2 3 300", 12, "-128 to 127"},
      {"2xi32=[1 2", 11, "a ']' is expected"},
      {"2xi32=[1 2 3]", 12, "a ']' is expected"},
      {"2xi32=[1]", 9, "1 of the 2 items"},
      {"2xi32=[1 2] 3", 13, "text after the"},
      {"2x2xi32=[1 2 3 4]", 14, "a ']' is expected after 2 items of dimension 1"},
      {"2x2x2xi32=[1 2 3 4]", 12, "nests 3 brackets"},
      {"2x2xi32=[[1 2][3 4]", 20, "a ']' is expected"},
      {"2x2xi32=[[1 2]]", 15, "1 of the 2 items"},
      {"99999999999999999999xi8=0", 1, "64 bits"},
      {"9223372036854775807x2xi8=0", 1, "larger than any memory"},
      {"0x9223372036854775807x2xi8=", 1, "larger than any memory"},
      {"-4xf32=1", 1, "a value starts with"},
      {"&f32", 2, "a shape is expected after '&'"},
      {"&4xf32=1", 7, "ends after its type"},
      {"i32", 4, "'=' is expected"},
      {"i32=", 5, "the text ends"},
      {"i32=1 2", 7, "one number"},
      {"i32=1.5", 5, "not a number"},
      {"float=1", 1, "a value starts with"},
      {"@", 2, "a file name"},
      {"4xf32=@", 8, "a file name"},
      {"bytes=12", 7, "0x"},
      {"bytes=0x", 9, "digits are expected"},
      {"bytes=0x123", 11, "two hexadecimal digits"},
      {"bytes=0x1g", 9, "two hexadecimal digits"},
      {"lds=-1", 5, "does not fit u32"},
      {"lds=4294967296", 5, "does not fit u32"},
      {"lds=1 2", 6, "one number"},
      {"{", 2, "'}' is expected"},
      {"{}", 2, "at least one field"},
      {"{i32=1", 7, "'}' is expected"},
      {"{i32=1} 2", 9, "text after the"},
      {"{2xi32=1}", 8, "in brackets"},
      {"{{i32=1}", 9, "'}' is expected"},
      {"{i32}", 5, "'=' is expected"},
  };
  for (const Malformed& c : cases) {
    const std::string message = value_trouble(c.text);
    EXPECT_THAT(message, HasSubstr("at column " + std::to_string(c.column) + ": ")) << c.text;
    EXPECT_THAT(message, HasSubstr(c.message)) << c.text;
  }
}

TEST(ParseValue, MarksThePlace) {
  EXPECT_THAT(value_trouble("2xf32=1 x"), HasSubstr("\n  2xf32=1 x\n          ^"));
  // A letter of two bytes takes one column.
  EXPECT_THAT(value_trouble("1xf32=é,é"), HasSubstr("\n  1xf32=é,é\n        ^"));
  // Only the text around the place is shown.
  const std::string longish = "1000xf32=" + std::string(2000, '1') + " x";
  EXPECT_LT(value_trouble("1xi8=" + longish).size(), 300U);
}

TEST(ParseValue, RefusesDeepNesting) {
  std::string shape;
  for (int i = 0; i < 65; ++i) shape += "1x";
  EXPECT_THAT(value_trouble(shape + "i8=0"), HasSubstr("at most 64 dimensions"));
  EXPECT_THAT(value_trouble(std::string(100000, '{')), HasSubstr("nested too deeply"));
}

TEST(FormatTensor, PrintsWhatParseValueReads) {
  for (const char* text :
       {"4xf32=1 2 3 4", "2x2xi32=[[1 2][3 4]]", "2x1x2xu8=[[[1 2]][[3 4]]]", "3xf64=nan -inf 0.1",
        "0xf32=", "2x0xf32=", "4xi1=0 1 1 0", "1xbf16=0.1"}) {
    EXPECT_EQ(format_tensor(parsed(text).to_tensor(), 0), text);
  }
}

TEST(FormatTensor, ShortensAndSaysByHowMuch) {
  const Tensor tensor = parsed("2x3xi32=[[1 2 3][4 5 6]]").to_tensor();
  EXPECT_EQ(format_tensor(tensor, 2), "2x3xi32=1 2 ... (4 more)");
  EXPECT_EQ(format_tensor(tensor, 6), "2x3xi32=[[1 2 3][4 5 6]]");
  EXPECT_THAT(value_trouble(format_tensor(tensor, 2)), HasSubstr("--print-limit=0"));
}

TEST(FormatTensor, NamesPlaces) {
  EXPECT_EQ(format_index({ElementType::kI8, {2, 3}}, 4), "[1][1]");
  EXPECT_EQ(format_index({ElementType::kI8, {7}}, 6), "[6]");
}

// Texts near good ones: each is refused with a position, or read and printed and read again as the
// same. Names of files are left out, so that nothing outside is touched.
TEST(ParseValue, MutatedTextNeverCrashesAndReadsBack) {
  const std::vector<std::string> seeds = {"4xf32=1 2 3 4",
                                          "2x2xi32=[[1 2][3 4]]",
                                          "1024xf32=0",
                                          "&16xf64",
                                          "i32=7",
                                          "f32=1.5",
                                          "{i32=7 f32=1.5}",
                                          "bytes=0x0a0b",
                                          "lds=4096",
                                          "3xf16=nan inf -0x1p-3",
                                          "4xi1=true false 0 1",
                                          "{u8=1 {2xi16=[1 2] f64=1e3}}",
                                          "2x3x1xbf16=[[[1][2][3]],[[4][5][6]]]",
                                          "8xu64=0xffffffffffffffff"};
  const std::string alphabet = "0123456789xfiub=[]{},. &-+eEnap\t";
  std::mt19937 random(2);
  const auto below = [&](size_t limit) { return random() % limit; };
  int good = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = seeds[below(seeds.size())];
    for (size_t changes = below(4); changes > 0 && !text.empty(); --changes) {
      const size_t at = below(text.size());
      switch (below(4)) {
        case 0:
          text.erase(at, 1 + below(3));
          break;
        case 1:
          text.insert(at, 1, alphabet[below(alphabet.size())]);
          break;
        case 2:
          text[at] = static_cast<char>(random());
          break;
        default:
          text.insert(at, text.substr(below(text.size()), below(6)));
          break;
      }
    }
    std::erase(text, '@');
    const auto value = parse_value(text);
    if (!value.ok()) {
      EXPECT_EQ(value.status().code(), StatusCode::kInvalidArgument) << text;
      EXPECT_THAT(message_of(value.status()), HasSubstr("at column ")) << text;
      continue;
    }
    ++good;
    if (value->kind != Value::Kind::kBuffer || value->bytes() > 1 << 16) continue;
    const std::string printed = format_tensor(value->to_tensor(), 0);
    const auto again = parse_value(printed);
    ASSERT_TRUE(again.ok()) << text << "\n" << printed << "\n" << message_of(again.status());
    EXPECT_EQ(format_tensor(again->to_tensor(), 0), printed) << text;
  }
  EXPECT_GT(good, 4000);
}

}  // namespace
}  // namespace halyard::values
