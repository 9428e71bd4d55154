#include "registry/device_uri.h"

#include <gmock/gmock.h>

#include <random>
#include <string>

namespace halyard {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

DeviceUri parsed(std::string_view text) {
  Result<DeviceUri> uri = parse_device_uri(text);
  EXPECT_TRUE(uri.ok()) << text << ": " << uri.status().to_string();
  return uri.ok() ? *uri : DeviceUri();
}

TEST(DeviceUriTest, ADriverAlone) {
  EXPECT_EQ(parsed("amdgpu"), (DeviceUri{.driver = "amdgpu"}));
  EXPECT_EQ(parsed("a_1"), (DeviceUri{.driver = "a_1"}));
}

TEST(DeviceUriTest, AnOrdinal) {
  EXPECT_EQ(parsed("amdgpu:0"), (DeviceUri{.driver = "amdgpu", .ordinal = 0}));
  EXPECT_EQ(parsed("amdgpu:12"), (DeviceUri{.driver = "amdgpu", .ordinal = 12}));
  EXPECT_EQ(parsed("hip:4294967295"), (DeviceUri{.driver = "hip", .ordinal = 4294967295u}));
  EXPECT_EQ(parsed("hip:00000000000000000000000000000001"),
            (DeviceUri{.driver = "hip", .ordinal = 1}));
}

TEST(DeviceUriTest, AUuid) {
  EXPECT_EQ(parsed("amdgpu://GPU-0123456789abcdef"),
            (DeviceUri{.driver = "amdgpu", .uuid = "GPU-0123456789abcdef"}));
}

TEST(DeviceUriTest, OptionsComeInOrder) {
  EXPECT_EQ(parsed("amdgpu?a=1&b.c-d=x"),
            (DeviceUri{.driver = "amdgpu", .options = {{"a", "1"}, {"b.c-d", "x"}}}));
  EXPECT_EQ(parsed("amdgpu:1?path=/opt/rocm/lib:x?=1").options,
            (std::vector<DeviceUriOption>{{"path", "/opt/rocm/lib:x?=1"}}));
  EXPECT_EQ(parsed("amdgpu://u?empty=").options, (std::vector<DeviceUriOption>{{"empty", ""}}));
}

TEST(DeviceUriTest, PercentStandsForAByte) {
  EXPECT_EQ(parsed("d?k=%26%3d%25%20%c3%A4").options,
            (std::vector<DeviceUriOption>{{"k", "&=% \xc3\xa4"}}));
}

struct Malformed {
  std::string text;
  size_t position;
  const char* expected;
};

class MalformedUriTest : public ::testing::TestWithParam<Malformed> {};

TEST_P(MalformedUriTest, SaysWhereAndWhat) {
  const Malformed& c = GetParam();
  const Result<DeviceUri> uri = parse_device_uri(c.text);
  ASSERT_FALSE(uri.ok()) << c.text;
  EXPECT_EQ(uri.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(uri.status().to_string(),
              AllOf(HasSubstr("at character " + std::to_string(c.position) + " "),
                    HasSubstr(c.expected), HasSubstr("driver://uuid")));
}

INSTANTIATE_TEST_SUITE_P(
    All, MalformedUriTest,
    ::testing::Values(
        Malformed{"", 1, "(the end): it must start with the name of a driver"},
        Malformed{" amdgpu", 1, "name of a driver"}, Malformed{"Amdgpu", 1, "(\"A\")"},
        Malformed{"1", 1, "lower-case letter"}, Malformed{"://x", 1, "name of a driver"},
        Malformed{std::string(65, 'a'), 65, "at most 64"},
        Malformed{"amdgpu:", 8, "ordinal is expected"},
        Malformed{"amdgpu:-1", 8, "ordinal is expected"}, Malformed{"amdgpu:1x", 9, "must end"},
        Malformed{"amdgpu:/x", 8, "ordinal"},
        Malformed{"amdgpu:4294967296", 8, "larger than 4294967295"},
        Malformed{"amdgpu:99999999999999999999999999", 8, "larger than 4294967295"},
        Malformed{"amdgpu://", 10, "UUID is expected"}, Malformed{"amdgpu://GPU/1", 13, "must end"},
        Malformed{"amdgpu,hip", 7, "must end"}, Malformed{"amdgpu?", 8, "key is expected"},
        Malformed{"amdgpu?=1", 8, "key is expected"},
        Malformed{"amdgpu?k", 9, "= and a value are expected behind the key k"},
        Malformed{"amdgpu?k=1&", 12, "key is expected"},
        Malformed{"amdgpu?k=1&&", 12, "key is expected"},
        Malformed{"amdgpu?k=1&k=2", 12, "key k is given twice"},
        Malformed{"amdgpu?k=a b", 11, "%XX"}, Malformed{"amdgpu?k=%", 10, "two hexadecimal"},
        Malformed{"amdgpu?k=%1", 10, "two hexadecimal"},
        Malformed{"amdgpu?k=%1g", 10, "two hexadecimal"}, Malformed{"amdgpu?k=%00", 10, "NUL"},
        Malformed{std::string("amd\0gpu", 7), 4, "\\x00"},
        Malformed{"amdgpu\n", 7, "(\"\\x0a\")"}));

TEST(DeviceUriTest, WhatIsWrittenIsReadBack) {
  const DeviceUri all[] = {
      {.driver = "amdgpu"},
      {.driver = "amdgpu", .ordinal = 0},
      {.driver = "hip", .uuid = "GPU-1", .options = {{"a", "x y&z=%#\xff"}, {"b", ""}}},
  };
  for (const DeviceUri& uri : all) EXPECT_EQ(parsed(to_string(uri)), uri) << to_string(uri);
}

// Whatever comes in, either it parses and survives a round trip, or it is refused in one line.
TEST(DeviceUriTest, NoTextIsTooStrange) {
  std::mt19937 random(20261120);
  const std::string_view alphabet = "amdgpu019:/?&=%-_. AZ\xc3\xa4\n";
  size_t good = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = random() % 2 == 0 ? "amdgpu" : "";
    const size_t length = random() % 24;
    for (size_t k = 0; k < length; ++k) {
      text += random() % 16 == 0 ? static_cast<char>(random() % 256)
                                 : alphabet[random() % alphabet.size()];
    }
    const Result<DeviceUri> uri = parse_device_uri(text);
    if (uri.ok()) {
      ++good;
      EXPECT_EQ(parsed(to_string(*uri)), *uri) << text;
    } else {
      EXPECT_EQ(uri.status().code(), StatusCode::kInvalidArgument);
      EXPECT_EQ(uri.status().message().view().find('\n'), std::string_view::npos);
      EXPECT_EQ(uri.status().message().view().find('\0'), std::string_view::npos);
    }
  }
  EXPECT_GT(good, 100u);
}

DeviceSummary device(uint32_t ordinal, StringView uuid) {
  DeviceSummary summary;
  summary.ordinal = ordinal;
  summary.name = "Fiji";
  summary.target = "gfx803";
  summary.uuid = uuid;
  return summary;
}

TEST(SelectDeviceTest, TheFirstUnlessToldOtherwise) {
  const std::vector<DeviceSummary> devices = {device(0, "GPU-a"), device(2, "GPU-b")};
  EXPECT_EQ(select_device(parsed("d"), devices).value(), 0u);
  EXPECT_EQ(select_device(parsed("d:2"), devices).value(), 1u);
  EXPECT_EQ(select_device(parsed("d://GPU-b"), devices).value(), 1u);
  EXPECT_EQ(select_device(parsed("d://gpu-B"), devices).value(), 1u);
}

TEST(SelectDeviceTest, AMissingDeviceListsThoseThatExist) {
  const std::vector<DeviceSummary> devices = {device(0, "GPU-a"), device(2, "")};
  for (const char* uri : {"d:1", "d://GPU-c", "d://GPU"}) {
    const Result<size_t> selected = select_device(parsed(uri), devices);
    ASSERT_FALSE(selected.ok()) << uri;
    EXPECT_EQ(selected.status().code(), StatusCode::kNotFound);
    EXPECT_THAT(selected.status().to_string(),
                HasSubstr("d:0 (Fiji, gfx803, GPU-a) and d:2 (Fiji, gfx803)"));
  }
  EXPECT_THAT(select_device(parsed("d:1"), devices).status().to_string(), HasSubstr("ordinal (1)"));
  EXPECT_THAT(select_device(parsed("d://GPU-c"), devices).status().to_string(),
              HasSubstr("UUID (GPU-c)"));
}

TEST(SelectDeviceTest, AnEmptyUuidOfADeviceMatchesNothing) {
  EXPECT_FALSE(select_device(parsed("d://GPU"), {device(0, "")}).ok());
  EXPECT_EQ(select_device(parsed("d"), {}).status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace halyard
