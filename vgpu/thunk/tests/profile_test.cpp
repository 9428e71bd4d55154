// Profiles: the shipped ones, extension, and what their author is told of mistakes.
#include "vgpu/thunk/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "vgpu/thunk/topology.h"

namespace halyard::vgpu::thunk {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

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
    EXPECT_EQ(profile.gpus.size(), 1u);
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

TEST_F(ProfileTest, UnknownNameListsTheProfiles) {
  write("gfx900.yaml", "gpu: {processor: gfx900}\n");
  write("mine.yaml", "gpu: {processor: gfx906}\n");
  EXPECT_THAT(load("gfx90"),
              AllOf(HasSubstr("(gfx90)"), HasSubstr("gfx900, mine"), HasSubstr("did you mean")));
  EXPECT_THAT(load("/nonexistent/x.yaml"), HasSubstr("/nonexistent/x.yaml"));
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
  EXPECT_THAT(load("bad"),
              AllOf(HasSubstr("bad.yaml:2:14: processor (gfx901)"), HasSubstr("bad.yaml:3:3: "),
                    HasSubstr("mean compute_units?"), HasSubstr("bad.yaml:4:16: memory_size (8)"),
                    HasSubstr("bad.yaml:6:16: wave_budget (1)")));
}

TEST_F(ProfileTest, ProcessorIsRequired) {
  write("none.yaml", "gpu: {compute_units: 4}\n");
  EXPECT_THAT(load("none"), HasSubstr("gpu.processor"));
}

TEST_F(ProfileTest, SrameccNeedsAProcessorThatHasIt) {
  write("bad.yaml", "gpu: {processor: gfx900, sramecc: true}\n");
  EXPECT_THAT(load("bad"), HasSubstr("sramecc"));
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

TEST_F(ProfileTest, TopologyShowsEveryGpu) {
  write("a.yaml", "gpu: {processor: gfx90a, compute_units: 10, waves_per_simd: 8}\n");
  ASSERT_EQ(load("a"), "");
  profile_.gpus.push_back(profile_.gpus[0]);
  const Topology topology(profile_);
  ASSERT_EQ(topology.node_count(), 3u);
  EXPECT_GT(HSAuint32{topology.properties(0).NumCPUCores}, 0u);
  EXPECT_EQ(HSAuint32{topology.properties(0).NumFComputeCores}, 0u);
  for (uint32_t node = 1; node <= 2; ++node) {
    const HsaNodeProperties& p = topology.properties(node);
    EXPECT_EQ(HSAuint32{p.NumFComputeCores}, 40u);
    EXPECT_EQ(p.EngineId.ui32.Stepping, 10u);
    EXPECT_EQ(topology.links(node).size(), 2u);
    EXPECT_EQ(topology.memory(node).size(), HSAuint32{p.NumMemoryBanks});
  }
  EXPECT_NE(HSAuint64{topology.properties(1).UniqueID}, HSAuint64{topology.properties(2).UniqueID});
  EXPECT_NE(HSAuint32{topology.properties(1).LocationId},
            HSAuint32{topology.properties(2).LocationId});
}

}  // namespace
}  // namespace halyard::vgpu::thunk
