#include "hal/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace halyard {
namespace {

using ::testing::HasSubstr;

// "gfx900 v5": a target and a code object version; version 6 if none is said.
VariantFacts variant(const std::string& text) {
  const size_t space = text.find(" v");
  VariantFacts facts;
  facts.target = *parse_target_id(text.substr(0, space));
  facts.version = space == std::string::npos ? 6 : std::stoul(text.substr(space + 2));
  if (text.find("generic") != std::string::npos) facts.generic_version = 1;
  return facts;
}

LoaderFacts loader(const std::string& device, uint32_t newest = kNewestCodeObjectVersion) {
  return {*parse_target_id(device), newest};
}

// The chosen one's text; "none".
std::string choose(const std::vector<std::string>& texts, const LoaderFacts& facts) {
  std::vector<VariantFacts> variants;
  for (const std::string& text : texts) variants.push_back(variant(text));
  const Selection selection = select_variant(variants, facts);
  EXPECT_EQ(selection.reasons.size(), texts.size());
  if (!selection.chosen) return "none";
  EXPECT_EQ(selection.reasons[*selection.chosen], "");
  return texts[*selection.chosen];
}

// Whatever the order in the file.
std::string choose_always(const std::vector<std::string>& texts, const std::string& device) {
  const std::string forwards = choose(texts, loader(device));
  EXPECT_EQ(choose({texts.rbegin(), texts.rend()}, loader(device)), forwards);
  return forwards;
}

TEST(Selection, GoesFromExactWithFeaturesToGeneric) {
  const std::string device = "gfx90a:sramecc+:xnack-";
  EXPECT_EQ(choose_always({"gfx90a", "gfx90a:xnack-", "gfx90a:sramecc+:xnack-", "gfx908"}, device),
            "gfx90a:sramecc+:xnack-");
  EXPECT_EQ(choose_always({"gfx90a", "gfx90a:xnack-", "gfx90a:xnack+"}, device), "gfx90a:xnack-");
  EXPECT_EQ(choose_always({"gfx90a", "gfx90a:xnack+"}, device), "gfx90a");
  EXPECT_EQ(choose_always({"gfx906", "gfx9-generic", "gfx9-generic:xnack-"}, "gfx906:xnack-"),
            "gfx906");
  EXPECT_EQ(choose_always({"gfx900", "gfx9-generic", "gfx9-generic:xnack-"}, "gfx906:xnack-"),
            "gfx9-generic:xnack-");
  EXPECT_EQ(choose_always({"gfx900", "gfx9-generic", "gfx9-generic:xnack+"}, "gfx906:xnack-"),
            "gfx9-generic");
}

TEST(Selection, ExactCodeOfAnOlderVersionBeatsNewerGenericCode) {
  EXPECT_EQ(choose_always({"gfx900 v4", "gfx9-generic v6"}, "gfx900:xnack-"), "gfx900 v4");
}

TEST(Selection, TakesTheNewestVersionThatTheLoaderTakes) {
  const std::vector<std::string> texts = {"gfx900 v4", "gfx900 v6", "gfx900 v5", "gfx900 v3"};
  EXPECT_EQ(choose_always(texts, "gfx900"), "gfx900 v6");
  EXPECT_EQ(choose(texts, loader("gfx900", 5)), "gfx900 v5");
  EXPECT_EQ(choose(texts, loader("gfx900", 3)), "gfx900 v3");
  EXPECT_EQ(choose(texts, loader("gfx900", 2)), "none");
}

TEST(Selection, OfEqualsTakesTheFirst) {
  std::vector<VariantFacts> variants = {variant("gfx906"), variant("gfx900"), variant("gfx900")};
  EXPECT_EQ(select_variant(variants, loader("gfx900")).chosen, 1u);
}

TEST(Selection, PrefersTheNewerVersionOfAGenericTarget) {
  std::vector<VariantFacts> variants = {variant("gfx9-generic"), variant("gfx9-generic")};
  variants[1].generic_version = 2;
  EXPECT_EQ(select_variant(variants, loader("gfx900")).chosen, 1u);
}

// LLVM AMDGPUUsage, "Generic Processor Versioning": code runs on what its version covers. All
// processors are covered from version 1 on so far, so an older one than all is 0.
TEST(Selection, RefusesGenericCodeFromBeforeTheProcessorWasCovered) {
  std::vector<VariantFacts> variants = {variant("gfx9-generic")};
  variants[0].generic_version = 0;
  const Selection old = select_variant(variants, loader("gfx906:xnack-"));
  EXPECT_FALSE(old.chosen);
  EXPECT_EQ(old.reasons[0],
            "it has version 0 of gfx9-generic, which covers gfx906 from version 1 on");
  for (const uint32_t version : {1u, 2u, 255u}) {
    variants[0].generic_version = version;
    EXPECT_TRUE(select_variant(variants, loader("gfx906:xnack-")).chosen) << version;
  }
  // An exact processor's code has none.
  EXPECT_TRUE(select_variant({variant("gfx906")}, loader("gfx906")).chosen);
}

// The vendor's loader may refuse the setting, and code for any setting it takes.
TEST(Selection, PrefersAnySettingWhereTheDevicesIsNotKnown) {
  EXPECT_EQ(choose_always({"gfx90a:xnack+", "gfx90a"}, "gfx90a"), "gfx90a");
  EXPECT_EQ(choose_always({"gfx90a:xnack+", "gfx908"}, "gfx90a"), "gfx90a:xnack+");
  EXPECT_EQ(choose_always({"gfx90a:xnack+", "gfx90a:sramecc+"}, "gfx90a:sramecc+"),
            "gfx90a:sramecc+");
}

// The conformance suite's devices, with a file that has everything.
TEST(Selection, ServesEachDeviceFromOneFile) {
  const std::vector<std::string> file = {"gfx9-generic",   "gfx908",          "gfx90a",
                                         "gfx9-4-generic", "gfx10-1-generic", "gfx10-3-generic",
                                         "gfx11-generic",  "gfx12-generic"};
  const std::pair<const char*, const char*> cases[] = {
      {"gfx900:xnack-", "gfx9-generic"},
      {"gfx906:sramecc+:xnack-", "gfx9-generic"},
      {"gfx908:sramecc+:xnack-", "gfx908"},
      {"gfx90a:sramecc+:xnack-", "gfx90a"},
      {"gfx90c:xnack-", "gfx9-generic"},
      {"gfx942:sramecc+:xnack-", "gfx9-4-generic"},
      {"gfx1012:xnack-", "gfx10-1-generic"},
      {"gfx1030", "gfx10-3-generic"},
      {"gfx1151", "gfx11-generic"},
      {"gfx1201", "gfx12-generic"},
      {"gfx803", "none"},
      {"gfx9999", "none"},
  };
  for (const auto& [device, code] : cases) EXPECT_EQ(choose_always(file, device), code) << device;
}

TEST(Selection, SaysOfEachVariantWhyItDoesNotFit) {
  std::vector<VariantFacts> variants = {variant("gfx906"), variant("gfx900:xnack+"),
                                        variant("gfx9-4-generic"), variant("gfx900 v7"),
                                        variant("gfx900")};
  variants[4].problem = "it is LLVM bitcode";
  const Selection selection = select_variant(variants, loader("gfx900:xnack-"));
  EXPECT_FALSE(selection.chosen);
  ASSERT_EQ(selection.reasons.size(), 5u);
  EXPECT_THAT(selection.reasons[0], HasSubstr("gfx906 code does not run on gfx900"));
  EXPECT_THAT(selection.reasons[1], HasSubstr("xnack on, and the device has it off"));
  EXPECT_THAT(selection.reasons[2], HasSubstr("but not gfx900"));
  EXPECT_THAT(selection.reasons[3], HasSubstr("version 7, and the newest that is loaded is 6"));
  EXPECT_EQ(selection.reasons[4], "it is LLVM bitcode");
}

TEST(Selection, TakesOfLooseOnesAsManyAsHaveAllKernels) {
  const auto choose = [](const std::vector<LooseVariant>& variants) {
    return select_loose(variants, loader("gfx900:xnack-"));
  };
  const LooseVariant generic = {variant("gfx9-generic"), {"a", "b"}};
  const LooseVariant exact = {variant("gfx900"), {"a"}};
  const LooseVariant older = {variant("gfx900 v5"), {"a"}};
  const LooseVariant other = {variant("gfx906"), {"c"}};
  const LooseVariant empty = {variant("gfx900"), {}};
  using ::testing::ElementsAre;
  EXPECT_THAT(choose({generic, older, exact, other}), ElementsAre(2, 0));
  EXPECT_THAT(choose({exact, generic}), ElementsAre(0, 1));
  EXPECT_THAT(choose({exact, exact}), ElementsAre(0));
  EXPECT_THAT(choose({empty, exact}), ElementsAre(1));
  EXPECT_THAT(choose({empty, empty}), ElementsAre(0));
  EXPECT_THAT(choose({other}), ElementsAre());
}

TEST(Selection, OfNothingIsNothing) {
  EXPECT_FALSE(select_variant({}, loader("gfx900")).chosen);
}

}  // namespace
}  // namespace halyard
