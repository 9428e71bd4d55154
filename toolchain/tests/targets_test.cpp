#include "toolchain/targets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hal/error.h"

namespace halyard::toolchain {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<std::vector<TargetId>> no_native() {
  return error(StatusCode::kNotFound, "There is no device.");
}

std::vector<std::string> names_of(const Result<std::vector<TargetId>>& targets) {
  std::vector<std::string> names;
  if (!targets.ok()) {
    ADD_FAILURE() << targets.status().to_string();
    return names;
  }
  for (const TargetId& target : *targets) names.push_back(to_string(target));
  return names;
}

TEST(Targets, AnyNameOfTheTargetMap) {
  EXPECT_THAT(names_of(parse_targets("gfx942", no_native)), ElementsAre("gfx942"));
  EXPECT_THAT(names_of(parse_targets("mi300x", no_native)), ElementsAre("gfx942"));
  EXPECT_THAT(names_of(parse_targets("cdna3", no_native)), ElementsAre("gfx942"));
  EXPECT_THAT(names_of(parse_targets("gfx90a:xnack-", no_native)), ElementsAre("gfx90a:xnack-"));
  EXPECT_THAT(names_of(parse_targets("gfx11-generic", no_native)), ElementsAre("gfx11-generic"));
}

TEST(Targets, SeveralNamesGiveEachTargetOnceAndInTheirOrder) {
  EXPECT_THAT(names_of(parse_targets("mi300x,gfx900,cdna3,mi250", no_native)),
              ElementsAre("gfx942", "gfx900", "gfx90a"));
  // Features make another target.
  EXPECT_THAT(names_of(parse_targets("gfx90a,gfx90a:xnack+", no_native)),
              ElementsAre("gfx90a", "gfx90a:xnack+"));
}

TEST(Targets, NativeIsWhatTheDevicesAre) {
  const auto native = []() -> Result<std::vector<TargetId>> {
    return std::vector<TargetId>{*parse_target_id("gfx906"), *parse_target_id("gfx906")};
  };
  EXPECT_THAT(names_of(parse_targets("native,gfx900", native)), ElementsAre("gfx906", "gfx900"));
  const auto none = parse_targets("gfx900,native", no_native);
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.status().to_string(), HasSubstr("There is no device."));
}

TEST(Targets, AWrongNameSaysWhatWasMeant) {
  const auto wrong = parse_targets("gfx900,mi300y", no_native);
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(
      wrong.status().to_string(),
      AllOf(HasSubstr("mi300y"), HasSubstr("Did you mean \"mi300"), HasSubstr("halyard targets")));
  for (const char* text : {"", ",", "gfx900,", ",gfx900", "gfx900,,gfx906"}) {
    SCOPED_TRACE(text);
    const auto empty = parse_targets(text, no_native);
    ASSERT_FALSE(empty.ok());
    EXPECT_EQ(empty.status().code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(empty.status().to_string(), HasSubstr(std::string("(") + text + ")"));
  }
}

TEST(Targets, ADevicesFeaturesAreLeftOpen) {
  EXPECT_EQ(to_string(without_features(*parse_target_id("gfx90a:sramecc+:xnack-"))), "gfx90a");
  const TargetId plain = *parse_target_id("gfx1100");
  EXPECT_EQ(without_features(plain), plain);
}

}  // namespace
}  // namespace halyard::toolchain
