#include "hal/target_id.h"

#include <gtest/gtest.h>

#include <string>

namespace halyard {
namespace {

TargetId target(std::string_view text) {
  Result<TargetId> result = parse_target_id(text);
  EXPECT_TRUE(result.ok()) << result.status().to_string();
  return result.ok() ? result.value() : TargetId{};
}

TEST(TargetId, ReadsProcessorsAndFeatures) {
  EXPECT_EQ(target("gfx900"), (TargetId{"gfx900", Feature::kUnsupported, Feature::kAny}));
  EXPECT_EQ(target("gfx90a:sramecc+:xnack-"), (TargetId{"gfx90a", Feature::kOn, Feature::kOff}));
  EXPECT_EQ(target("gfx90a:xnack-"), (TargetId{"gfx90a", Feature::kAny, Feature::kOff}));
  EXPECT_EQ(target("gfx1100"), (TargetId{"gfx1100", Feature::kUnsupported, Feature::kUnsupported}));
  EXPECT_EQ(target("amdgcn-amd-amdhsa--gfx906:sramecc-:xnack+"),
            (TargetId{"gfx906", Feature::kOff, Feature::kOn}));
  EXPECT_EQ(target("amdgcn-amd-amdhsa--gfx9-4-generic").processor, "gfx9-4-generic");
}

TEST(TargetId, TakesProcessorsThatItDoesNotKnow) {
  EXPECT_EQ(target("gfx1399:xnack+").xnack, Feature::kOn);
}

TEST(TargetId, PrintsTheCanonicalForm) {
  EXPECT_EQ(to_string(target("gfx90a:xnack-:sramecc+")), "gfx90a:sramecc+:xnack-");
  EXPECT_EQ(to_string(target("gfx900")), "gfx900");
}

TEST(TargetId, RefusesWhatIsNone) {
  const struct {
    const char* text;
    const char* says;
  } cases[] = {
      {"", "names no processor (\"\")"},
      {"sm_90", "names no processor (\"sm_90\")"},
      {"gfx9OO", "Did you mean \"gfx900\"?"},
      {"gfx900:", "has a feature (\"\") without + or -"},
      {"gfx900:xnack", "has a feature (\"xnack\") without + or -"},
      {"gfx900:sramecc+", "that gfx900 does not have"},
      {"gfx90a:tgsplit+", "other than sramecc and xnack"},
      {"gfx90a:xnack+:xnack-", "names a feature (\"xnack\") twice"},
  };
  for (const auto& c : cases) {
    const Result<TargetId> result = parse_target_id(c.text);
    ASSERT_FALSE(result.ok()) << c.text;
    EXPECT_EQ(result.status().code(), StatusCode::kInvalidArgument);
    const std::string message(result.status().message().view());
    EXPECT_NE(message.find(c.says), std::string::npos) << message;
    EXPECT_NE(message.find("gfx90a:sramecc+:xnack-"), std::string::npos) << message;
  }
}

// code, device, and what stands in the way ("" for nothing).
TEST(TargetId, SaysWhatRunsWhere) {
  const struct {
    const char* code;
    const char* device;
    const char* why;
  } cases[] = {
      {"gfx900", "gfx900", ""},
      {"gfx900", "gfx900:xnack-", ""},
      {"gfx900:xnack-", "gfx900:xnack-", ""},
      {"gfx900:xnack+", "gfx900:xnack-", "it needs xnack on, and the device has it off"},
      {"gfx900:xnack-", "gfx900:xnack+", "it needs xnack off, and the device has it on"},
      {"gfx900:xnack+", "gfx900", ""},
      {"gfx90a:sramecc-", "gfx90a:sramecc+:xnack-",
       "it needs sramecc off, and the device has it on"},
      {"gfx906", "gfx900", "gfx906 code does not run on gfx900"},
      {"gfx900", "gfx906", "gfx900 code does not run on gfx906"},
      {"gfx9-generic", "gfx900:xnack-", ""},
      {"gfx9-generic", "gfx906:sramecc+:xnack-", ""},
      {"gfx9-generic", "gfx90c:xnack+", ""},
      {"gfx9-generic:xnack+", "gfx900:xnack-", "it needs xnack on, and the device has it off"},
      {"gfx9-generic", "gfx90a:sramecc+:xnack-",
       "gfx9-generic covers gfx900, gfx902, gfx904, gfx906, gfx909 and gfx90c, but not gfx90a"},
      {"gfx9-generic", "gfx908", "but not gfx908"},
      {"gfx9-4-generic", "gfx942", ""},
      {"gfx9-4-generic:sramecc+", "gfx950:sramecc+:xnack-", ""},
      {"gfx9-4-generic", "gfx90a", "but not gfx90a"},
      {"gfx10-1-generic", "gfx1013", ""},
      {"gfx10-1-generic", "gfx1030", "but not gfx1030"},
      {"gfx10-3-generic", "gfx1036", ""},
      {"gfx11-generic", "gfx1153", ""},
      {"gfx11-generic", "gfx1200", "but not gfx1200"},
      {"gfx12-generic", "gfx1201", ""},
      {"gfx12-generic", "gfx1250", "but not gfx1250"},
      {"gfx1399", "gfx1399", ""},
      {"gfx1399", "gfx1398", "gfx1399 code does not run on gfx1398"},
  };
  for (const auto& c : cases) {
    const std::string why = why_not_runs_on(target(c.code), target(c.device));
    if (*c.why == '\0') {
      EXPECT_EQ(why, "") << c.code << " on " << c.device;
    } else {
      EXPECT_NE(why.find(c.why), std::string::npos) << c.code << " on " << c.device << ": " << why;
    }
    EXPECT_EQ(runs_on(target(c.code), target(c.device)), *c.why == '\0');
  }
}

}  // namespace
}  // namespace halyard
