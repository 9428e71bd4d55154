// The tables that tools/targets.py makes of config/targets.yaml, and the questions asked of them.
// What LLVM says of the same processors is compared in tools/tests/llvm_targets_test.cpp.
#include "hal/target_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "hal/selection.h"

namespace halyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TargetId target_of(std::string_view text) {
  Result<TargetId> result = parse_target_id(text);
  EXPECT_TRUE(result.ok()) << result.status().to_string();
  return result.ok() ? result.value() : TargetId{};
}

std::vector<std::string> names_of(const std::vector<TargetId>& targets) {
  std::vector<std::string> names;
  for (const TargetId& t : targets) names.push_back(to_string(t));
  return names;
}

std::vector<std::string> resolved(std::string_view name, TargetNameKind kind) {
  Result<NamedTarget> named = resolve_target_name(name);
  EXPECT_TRUE(named.ok()) << named.status().to_string();
  if (!named.ok()) return {};
  EXPECT_EQ(named->kind, kind) << name << " is a " << to_string(named->kind);
  return names_of(named->targets);
}

std::string refusal(std::string_view name, StatusCode code) {
  const Result<NamedTarget> named = resolve_target_name(name);
  EXPECT_FALSE(named.ok()) << name;
  if (named.ok()) return {};
  EXPECT_EQ(named.status().code(), code) << name;
  return std::string(named.status().message().view());
}

TEST(Processors, HaveOneNameAndOneMachineNumberEach) {
  std::set<std::string> names;
  for (int machine = 0; machine < 256; ++machine) {
    const ProcessorInfo* processor = find_processor(static_cast<uint8_t>(machine));
    if (processor == nullptr) continue;
    EXPECT_EQ(processor->elf_machine, machine);
    EXPECT_TRUE(names.insert(processor->name).second) << processor->name;
    EXPECT_EQ(find_processor(std::string_view(processor->name)), processor);
  }
  EXPECT_EQ(names.size(), all_processors().size());
  EXPECT_EQ(find_processor(std::string_view("gfx000")), nullptr);
  EXPECT_EQ(find_processor(std::string_view("GFX900")), nullptr);
}

// Facts of AMDGPUUsage that the tables are to show.
TEST(Processors, HaveWhatTheMapSays) {
  const ProcessorInfo* mi200 = find_processor(std::string_view("gfx90a"));
  ASSERT_NE(mi200, nullptr);
  EXPECT_EQ(mi200->kind, ProcessorKind::kExact);
  EXPECT_EQ(mi200->elf_machine, 0x3f);
  EXPECT_TRUE(mi200->has_xnack && mi200->has_sramecc && mi200->features_can_be_chosen);
  EXPECT_EQ(mi200->wavefront_size, 64);
  EXPECT_EQ(mi200->other_wavefront_size, 0);
  EXPECT_EQ(mi200->generic, nullptr);
  EXPECT_STREQ(mi200->architecture, "cdna2");

  const ProcessorInfo* navi31 = find_processor(uint8_t{0x41});
  ASSERT_NE(navi31, nullptr);
  EXPECT_STREQ(navi31->name, "gfx1100");
  EXPECT_FALSE(navi31->has_xnack || navi31->has_sramecc || navi31->features_can_be_chosen);
  EXPECT_EQ(navi31->wavefront_size, 32);
  EXPECT_EQ(navi31->other_wavefront_size, 64);
  EXPECT_STREQ(navi31->generic, "gfx11-generic");
  EXPECT_EQ(navi31->generic_version, 1);

  const ProcessorInfo* generic = find_processor(std::string_view("gfx9-4-generic"));
  ASSERT_NE(generic, nullptr);
  EXPECT_TRUE(generic->is_generic());
  EXPECT_EQ(generic->generic_version, 1);
  EXPECT_EQ(generic->architecture, nullptr);

  const ProcessorInfo* old = find_processor(std::string_view("gfx803"));
  ASSERT_NE(old, nullptr);
  EXPECT_EQ(old->kind, ProcessorKind::kHistoric);
}

TEST(Processors, OfAGenericTargetAreThoseThatItCovers) {
  EXPECT_THAT(processors_of_generic("gfx9-4-generic"), ElementsAre("gfx942", "gfx950"));
  EXPECT_THAT(processors_of_generic("gfx12-generic"), ElementsAre("gfx1200", "gfx1201"));
  EXPECT_THAT(processors_of_generic("gfx900"), IsEmpty());
}

TEST(Processors, RunTheVersionsOfTheirGenericTargetThatKnowThem) {
  ProcessorInfo processor = *find_processor("gfx1153");
  processor.generic_version = 3;
  EXPECT_EQ(why_older_than_processor(processor, 2),
            "it has version 2 of gfx11-generic, which covers gfx1153 from version 3 on");
  EXPECT_EQ(why_older_than_processor(processor, 3), "");
  EXPECT_EQ(why_older_than_processor(processor, 255), "");
}

TEST(TargetNames, StandForProcessors) {
  EXPECT_THAT(resolved("gfx942", TargetNameKind::kProcessor), ElementsAre("gfx942"));
  EXPECT_THAT(resolved("gfx90a:xnack+", TargetNameKind::kProcessor), ElementsAre("gfx90a:xnack+"));
  EXPECT_THAT(resolved("gfx9-generic", TargetNameKind::kGeneric), ElementsAre("gfx9-generic"));
  EXPECT_THAT(resolved("gfx9-4-generic:sramecc-", TargetNameKind::kGeneric),
              ElementsAre("gfx9-4-generic:sramecc-"));
  EXPECT_THAT(resolved("mi300x", TargetNameKind::kProduct), ElementsAre("gfx942"));
  EXPECT_THAT(resolved("mi300x:xnack-", TargetNameKind::kProduct), ElementsAre("gfx942:xnack-"));
  EXPECT_THAT(resolved("cdna3", TargetNameKind::kArchitecture), ElementsAre("gfx942"));
  EXPECT_THAT(resolved("rdna4", TargetNameKind::kArchitecture), ElementsAre("gfx1200", "gfx1201"));
  EXPECT_THAT(resolved("gfx94X-dcgpu", TargetNameKind::kFamily), ElementsAre("gfx942"));
  EXPECT_THAT(resolved("gfx110X-igpu", TargetNameKind::kFamily), ElementsAre("gfx1103"));
}

TEST(TargetNames, AreReadAsPeopleWriteThem) {
  for (const char* name : {"rx7900xtx", "RX 7900 XTX", "RX-7900-XTX", "Radeon RX 7900 XTX",
                           "AMD Radeon RX 7900 XTX"}) {
    EXPECT_THAT(resolved(name, TargetNameKind::kProduct), ElementsAre("gfx1100")) << name;
  }
  EXPECT_THAT(resolved("AMD Instinct MI300X", TargetNameKind::kProduct), ElementsAre("gfx942"));
  EXPECT_THAT(resolved("Instinct MI300X", TargetNameKind::kProduct), ElementsAre("gfx942"));
  EXPECT_THAT(resolved("r9070", TargetNameKind::kProduct), ElementsAre("gfx1201"));
  EXPECT_THAT(resolved("GFX94x-DCGPU", TargetNameKind::kFamily), ElementsAre("gfx942"));

  const Result<NamedTarget> alias = resolve_target_name("r9070");
  ASSERT_TRUE(alias.ok());
  EXPECT_EQ(alias->name, "r9700");
  ASSERT_NE(alias->product, nullptr);
  EXPECT_EQ(alias->product->compute_units, 64);
  EXPECT_EQ(alias->product->memory_gib, 32);
}

TEST(TargetNames, ThatAreUnknownSayWhatWasMeant) {
  EXPECT_THAT(refusal("mi300y", StatusCode::kNotFound), HasSubstr("Did you mean \"mi300"));
  EXPECT_THAT(refusal("gfx9-genric", StatusCode::kNotFound),
              HasSubstr("Did you mean \"gfx9-generic\"?"));
  EXPECT_THAT(refusal("", StatusCode::kNotFound), HasSubstr("halyard targets"));
  EXPECT_THAT(refusal("sm_90", StatusCode::kNotFound), HasSubstr("(sm_90)"));
  EXPECT_THAT(refusal("gfx803", StatusCode::kNotFound), HasSubstr("begins with gfx900"));
  EXPECT_THAT(refusal("gfx1100:xnack+", StatusCode::kInvalidArgument),
              HasSubstr("that gfx1100 does not have"));
  EXPECT_THAT(refusal("mi300x:", StatusCode::kInvalidArgument), HasSubstr("without + or -"));
}

TEST(Products, NameProcessorsThatExist) {
  for (const ProductInfo& product : all_products()) {
    const ProcessorInfo* processor = find_processor(std::string_view(product.processor));
    ASSERT_NE(processor, nullptr) << product.name;
    EXPECT_EQ(processor->kind, ProcessorKind::kExact);
    EXPECT_EQ(find_product(product.name), &product);
    EXPECT_GE(product.devices, 1);
  }
  for (const ProductAlias& alias : all_product_aliases()) {
    ASSERT_NE(find_product(alias.name), nullptr);
    EXPECT_STREQ(find_product(alias.name)->name, alias.product);
  }
  EXPECT_EQ(find_product("mi999"), nullptr);
  EXPECT_EQ(find_product("mi250x")->devices, 2);
  EXPECT_EQ(find_product("mi250x")->compute_units, 110);
}

TEST(Families, AndArchitecturesNameProcessorsThatExist) {
  for (const FamilyInfo& family : all_families()) {
    EXPECT_FALSE(family.processors.empty()) << family.name;
    for (const char* name : family.processors) {
      EXPECT_NE(find_processor(std::string_view(name)), nullptr) << family.name;
    }
  }
  for (const ProcessorInfo& processor : all_processors()) {
    EXPECT_EQ(processor.architecture != nullptr, processor.kind == ProcessorKind::kExact);
    if (processor.architecture == nullptr) continue;
    EXPECT_NE(find_architecture(processor.architecture), nullptr) << processor.name;
  }
}

TEST(LoadOrder, PutsFeaturesBeforeNoneAndTheProcessorBeforeItsGenericTarget) {
  EXPECT_THAT(names_of(load_order(target_of("gfx942:sramecc+:xnack-"))),
              ElementsAre("gfx942:sramecc+:xnack-", "gfx942:sramecc+", "gfx942:xnack-", "gfx942",
                          "gfx9-4-generic:sramecc+:xnack-", "gfx9-4-generic:sramecc+",
                          "gfx9-4-generic:xnack-", "gfx9-4-generic"));
  // gfx9-generic has no sramecc.
  EXPECT_THAT(names_of(load_order(target_of("gfx906:sramecc+:xnack-"))),
              ElementsAre("gfx906:sramecc+:xnack-", "gfx906:sramecc+", "gfx906:xnack-", "gfx906",
                          "gfx9-generic:xnack-", "gfx9-generic"));
  EXPECT_THAT(names_of(load_order(target_of("gfx90a:xnack+"))),
              ElementsAre("gfx90a:xnack+", "gfx90a"));
  EXPECT_THAT(names_of(load_order(target_of("gfx1100"))), ElementsAre("gfx1100", "gfx11-generic"));
  EXPECT_THAT(names_of(load_order(target_of("gfx1399:xnack+"))),
              ElementsAre("gfx1399:xnack+", "gfx1399"));
}

// Whatever is offered runs, and nothing that runs is left out.
TEST(LoadOrder, IsWhatRuns) {
  for (const ProcessorInfo& processor : all_processors()) {
    if (processor.kind != ProcessorKind::kExact) continue;
    TargetId device = target_of(processor.name);
    if (processor.has_xnack) device.xnack = Feature::kOff;
    if (processor.has_sramecc) device.sramecc = Feature::kOn;
    std::set<std::string> offered;
    const std::vector<TargetId> order = load_order(device);
    for (const TargetId& code : order) {
      EXPECT_EQ(why_not_runs_on(code, device), "") << to_string(code);
      EXPECT_TRUE(offered.insert(to_string(code)).second) << to_string(code);
    }
    EXPECT_TRUE(
        std::is_sorted(order.begin(), order.end(),
                       [](const TargetId& a, const TargetId& b) { return is_preferred(a, b); }));
    for (const ProcessorInfo& built : all_processors()) {
      for (const char* features : {"", ":xnack+", ":xnack-", ":sramecc+", ":sramecc-"}) {
        const Result<TargetId> code = parse_target_id(std::string(built.name) + features);
        if (!code.ok()) continue;
        EXPECT_EQ(offered.contains(to_string(*code)), runs_on(*code, device))
            << to_string(*code) << " on " << to_string(device);
      }
    }
  }
}

// `halyard targets` promises this order; select_variant is what keeps the promise.
TEST(LoadOrder, IsTheOrderOfSelection) {
  for (const ProcessorInfo& processor : all_processors()) {
    if (processor.kind != ProcessorKind::kExact) continue;
    LoaderFacts loader;
    loader.device = target_of(processor.name);
    if (processor.has_xnack) loader.device.xnack = Feature::kOff;
    if (processor.has_sramecc) loader.device.sramecc = Feature::kOn;
    std::vector<TargetId> order = load_order(loader.device);
    // A module that lacks the best ones, more and more of them; the worst stands first.
    while (!order.empty()) {
      std::vector<VariantFacts> variants;
      for (auto code = order.rbegin(); code != order.rend(); ++code) {
        VariantFacts facts;
        facts.target = *code;
        facts.version = 6;
        facts.generic_version = find_processor(code->processor)->is_generic() ? 1 : 0;
        variants.push_back(facts);
      }
      const Selection selection = select_variant(variants, loader);
      ASSERT_TRUE(selection.chosen.has_value());
      const TargetId& chosen = variants[*selection.chosen].target;
      EXPECT_EQ(match_rank(chosen), match_rank(order.front())) << to_string(chosen);
      EXPECT_FALSE(is_preferred(order.front(), chosen)) << to_string(chosen);
      order.erase(order.begin());
    }
  }
}

TEST(LoadOrder, RanksWhatAModuleHas) {
  EXPECT_EQ(match_rank(target_of("gfx90a:xnack+")), MatchRank::kProcessorWithFeatures);
  EXPECT_EQ(match_rank(target_of("gfx90a")), MatchRank::kProcessor);
  EXPECT_EQ(match_rank(target_of("gfx9-generic:xnack+")), MatchRank::kGenericWithFeatures);
  EXPECT_EQ(match_rank(target_of("gfx9-generic")), MatchRank::kGeneric);
  EXPECT_TRUE(is_preferred(target_of("gfx90a:sramecc+:xnack+"), target_of("gfx90a:xnack+")));
  EXPECT_FALSE(is_preferred(target_of("gfx90a:xnack+"), target_of("gfx90a:sramecc+")));
  EXPECT_FALSE(is_preferred(target_of("gfx90a"), target_of("gfx90a")));
}

}  // namespace
}  // namespace halyard
