// Profiles whose processors the vendor's runtime does not know.
#include "vgpu/kfd/runtime_processors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace halyard::vgpu::kfd {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// A runtime is a file that has the processors' names in it.
class RuntimeProcessors : public ::testing::Test {
 protected:
  RuntimeProcessors() { std::ofstream(path_) << "\x7f ELF gfx900 gfx90a:xnack+ gfx942:xL"; }
  ~RuntimeProcessors() override { std::filesystem::remove(path_); }

  std::string said_of(const std::vector<std::string>& processors, Runtime runtime = Runtime::kHsa) {
    machine::Profile profile;
    profile.name = "mine";
    for (const std::string& processor : processors) {
      machine::GpuProfile gpu;
      gpu.processor = processor;
      profile.gpus.push_back(gpu);
    }
    return unknown_processors(profile, runtime, path_, usable_);
  }

  const std::string path_ = ::testing::TempDir() + "runtime_of_" + std::to_string(getpid());
  bool usable_ = false;
};

TEST_F(RuntimeProcessors, AReleaseIsNamedThatKnowsTheProcessor) {
  EXPECT_THAT(said_of({"gfx900"}), IsEmpty());
  EXPECT_TRUE(usable_);
  EXPECT_THAT(said_of({"gfx942"}), IsEmpty());
  EXPECT_TRUE(usable_);
  EXPECT_THAT(said_of({"gfx950"}),
              AllOf(HasSubstr("(" + path_ + ") does not know the processor (gfx950)"),
                    HasSubstr("profile (mine)"), HasSubstr("Releases from 6.4 on know it")));
  EXPECT_FALSE(usable_);
}

// What can be done with the release at hand: it may know processors after gfx90a.
TEST_F(RuntimeProcessors, WhatCanBeUsedInsteadIsNamed) {
  EXPECT_THAT(said_of({"gfx950"}), AllOf(HasSubstr("use a profile of gfx942 or an earlier"),
                                         HasSubstr("HSA_OVERRIDE_GFX_VERSION=9.4.2")));
  std::ofstream(path_) << "\x7f ELF gfx900 gfx90a";
  EXPECT_THAT(said_of({"gfx950"}),
              AllOf(HasSubstr("use a profile of gfx90a or an earlier processor."),
                    Not(HasSubstr("OVERRIDE"))));
  EXPECT_THAT(said_of({"gfx942"}), HasSubstr("use a profile of gfx90a or an earlier processor."));
}

// The runtime takes the GPU for another that it knows.
TEST_F(RuntimeProcessors, AUserOverridesTheProcessor) {
  setenv("HSA_OVERRIDE_GFX_VERSION", "9.4.2", 1);
  EXPECT_THAT(said_of({"gfx950"}), IsEmpty());
  EXPECT_TRUE(usable_);
  setenv("HSA_OVERRIDE_GFX_VERSION", "9.5.0", 1);
  EXPECT_THAT(said_of({"gfx942"}), HasSubstr("does not know the processor (gfx950)"));
  EXPECT_FALSE(usable_);
  setenv("HSA_OVERRIDE_GFX_VERSION", "9.4", 1);  // the runtime does not take that
  EXPECT_THAT(said_of({"gfx950"}), HasSubstr("does not know the processor (gfx950)"));
  unsetenv("HSA_OVERRIDE_GFX_VERSION");
}

TEST_F(RuntimeProcessors, HipHasReleasesOfItsOwn) {
  EXPECT_THAT(said_of({"gfx950"}, Runtime::kHip),
              AllOf(HasSubstr("The HIP runtime ("), HasSubstr("Releases from 7.0 on know it")));
}

TEST_F(RuntimeProcessors, OneGpuThatIsKnownIsEnough) {
  EXPECT_THAT(said_of({"gfx950", "gfx90a"}), HasSubstr("leaves that GPU out"));
  EXPECT_TRUE(usable_);
}

TEST_F(RuntimeProcessors, AFileThatCannotBeReadSaysNothing) {
  std::filesystem::remove(path_);
  EXPECT_THAT(said_of({"gfx950"}), IsEmpty());
  EXPECT_TRUE(usable_);
}

}  // namespace
}  // namespace halyard::vgpu::kfd
