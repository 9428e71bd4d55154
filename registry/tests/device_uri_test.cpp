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

using Kind = DeviceSelector::Kind;

std::vector<DeviceSelector> selectors(std::string_view text) {
  return parsed(text).selectors;
}

TEST(DeviceUriTest, TheFormOfASelectorSaysWhatItIs) {
  EXPECT_EQ(parsed("amdgpu://GPU-0123456789abcdef"),
            (DeviceUri{.driver = "amdgpu", .selectors = {{Kind::kUuid, "GPU-0123456789abcdef"}}}));
  EXPECT_EQ(selectors("hip://0"), (std::vector<DeviceSelector>{{Kind::kOrdinal, "0"}}));
  EXPECT_EQ(selectors("hip://0000:c1:00.0"),
            (std::vector<DeviceSelector>{{Kind::kPciAddress, "0000:c1:00.0"}}));
  EXPECT_EQ(selectors("hip://gfx90a"), (std::vector<DeviceSelector>{{Kind::kProcessor, "gfx90a"}}));
  EXPECT_EQ(selectors("hip://gfx9-generic"),
            (std::vector<DeviceSelector>{{Kind::kProcessor, "gfx9-generic"}}));
}

TEST(DeviceUriTest, SeveralSelectorsStandInOrder) {
  EXPECT_EQ(parsed("amdgpu://2,0000:C1:00.f,GPU-1,gfx900?a=1,2"),
            (DeviceUri{.driver = "amdgpu",
                       .selectors = {{Kind::kOrdinal, "2"},
                                     {Kind::kPciAddress, "0000:C1:00.f"},
                                     {Kind::kUuid, "GPU-1"},
                                     {Kind::kProcessor, "gfx900"}},
                       .options = {{"a", "1,2"}}}));
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
                    HasSubstr(c.expected), HasSubstr("driver://selector,selector…")));
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
        Malformed{"amdgpu://", 10, "a selector is expected"},
        Malformed{"amdgpu://,0", 10, "a selector is expected"},
        Malformed{"amdgpu://0,", 12, "a selector is expected"},
        Malformed{"amdgpu://0,,1", 12, "a selector is expected"},
        Malformed{"amdgpu://0,?a=1", 12, "a selector is expected"},
        Malformed{"amdgpu://0,1,0", 14, "the selector 0 is given twice"},
        Malformed{"amdgpu://1,01", 12, "the selector 01 is given twice"},
        Malformed{"amdgpu://GPU-a,gpu-A", 16, "the selector gpu-A is given twice"},
        Malformed{"amdgpu://0,4294967296", 12, "larger than 4294967295"},
        Malformed{"amdgpu://c1:00.0", 10, "PCI address in hexadecimal digits, dddd:bb:dd.f"},
        Malformed{"amdgpu://0,0000:g1:00.0", 12, "PCI address"},
        Malformed{"amdgpu://0000:c1:00.0.", 10, "PCI address"},
        Malformed{"amdgpu://gfx90a:xnack+", 10, "PCI address"},
        Malformed{"amdgpu://0,hip://1", 15, "GPUs of one driver only"},
        Malformed{"amdgpu://0,hip:1", 12, "GPUs of one driver only"},
        Malformed{"amdgpu://hip://1", 13, "GPUs of one driver only"},
        Malformed{"amdgpu:0,1", 9, "write driver://0,1"},
        Malformed{"amdgpu:0://1", 9, "no selector can follow an ordinal"},
        Malformed{"amdgpu://GPU/1", 13, ",selector or ?key=value"},
        Malformed{"amdgpu,hip", 7, "GPUs of one driver only"},
        Malformed{"amdgpu?", 8, "key is expected"}, Malformed{"amdgpu?=1", 8, "key is expected"},
        Malformed{"amdgpu?k", 9, "= and a value are expected after the key k"},
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
      {.driver = "hip",
       .selectors = {{Kind::kUuid, "GPU-1"}, {Kind::kOrdinal, "007"}},
       .options = {{"a", "x y&z=%#\xff"}, {"b", ""}}},
  };
  for (const DeviceUri& uri : all) EXPECT_EQ(parsed(to_string(uri)), uri) << to_string(uri);
}

// Whatever comes in, either it parses and survives a round trip, or it is refused in one line.
TEST(DeviceUriTest, NoTextIsTooStrange) {
  std::mt19937 random(20261120);
  const std::string_view alphabet = "amdgpu019:/?&=%-_,. AZ\xc3\xa4\n";
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

DeviceSummary device(uint32_t ordinal, StringView uuid, StringView target = "gfx803",
                     StringView pci_address = "") {
  DeviceSummary summary;
  summary.ordinal = ordinal;
  summary.name = "Fiji";
  summary.target = target;
  summary.uuid = uuid;
  summary.pci_address = pci_address;
  return summary;
}

using Indices = std::vector<size_t>;

Indices selected(std::string_view uri, const std::vector<DeviceSummary>& devices) {
  const Result<Indices> indices = select_devices(parsed(uri), devices);
  EXPECT_TRUE(indices.ok()) << uri << ": " << indices.status().to_string();
  return indices.ok() ? *indices : Indices();
}

TEST(SelectDevicesTest, AllUnlessTheUriChooses) {
  const std::vector<DeviceSummary> devices = {device(0, "GPU-a"), device(2, "GPU-b")};
  EXPECT_EQ(selected("d", devices), (Indices{0, 1}));
  EXPECT_EQ(selected("d:2", devices), (Indices{1}));
  EXPECT_EQ(selected("d://2", devices), (Indices{1}));
  EXPECT_EQ(selected("d://GPU-b", devices), (Indices{1}));
  EXPECT_EQ(selected("d://gpu-B", devices), (Indices{1}));
}

// IREE's hip driver prints the letters of HIP's UUID as bytes.
TEST(SelectDevicesTest, TheBytesOfAUuidsLetters) {
  const std::vector<DeviceSummary> devices = {device(0, "GPU-48414c5900000210"), device(1, ""),
                                              device(2, "GPU-48414c5900000211")};
  EXPECT_EQ(selected("hip://GPU-34383431-3463-3539-3030-303030323131", devices), (Indices{2}));
  EXPECT_EQ(selected("hip://gpu-34383431-3443-3539-3030-303030323130", devices), (Indices{0}));
  for (const char* const other : {"hip://GPU-34383431-3463-3539-3030-3030303231",
                                  "hip://GPU-34383431-3463-3539-3030-3030303231zz",
                                  "hip://GPU-00383431-3463-3539-3030-303030323131"}) {
    EXPECT_EQ(select_devices(parsed(other), devices).status().code(), StatusCode::kNotFound)
        << other;
  }
}

TEST(SelectDevicesTest, SelectorsOfEachKindInTheirOrder) {
  const std::vector<DeviceSummary> devices = {
      device(0, "GPU-a", "gfx90a:sramecc+:xnack-", "0000:c1:00.0"),
      device(1, "GPU-b", "gfx906", "0000:c4:00.0"),
      device(2, "GPU-c", "gfx90a:sramecc+:xnack-", "0001:c1:00.0"), device(3, "", "gfx900")};
  EXPECT_EQ(selected("d://gfx90a", devices), (Indices{0, 2}));
  EXPECT_EQ(selected("d://0001:C1:00.0", devices), (Indices{2}));
  EXPECT_EQ(selected("d://3,GPU-b,gfx90a", devices), (Indices{3, 1, 0, 2}));
  EXPECT_EQ(selected("d://0000:c4:00.0,00", devices), (Indices{1, 0}));
}

TEST(SelectDevicesTest, AMissingDeviceListsThoseThatExist) {
  const std::vector<DeviceSummary> devices = {device(0, "GPU-a", "gfx803", "0000:01:00.0"),
                                              device(2, "")};
  struct Case {
    const char* uri;
    const char* what;
  };
  for (const Case& c :
       {Case{"d:1", "at character 3: the driver d has no device with the ordinal (1)"},
        Case{"d://0,1", "at character 7: the driver d has no device with the ordinal"},
        Case{"d://GPU-c",
             "at character 5: the driver d has no device with the UUID "
             "(GPU-c)"},
        Case{"d://2,0,GPU", "at character 9: the driver d has no device with the UUID"},
        Case{"d://gfx80", "no device with the processor (gfx80)"},
        Case{"d://0000:02:00.0", "no device with the PCI address (0000:02:00.0)"}}) {
    const Result<Indices> found = select_devices(parsed(c.uri), devices);
    ASSERT_FALSE(found.ok()) << c.uri;
    EXPECT_EQ(found.status().code(), StatusCode::kNotFound);
    EXPECT_THAT(found.status().to_string(),
                AllOf(HasSubstr(c.what),
                      HasSubstr("d:0 (Fiji, gfx803, GPU-a, 0000:01:00.0) and d:2 (Fiji, gfx803)")));
  }
}

TEST(SelectDevicesTest, TwoSelectorsForOneDeviceAreRefused) {
  const std::vector<DeviceSummary> devices = {device(0, "GPU-a"), device(1, "GPU-b")};
  const Result<Indices> found = select_devices(parsed("d://GPU-b,0,1"), devices);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(found.status().to_string(),
              HasSubstr("names d:1 (Fiji, gfx803, GPU-b) twice, at character 13: by the UUID "
                        "(GPU-b) and by the ordinal (1)"));
  EXPECT_FALSE(select_devices(parsed("d://gfx803,0"), devices).ok());
}

TEST(SelectDevicesTest, WhatADeviceLacksMatchesNothing) {
  EXPECT_FALSE(select_devices(parsed("d://GPU"), {device(0, "")}).ok());
  EXPECT_FALSE(select_devices(parsed("d://0000:00:00.0"), {device(0, "")}).ok());
  EXPECT_EQ(select_devices(parsed("d"), {}).status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace halyard
