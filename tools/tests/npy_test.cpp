#include "tools/values/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tools/tests/support.h"

namespace halyard::values {
namespace {

using testing::elements_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::message_of;

std::span<const std::byte> as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

// A file as NumPy writes it, by hand.
std::string npy(std::string_view header, std::string_view data, int major = 1) {
  std::string file = "\x93NUMPY";
  file += static_cast<char>(major);
  file += '\0';
  file += static_cast<char>(header.size() & 0xff);
  file += static_cast<char>(header.size() >> 8);
  if (major > 1) file += std::string(2, '\0');
  return file + std::string(header) + std::string(data);
}

std::string trouble(std::string_view file) {
  const auto tensor = read_npy(as_bytes(file));
  EXPECT_FALSE(tensor.ok()) << file;
  return message_of(tensor.status());
}

constexpr std::string_view kHeader =
    "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 2), }          \n";
constexpr std::string_view kData("\x01\x00\x02\x00\x03\x00\x04\x00", 8);

TEST(Npy, ReadsEveryVersion) {
  for (const int major : {1, 2, 3}) {
    const auto tensor = read_npy(as_bytes(npy(kHeader, kData, major)));
    ASSERT_TRUE(tensor.ok()) << message_of(tensor.status());
    EXPECT_EQ(tensor->type.to_string(), "2x2xi16");
    EXPECT_THAT(elements_of<int16_t>(tensor->data), ElementsAre(1, 2, 3, 4));
  }
  EXPECT_THAT(trouble(npy(kHeader, kData, 4)), HasSubstr("version is 4.0"));
}

TEST(Npy, WritesWhatItReads) {
  for (const char* name :
       {"i1", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "f32", "f64"}) {
    for (const std::vector<uint64_t>& shape :
         std::vector<std::vector<uint64_t>>{{}, {3}, {2, 3}, {0}, {1, 2, 3, 4}}) {
      const TensorType type{*element_type_from_name(name), shape};
      const auto header = npy_header(type);
      ASSERT_TRUE(header.ok());
      EXPECT_EQ(header->size() % 64, 0U);
      const auto tensor = read_npy(as_bytes(*header + std::string(type.bytes(), '\1')));
      ASSERT_TRUE(tensor.ok()) << message_of(tensor.status());
      EXPECT_EQ(tensor->type, type);
    }
  }
  EXPECT_THAT(*npy_header({ElementType::kF32, {4}}),
              HasSubstr("{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }"));
  EXPECT_THAT(*npy_header({ElementType::kU8, {2, 3}}), HasSubstr("'|u1', "));
  EXPECT_THAT(message_of(npy_header({ElementType::kBf16, {4}}).status()), HasSubstr("bf16"));
}

TEST(Npy, ReadsHeadersInOtherHands) {
  EXPECT_TRUE(
      read_npy(as_bytes(npy("{\"shape\":(2,2),\"fortran_order\":False,\"descr\":\"<i2\"}", kData)))
          .ok());
  EXPECT_TRUE(
      read_npy(as_bytes(npy("{'descr': '<i2', 'fortran_order': False, 'shape': (4L,)}", kData)))
          .ok());
  // One dimension has no order.
  EXPECT_TRUE(
      read_npy(as_bytes(npy("{'descr': '<i2', 'fortran_order': True, 'shape': (4,), }", kData)))
          .ok());
}

TEST(Npy, RefusesByName) {
  EXPECT_THAT(trouble(npy("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 2), }", kData)),
              HasSubstr("fortran_order: True"));
  EXPECT_THAT(trouble(npy("{'descr': '>i2', 'fortran_order': False, 'shape': (4,), }", kData)),
              HasSubstr("big endian ('>i2')"));
  for (const char* type : {"<c4", "|O", "<U3", "|S4", "|V2", "<f16", "", "<"}) {
    EXPECT_THAT(trouble(npy(std::string("{'descr': '") + type +
                                "', 'fortran_order': False, 'shape': (4,), }",
                            kData)),
                HasSubstr("has no counterpart"))
        << type;
  }
  EXPECT_THAT(
      trouble(npy("{'descr': [('a', '<i2')], 'fortran_order': False, 'shape': (4,), }", kData)),
      HasSubstr("structured"));
}

TEST(Npy, RefusesMalformedFiles) {
  const std::string good = npy(kHeader, kData);
  // Every proper prefix is too short somewhere.
  for (size_t size = 0; size < good.size(); ++size) trouble(good.substr(0, size));
  EXPECT_THAT(trouble(good + "x"), HasSubstr("2x2xi16 has 8 bytes, but 9 follow"));
  EXPECT_THAT(trouble(npy("{'descr': '<i2', 'shape': (4,)}", kData)), HasSubstr("'fortran_order'"));
  EXPECT_THAT(trouble(npy("{'fortran_order': False, 'shape': (4,)}", kData)), HasSubstr("'descr'"));
  EXPECT_THAT(trouble(npy("{'descr': '<i2', 'fortran_order': False}", kData)),
              HasSubstr("'shape'"));
  EXPECT_THAT(trouble(npy("{'descr': '<i2', 'descr': '<i2'}", kData)), HasSubstr("twice"));
  EXPECT_THAT(trouble(npy("{'fortran_order': 0}", kData)), HasSubstr("True or False"));
  EXPECT_THAT(trouble(npy("{'shape': (-1,)}", kData)), HasSubstr("tuple of sizes"));
  EXPECT_THAT(trouble(npy("{'shape': 4}", kData)), HasSubstr("tuple of sizes"));
  EXPECT_THAT(trouble(npy("{'descr': '<i8', 'fortran_order': False, 'shape': "
                          "(4611686018427387904, 4)}",
                          "")),
              HasSubstr("larger than any memory"));
}

TEST(Npy, MutatedFilesNeverCrash) {
  const std::string good = npy(kHeader, kData);
  std::mt19937 random(3);
  const std::string alphabet = "{}()[]',:<>|=0123456789TFL \n\xff";
  int read = 0;
  for (int i = 0; i < 50000; ++i) {
    std::string file = good;
    for (size_t changes = 1 + random() % 4; changes > 0 && !file.empty(); --changes) {
      const size_t at = random() % file.size();
      switch (random() % 4) {
        case 0:
          file[at] = static_cast<char>(random());
          break;
        case 1:
          file[at] = alphabet[random() % alphabet.size()];
          break;
        case 2:
          file.resize(at);
          break;
        default:
          file.insert(at, 1, alphabet[random() % alphabet.size()]);
          break;
      }
    }
    const auto tensor = read_npy(as_bytes(file));
    if (!tensor.ok()) {
      EXPECT_EQ(tensor.status().code(), StatusCode::kInvalidArgument);
      continue;
    }
    ++read;
    ASSERT_EQ(tensor->data.size(), tensor->type.bytes());
  }
  EXPECT_GT(read, 100);
}

}  // namespace
}  // namespace halyard::values
