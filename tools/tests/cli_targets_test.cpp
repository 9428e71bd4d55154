// halyard targets, for names that need no device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tools/tests/cli.h"

namespace halyard::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string targets(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "targets");
  const Outcome outcome = spawn(arguments);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "");
  return outcome.out;
}

std::string refusal(const std::string& name) {
  const Outcome outcome = spawn({"targets", name});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, StartsWith("halyard: error: "));
  return outcome.err;
}

TEST(CliTargets, ListsTheMap) {
  const std::string text = targets({});
  EXPECT_THAT(text, StartsWith("PROCESSOR "));
  for (const char* word : {"gfx942 ", "gfx9-4-generic", "cdna3", "mi300x", "gfx94X-dcgpu", "RDNA 4",
                           "gfx1251", "rx7900xtx"}) {
    EXPECT_THAT(text, HasSubstr(word));
  }
  EXPECT_THAT(text, ::testing::Not(HasSubstr("gfx803")));

  const json all = json::parse(targets({"--json"}));
  EXPECT_EQ(all["processors"].size(), 33U);
  EXPECT_EQ(all["generics"].size(), 6U);
  EXPECT_EQ(all["processors"][0]["name"], "gfx900");
  EXPECT_EQ(all["processors"][0]["elf_machine"], 0x2c);
  EXPECT_EQ(all["generics"][1]["covers"], json({"gfx942", "gfx950"}));
}

TEST(CliTargets, SaysWhatAProductLoadsAndInWhichOrder) {
  EXPECT_EQ(
      targets({"mi300x"}),
      "mi300x: AMD Instinct MI300X, 304 compute units, 192 GiB.\n"
      "gfx942: CDNA 3; wavefronts of 64; sramecc and xnack.\n"
      "  It loads the first of these that a module has:\n"
      "  1. processor with features       gfx942, with the device's own setting of sramecc and "
      "xnack\n"
      "  2. processor                     gfx942\n"
      "  3. generic target with features  gfx9-4-generic, with the device's own setting of sramecc "
      "and xnack\n"
      "  4. generic target                gfx9-4-generic\n");
  EXPECT_THAT(targets({"mi250"}),
              StartsWith("mi250: AMD Instinct MI250, 2 devices, each with 104 compute units and 64 "
                         "GiB.\ngfx90a: "));
}

TEST(CliTargets, SaysWhatAProcessorLoadsWithItsFeatures) {
  EXPECT_THAT(targets({"gfx942:xnack-:sramecc+"}),
              AllOf(HasSubstr("1. processor with features       gfx942:sramecc+:xnack-, "
                              "gfx942:sramecc+, gfx942:xnack-\n"),
                    HasSubstr("2. processor                     gfx942\n"),
                    EndsWith("4. generic target                gfx9-4-generic\n")));
  EXPECT_THAT(targets({"gfx90a:xnack+"}),
              HasSubstr("gfx90a:xnack+, also with the device's own setting of sramecc\n"
                        "  2. processor                     gfx90a\n"));
  EXPECT_THAT(targets({"gfx1100"}), EndsWith("1. processor                     gfx1100\n"
                                             "  2. generic target                gfx11-generic\n"));
  EXPECT_THAT(targets({"gfx1250"}), EndsWith("1. processor                     gfx1250\n"));
}

TEST(CliTargets, ResolvesEveryKindOfName) {
  EXPECT_THAT(
      targets({"gfx9-generic"}),
      HasSubstr("Code for it runs on gfx900, gfx902, gfx904, gfx906, gfx909 and gfx90c.\n"));
  EXPECT_THAT(targets({"cdna3"}), StartsWith("cdna3: code name of CDNA 3.\ngfx942: "));
  EXPECT_THAT(targets({"gfx120X-all"}), AllOf(StartsWith("gfx120X-all: family.\ngfx1200: RDNA 4"),
                                              HasSubstr("\ngfx1201: RDNA 4")));
  EXPECT_THAT(targets({"Radeon RX 7900 XTX"}), StartsWith("rx7900xtx: Radeon RX 7900 XTX, 96 "));
  EXPECT_THAT(targets({"mi210", "w7900"}), AllOf(StartsWith("mi210: "), HasSubstr("\nw7900: ")));
}

TEST(CliTargets, SaysTheSameAsJson) {
  const json answers = json::parse(targets({"--json", "gfx906:sramecc+:xnack-", "gfx9-generic"}));
  ASSERT_EQ(answers.size(), 2U);
  const json& gpu = answers[0]["targets"][0];
  EXPECT_EQ(gpu["generic"], "gfx9-generic");
  ASSERT_EQ(gpu["load_order"].size(), 4U);
  EXPECT_EQ(gpu["load_order"][0]["targets"],
            json({"gfx906:sramecc+:xnack-", "gfx906:sramecc+", "gfx906:xnack-"}));
  EXPECT_EQ(gpu["load_order"][2]["targets"], json({"gfx9-generic:xnack-"}));
  EXPECT_EQ(gpu["load_order"][3]["kind"], "generic target");
  EXPECT_EQ(answers[1]["targets"][0]["covers"].size(), 6U);
  EXPECT_FALSE(answers[1]["targets"][0].contains("load_order"));
}

TEST(CliTargets, RefusesNamesThatItDoesNotKnow) {
  EXPECT_THAT(refusal("mi300y"),
              AllOf(HasSubstr("no entry named (mi300y)"), HasSubstr("Did you mean \"mi300")));
  EXPECT_THAT(refusal("cdna9"), HasSubstr("Did you mean \"cdna"));
  EXPECT_THAT(refusal("gfx803"), HasSubstr("does not support the processor"));
  EXPECT_THAT(refusal("mi300x:tgsplit+"), HasSubstr("other than sramecc and xnack"));
  EXPECT_THAT(spawn({"targets", "--jsn"}).err, HasSubstr("Did you mean \"--json\"?"));
}

// What the seed's table has (IREE's "Choosing HIP targets"): product, processor, code name.
TEST(CliTargets, HasEveryCommonProduct) {
  const struct {
    const char* product;
    const char* processor;
    const char* code_name;
  } rows[] = {
      {"mi100", "gfx908", "cdna1"},      {"mi210", "gfx90a", "cdna2"},
      {"mi250", "gfx90a", "cdna2"},      {"mi300a", "gfx942", "cdna3"},
      {"mi300x", "gfx942", "cdna3"},     {"mi308x", "gfx942", "cdna3"},
      {"mi325x", "gfx942", "cdna3"},     {"v710", "gfx1101", "rdna3"},
      {"w7700", "gfx1101", "rdna3"},     {"w7800", "gfx1100", "rdna3"},
      {"w7900", "gfx1100", "rdna3"},     {"rx7700xt", "gfx1101", "rdna3"},
      {"rx7800xt", "gfx1101", "rdna3"},  {"rx7900xt", "gfx1100", "rdna3"},
      {"rx7900xtx", "gfx1100", "rdna3"}, {"rx9060xt", "gfx1200", "rdna4"},
      {"rx9070", "gfx1201", "rdna4"},    {"rx9070xt", "gfx1201", "rdna4"},
      {"r9070", "gfx1201", "rdna4"},
  };
  std::vector<std::string> words = {"--json"};
  for (const auto& row : rows) words.emplace_back(row.product);
  const json answers = json::parse(targets(words));
  ASSERT_EQ(answers.size(), std::size(rows));
  for (size_t i = 0; i < std::size(rows); ++i) {
    const json& target = answers[i]["targets"][0];
    EXPECT_EQ(target["target"], rows[i].processor) << rows[i].product;
    EXPECT_EQ(target["architecture"], rows[i].code_name) << rows[i].product;
  }
}

}  // namespace
}  // namespace halyard::testing
