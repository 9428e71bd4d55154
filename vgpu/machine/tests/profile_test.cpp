// Profiles: the shipped ones, extension, and what their author is told of mistakes.
#include "vgpu/machine/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace halyard::vgpu::machine {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

// A folder of its own for each test.
class ProfileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/halyard-profile-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    directory_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  void write(const std::string& name, const std::string& text) {
    std::ofstream(directory_ + "/" + name) << text;
  }
  // The error of loading `name`, or empty.
  std::string load(const std::string& name) {
    std::string error;
    return load_profile(name, directory_, profile_, error) ? std::string() : error;
  }

  std::string directory_;
  Profile profile_;
};

TEST_F(ProfileTest, EveryShippedProfileLoads) {
  const std::vector<std::string> names = list_profiles(HALYARD_VGPU_PROFILES);
  EXPECT_THAT(names, Contains("gfx900"));
  for (const std::string& name : names) {
    Profile profile;
    std::string error;
    EXPECT_TRUE(load_profile(name, HALYARD_VGPU_PROFILES, profile, error)) << error;
    EXPECT_GE(profile.gpus.size(), 1u);
  }
}

TEST_F(ProfileTest, DefaultIsGfx900) {
  std::string error;
  ASSERT_TRUE(load_profile("", HALYARD_VGPU_PROFILES, profile_, error)) << error;
  const GpuProfile& gpu = profile_.gpus[0];
  EXPECT_EQ(gpu.processor, "gfx900");
  EXPECT_EQ(gpu.major_version(), 9u);
  EXPECT_EQ(gpu.minor_version(), 0u);
  EXPECT_EQ(gpu.stepping(), 0u);
  EXPECT_EQ(gpu.memory_bytes, uint64_t{8} << 30);
  EXPECT_TRUE(gpu.execute);
  EXPECT_EQ(gpu.features(), "-xnack");
  EXPECT_EQ(gpu.schedule.text(), "waits");
}

TEST_F(ProfileTest, NoexecExtendsGfx900) {
  std::string error;
  ASSERT_TRUE(load_profile("gfx900-noexec", HALYARD_VGPU_PROFILES, profile_, error)) << error;
  EXPECT_EQ(profile_.gpus[0].processor, "gfx900");
  EXPECT_EQ(profile_.gpus[0].memory_width, 2048u);
  EXPECT_FALSE(profile_.gpus[0].execute);
}

TEST_F(ProfileTest, SteppingIsHexadecimal) {
  std::string error;
  ASSERT_TRUE(load_profile("gfx90a", HALYARD_VGPU_PROFILES, profile_, error)) << error;
  EXPECT_EQ(profile_.gpus[0].stepping(), 10u);
  EXPECT_EQ(profile_.gpus[0].features(), "+sramecc,-xnack");
}

TEST_F(ProfileTest, SdmaCountsHave30BitsFromGfx90aOn) {
  GpuProfile gpu;
  for (const char* const processor : {"gfx900", "gfx906", "gfx908"}) {
    gpu.processor = processor;
    EXPECT_EQ(gpu.target().sdma_count_bits, 22u) << processor;
  }
  for (const char* const processor : {"gfx90a", "gfx942", "gfx950"}) {
    gpu.processor = processor;
    EXPECT_EQ(gpu.target().sdma_count_bits, 30u) << processor;
  }
}

TEST_F(ProfileTest, FloatAtomicsNeedTheL2OnMi100AndMi200) {
  GpuProfile gpu;
  for (const char* const processor : {"gfx900", "gfx906", "gfx942", "gfx950"}) {
    gpu.processor = processor;
    EXPECT_FALSE(gpu.target().float_atomics_in_l2) << processor;
  }
  for (const char* const processor : {"gfx908", "gfx90a"}) {
    gpu.processor = processor;
    EXPECT_TRUE(gpu.target().float_atomics_in_l2) << processor;
  }
}

TEST_F(ProfileTest, Mi300xHasEightDies) {
  std::string error;
  ASSERT_TRUE(load_profile("mi300x", HALYARD_VGPU_PROFILES, profile_, error)) << error;
  ASSERT_EQ(profile_.gpus.size(), 1u);
  const GpuProfile& gpu = profile_.gpus[0];
  EXPECT_EQ(gpu.minor_version(), 4u);
  EXPECT_EQ(gpu.stepping(), 2u);
  EXPECT_EQ(gpu.features(), "+sramecc,-xnack");
  EXPECT_EQ(gpu.compute_units, 304u);
  EXPECT_EQ(gpu.xcds, 8u);
  EXPECT_EQ(gpu.waves_per_simd, 8u);
  EXPECT_TRUE(gpu.retries_faults());
  ASSERT_TRUE(load_profile("mi350x", HALYARD_VGPU_PROFILES, profile_, error)) << error;
  EXPECT_EQ(profile_.gpus[0].lds_bytes, uint64_t{160} << 10);
}

TEST_F(ProfileTest, PartitionsAreGpusOfOneDevice) {
  std::string error;
  ASSERT_TRUE(load_profile("mi300x-cpx", HALYARD_VGPU_PROFILES, profile_, error)) << error;
  ASSERT_EQ(profile_.gpus.size(), 8u);
  EXPECT_EQ(profile_.links.size(), 28u);
  for (const LinkProfile& link : profile_.links) EXPECT_EQ(link.type, LinkType::kXgmi);
  for (uint32_t i = 0; i < 8; ++i) {
    const GpuProfile& gpu = profile_.gpus[i];
    EXPECT_TRUE(gpu.is_same_device(profile_.gpus[0]));
    EXPECT_EQ(gpu.uuid, profile_.gpus[0].uuid + i);
    EXPECT_EQ(gpu.partition_id, i);
    EXPECT_EQ(gpu.first_xcc(), i);
    EXPECT_EQ(gpu.compute_units, 38u);
    EXPECT_EQ(gpu.shader_engines, 4u);
    EXPECT_EQ(gpu.memory_bytes, uint64_t{24} << 30);
    EXPECT_EQ(gpu.sdma_engines, 2u);
    EXPECT_EQ(gpu.xgmi_sdma_engines, 0u);
  }
  write("two.yaml", "gpus:\n  - extends: " + std::string(HALYARD_VGPU_PROFILES) +
                        "/mi300a.yaml\n    gpu: {partition: tpx}\n    count: 2\n");
  ASSERT_EQ(load("two"), "");
  ASSERT_EQ(profile_.gpus.size(), 6u);
  EXPECT_TRUE(profile_.gpus[2].is_same_device(profile_.gpus[0]));
  EXPECT_FALSE(profile_.gpus[3].is_same_device(profile_.gpus[0]));
  EXPECT_EQ(profile_.gpus[3].xcds, 2u);
  EXPECT_EQ(profile_.gpus[4].first_xcc(), 2u);
}

TEST_F(ProfileTest, DiesMustFit) {
  write("one.yaml", "gpu: {processor: gfx90a, xcds: 2}\n");
  EXPECT_THAT(load("one"), HasSubstr("gpu.xcds is 2, but the processor (gfx90a) has one die"));
  write("odd.yaml", "gpu: {processor: gfx942, xcds: 8, compute_units: 100}\n");
  EXPECT_THAT(load("odd"), HasSubstr("gpu.compute_units (100) and gpu.shader_engines (4) must be "
                                     "multiples of gpu.xcds (8)"));
  write(
      "three.yaml",
      "gpu: {processor: gfx942, xcds: 8, compute_units: 80, shader_engines: 8, partition: tpx}\n");
  EXPECT_THAT(load("three"), HasSubstr("gpu.partition makes 3 GPUs"));
  write("lds.yaml", "gpu: {processor: gfx942, lds_size: 160KiB}\n");
  EXPECT_THAT(load("lds"), HasSubstr("gpu.lds_size is 160KiB, but a compute unit of the processor "
                                     "(gfx942) has 64KiB"));
}

TEST_F(ProfileTest, UnknownNameListsTheProfiles) {
  write("gfx900.yaml", "gpu: {processor: gfx900}\n");
  write("mine.yaml", "gpu: {processor: gfx906}\n");
  EXPECT_THAT(load("gfx90"),
              AllOf(HasSubstr("(gfx90)"), HasSubstr("gfx900, mine"), HasSubstr("did you mean")));
  EXPECT_THAT(load("/nonexistent/x.yaml"), HasSubstr("/nonexistent/x.yaml"));
}

// A processor that is not there yet is no other one that is written wrong.
TEST_F(ProfileTest, ProcessorsThatAreNotThereYet) {
  write("gfx900.yaml", "gpu: {processor: gfx900}\n");
  write("mi100.yaml", "gpu: {processor: gfx908}\n");
  for (const char* const name : {"gfx1030", "gfx1100", "gfx1201", "mi450x"}) {
    EXPECT_THAT(load(name),
                AllOf(HasSubstr("(" + std::string(name) +
                                ") does not exist: the virtual GPU is not "
                                "there yet for that GPU. It executes code for gfx900, "),
                      HasSubstr("The profiles in"), Not(HasSubstr("did you mean"))));
  }
  EXPECT_THAT(load("gfx90c"), AllOf(HasSubstr("write a profile with \"gpu: {processor: gfx90c}\""),
                                    Not(HasSubstr("did you mean"))));
  EXPECT_THAT(load("gfx9o0"), HasSubstr("did you mean gfx900?"));
}

TEST_F(ProfileTest, EmptyFolderSaysSo) {
  EXPECT_THAT(load("gfx900"), AllOf(HasSubstr("no profiles"), HasSubstr(directory_)));
}

TEST_F(ProfileTest, PathsWork) {
  write("mine.yaml", "gpu: {processor: gfx906, compute_units: 7}\n");
  EXPECT_EQ(load(directory_ + "/mine.yaml"), "");
  EXPECT_EQ(profile_.gpus[0].compute_units, 7u);
}

TEST_F(ProfileTest, MistakesHaveTheirPlace) {
  write("bad.yaml",
        "gpu:\n"
        "  processor: gfx901\n"
        "  compute_unit: 4\n"
        "  memory_size: 8\n"
        "engine:\n"
        "  wave_budget: 1\n");
  EXPECT_THAT(load("bad"), AllOf(HasSubstr("bad.yaml:2:14: gpu.processor (gfx901)"),
                                 HasSubstr("bad.yaml:3:3: "), HasSubstr("mean compute_units?"),
                                 HasSubstr("bad.yaml:4:16: gpu.memory_size (8)"),
                                 HasSubstr("bad.yaml:6:16: engine.wave_budget (1)")));
}

TEST_F(ProfileTest, AGpuHasAtLeastFourSimds) {
  write("four.yaml", "gpu: {processor: gfx900, compute_units: 2, simds_per_cu: 2}\n");
  EXPECT_EQ(load(directory_ + "/four.yaml"), "");
  write("two.yaml", "gpu:\n  processor: gfx900\n  compute_units: 2\n  simds_per_cu: 1\n");
  EXPECT_THAT(load(directory_ + "/two.yaml"),
              AllOf(HasSubstr("two.yaml:3:"),
                    HasSubstr("compute_units (2) times simds_per_cu (1) must be at least 4")));
  write("extended.yaml", "extends: four.yaml\ngpu: {simds_per_cu: 1}\n");
  EXPECT_THAT(load(directory_ + "/extended.yaml"), HasSubstr("must be at least 4"));
}

TEST_F(ProfileTest, ProcessorIsRequired) {
  write("none.yaml", "gpu: {compute_units: 4}\n");
  EXPECT_THAT(load("none"), HasSubstr("gpu.processor"));
}

TEST_F(ProfileTest, SrameccNeedsAProcessorThatHasIt) {
  write("bad.yaml", "gpu: {processor: gfx900, sramecc: true}\n");
  EXPECT_THAT(load("bad"), HasSubstr("sramecc"));
}

TEST_F(ProfileTest, SvmNeedsAProcessorWithMemoryOfItsOwn) {
  write("bad.yaml", "gpu: {processor: gfx90c, svm: true}\n");
  EXPECT_THAT(load("bad"),
              HasSubstr("gpu.svm is true, but Linux has no SVM on the processor (gfx90c)"));
  write("good.yaml", "gpu: {processor: gfx908, svm: true}\n");
  EXPECT_EQ(load("good"), "");
  EXPECT_FALSE(profile_.gpus[0].retries_faults());
  std::string error;
  ASSERT_TRUE(load_profile("mi210", HALYARD_VGPU_PROFILES, profile_, error)) << error;
  EXPECT_TRUE(profile_.gpus[0].retries_faults());
}

TEST_F(ProfileTest, AScheduleIsOneThatTheEngineHas) {
  write("good.yaml", "gpu: {processor: gfx900}\nengine: {schedule: \"seed:7,until:100\"}\n");
  EXPECT_EQ(load("good"), "");
  EXPECT_EQ(profile_.gpus[0].schedule.text(), "seed:7,until:100");
  write("bad.yaml", "gpu: {processor: gfx900}\nengine:\n  schedule: every\n");
  EXPECT_THAT(load("bad"), AllOf(HasSubstr("bad.yaml:3:13: "),
                                 HasSubstr("The schedule (every) needs a number")));
}

TEST_F(ProfileTest, CircularExtensionIsAnError) {
  write("a.yaml", "extends: b\n");
  write("b.yaml", "extends: a\n");
  EXPECT_THAT(load("a"), HasSubstr("circle"));
  write("c.yaml", "extends: gfx\n");
  EXPECT_THAT(load("c"), HasSubstr("extends (gfx) names no profile"));
}

TEST_F(ProfileTest, PciLocationIsChecked) {
  write("a.yaml", "gpu: {processor: gfx900, pci_location: \"0001:2b:1f.1\"}\n");
  EXPECT_EQ(load("a"), "");
  EXPECT_EQ(profile_.gpus[0].pci_domain, 1u);
  EXPECT_EQ(profile_.gpus[0].pci_location, 0x2bf9u);
  for (const char* text : {"03:00.0", "0000:03:00", "0000:03:20.0", "0000:03:00.0x"}) {
    write("b.yaml", std::string("gpu: {processor: gfx900, pci_location: \"") + text + "\"}\n");
    EXPECT_THAT(load("b"), HasSubstr("pci_location")) << text;
  }
}

TEST_F(ProfileTest, AProfileMayHaveSeveralGpus) {
  write("big.yaml", "gpu: {processor: gfx90a, waves_per_simd: 8, uuid: 0x77}\n");
  write("several.yaml",
        "extends: big\n"
        "engine: {wave_budget: 100}\n"
        "gpus:\n"
        "  - count: 2\n"
        "  - gpu: {processor: gfx906, memory_size: 1GiB, uuid: 0x1234, pci_location: "
        "\"0000:41:00.0\"}\n"
        "  - extends: big\n"
        "    engine: {workers: 3}\n");
  ASSERT_EQ(load("several"), "");
  ASSERT_EQ(profile_.gpus.size(), 4u);
  EXPECT_EQ(profile_.gpus[1].processor, "gfx90a");
  EXPECT_EQ(profile_.gpus[1].wave_budget, 100u);
  EXPECT_EQ(profile_.gpus[2].processor, "gfx906");
  EXPECT_EQ(profile_.gpus[2].uuid, 0x1234u);
  EXPECT_EQ(profile_.gpus[2].memory_bytes, uint64_t{1} << 30);
  EXPECT_EQ(profile_.gpus[3].workers, 3u);
  EXPECT_EQ(profile_.gpus[3].wave_budget, GpuProfile().wave_budget) << "starts from its own base";
  for (size_t a = 0; a < 4; ++a) {
    for (size_t b = a + 1; b < 4; ++b) {
      EXPECT_NE(profile_.gpus[a].uuid, profile_.gpus[b].uuid);
      EXPECT_NE(profile_.gpus[a].pci_location, profile_.gpus[b].pci_location);
    }
  }
  EXPECT_EQ(profile_.links.size(), 6u);
}

TEST_F(ProfileTest, MistakesInAListOfGpusHaveTheirPlace) {
  write("one.yaml", "gpu: {processor: gfx900}\n");
  const auto error_of = [this](const std::string& text) {
    write("several.yaml", "extends: one\n" + text);
    return load("several");
  };
  EXPECT_THAT(error_of("gpus: []\n"), HasSubstr("several.yaml:2:7: gpus describes (0) GPUs"));
  EXPECT_THAT(error_of("gpus: 3\n"), HasSubstr("gpus is a single value; it must be a list"));
  EXPECT_THAT(error_of("gpus: [gfx900]\n"), HasSubstr("gpus[0] is a single value"));
  EXPECT_THAT(error_of("gpus: [{cout: 2}]\n"), HasSubstr("did you mean count?"));
  EXPECT_THAT(error_of("gpus: [{count: 40}, {count: 40}]\n"), HasSubstr("(80) GPUs"));
  // More than a PCI domain has places for.
  EXPECT_THAT(error_of("gpus: [{count: 64}, {count: 64}, {count: 64}, {count: 64}, {count: 64}]\n"),
              HasSubstr("(128) GPUs"));
  EXPECT_THAT(error_of("gpus: [{gpu: {uuid: 5}}, {gpu: {uuid: 5}}]\n"),
              HasSubstr("several.yaml:2:39: Another GPU of the profile has this one"));
  EXPECT_THAT(error_of("gpus: [{gpu: {sramecc: true}}]\n"), HasSubstr("gpus[0].gpu.sramecc"));
  EXPECT_THAT(error_of("gpus: [{}, {}]\nlinks: [{from: 0, to: 2}]\n"), HasSubstr("to (2)"));
  EXPECT_THAT(error_of("gpus: [{}, {}]\nlinks: [{from: 1, to: 1}]\n"),
              HasSubstr("two different GPUs"));
  EXPECT_THAT(error_of("gpus: [{}, {}]\ndefault_link: xgmy\n"), HasSubstr("did you mean xgmi?"));
  EXPECT_EQ(error_of("gpus: [{}, {}]\n"), "");
  write("more.yaml", "extends: several\n");
  EXPECT_THAT(load("more"), HasSubstr("cannot be extended"));
}

// The figures are those of config/targets.yaml, which has sources of its own.
TEST_F(ProfileTest, ProductsAreWhatTheTargetMapSays) {
  struct Product {
    const char* name;
    const char* processor;
    uint32_t compute_units;
    uint64_t gib;
  };
  for (const Product& product :
       {Product{"mi25", "gfx900", 64, 16}, Product{"mi50", "gfx906", 60, 16},
        Product{"mi100", "gfx908", 120, 32}, Product{"mi210", "gfx90a", 104, 64}}) {
    std::string error;
    ASSERT_TRUE(load_profile(product.name, HALYARD_VGPU_PROFILES, profile_, error)) << error;
    EXPECT_EQ(profile_.gpus[0].processor, product.processor);
    EXPECT_EQ(profile_.gpus[0].compute_units, product.compute_units);
    EXPECT_EQ(profile_.gpus[0].memory_bytes, product.gib << 30);
  }
}

TEST_F(ProfileTest, LimitsShrinkEveryGpuThatHasMore) {
  write("node.yaml",
        "gpu: {processor: gfx90a, compute_units: 104, memory_size: 64GiB}\n"
        "gpus: [{}, {gpu: {memory_size: 1GiB, compute_units: 4}}]\n");
  ASSERT_EQ(load("node,memory_size=2GiB,compute_units=8"), "");
  EXPECT_EQ(profile_.gpus[0].memory_bytes, uint64_t{2} << 30);
  EXPECT_EQ(profile_.gpus[0].compute_units, 8u);
  EXPECT_EQ(profile_.gpus[1].memory_bytes, uint64_t{1} << 30);
  EXPECT_EQ(profile_.gpus[1].compute_units, 4u);
  EXPECT_EQ(profile_.name, "node,memory_size=2GiB,compute_units=8");
  ASSERT_EQ(load(directory_ + "/node.yaml,compute_units=5"), "");
  EXPECT_EQ(profile_.gpus[0].compute_units, 5u);
  EXPECT_EQ(profile_.gpus[0].memory_bytes, uint64_t{64} << 30);
}

TEST_F(ProfileTest, LimitsThatMakeNoSenseAreErrors) {
  write("node.yaml", "gpu: {processor: gfx900, compute_units: 64, simds_per_cu: 2}\n");
  EXPECT_THAT(load("node,memory_sise=2GiB"),
              HasSubstr("(memory_sise) of a virtual GPU's profile is unknown, "
                        "did you mean memory_size?"));
  EXPECT_THAT(load("node,memory_size=2"), HasSubstr("memory_size (2) of a virtual GPU's profile is "
                                                    "not a size"));
  EXPECT_THAT(load("node,memory_size"), HasSubstr("memory_size ()"));
  EXPECT_THAT(load("node,compute_units=010"), HasSubstr("begins with a zero"));
  EXPECT_THAT(load("node,compute_units=1"), HasSubstr("leaves 2 SIMDs"));
  EXPECT_THAT(load("node,compute_units=65"),
              HasSubstr("more than any GPU of the profile node has; it must be at most 64."));
  EXPECT_THAT(load("node,memory_size=9GiB"), HasSubstr("it must be at most 8GiB"));
  EXPECT_THAT(load("node,compute_units=8,compute_units=8"), HasSubstr("given twice"));
  EXPECT_THAT(load("nod,compute_units=8"), HasSubstr("profile (nod) does not exist"));
}

TEST_F(ProfileTest, AFileMayHaveACommaInItsName) {
  write("a,compute_units=8.yaml", "gpu: {processor: gfx900, compute_units: 7}\n");
  ASSERT_EQ(load(directory_ + "/a,compute_units=8.yaml"), "");
  EXPECT_EQ(profile_.gpus[0].compute_units, 7u);
}

}  // namespace
}  // namespace halyard::vgpu::machine
