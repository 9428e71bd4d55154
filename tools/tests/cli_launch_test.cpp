// What `halyard run` makes of a launch: its shape, and what it says of it; pointers as arguments.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tools/tests/cli.h"

namespace halyard::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using values::ElementType;

const std::string kData = HALYARD_TEST_DATA;

class CliLaunch : public CliTest, public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists("/usr/bin/clang-22"))
      GTEST_SKIP() << "Skipped: clang-22 is not installed.";
  }
  Outcome launch(const std::string& file, const std::string& function,
                 const std::vector<std::string>& arguments) {
    std::vector<std::string> words = {"run", std::string("--device=") + GetParam(), "--vgpu=gfx900",
                                      "--module=" + kData + "/launch/" + file,
                                      "--function=" + function};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return spawn(words);
  }
  static void expect(const Outcome& outcome, const std::string& out) {
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, out);
  }
};

INSTANTIATE_TEST_SUITE_P(Drivers, CliLaunch, ::testing::Values("amdgpu", "hip"),
                         [](const auto& info) { return std::string(info.param); });

class CliHipLaunch : public CliLaunch {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists("/usr/bin/hipcc"))
      GTEST_SKIP() << "Skipped: hipcc is not installed.";
  }
};

INSTANTIATE_TEST_SUITE_P(Drivers, CliHipLaunch, ::testing::Values("amdgpu", "hip"),
                         [](const auto& info) { return std::string(info.param); });

// blockDim in a partial work-group would be smaller: the loop would add twice in places.
TEST_P(CliHipLaunch, TheDefaultShapeHasWholeWorkGroups) {
  const Outcome loop =
      launch("shape.hip", "add_one",
             {"--input=100xi32=0", "--input=i32=100", "--expected-output=100xi32=1"});
  EXPECT_EQ(loop.exit_code, 0) << loop.err;
  EXPECT_THAT(loop.err, IsEmpty());
  const Outcome shape =
      launch("shape.hip", "shape", {"--input=&100xi32", "--expected-output=100xi32=2050"});
  EXPECT_EQ(shape.exit_code, 0) << shape.err;
  const Outcome rounded = launch(
      "shape.hip", "add_one",
      {"--input=100xi32=0", "--input=i32=100", "--workgroup=64", "--expected-output=100xi32=1"});
  EXPECT_EQ(rounded.exit_code, 0) << rounded.err;
  EXPECT_THAT(rounded.err,
              HasSubstr("halyard: note: The kernel add_one needs whole work-groups, so "
                        "the grid has 128 work-items for the 100 elements"));
  const Outcome partial =
      launch("shape.hip", "shape",
             {"--input=&100xi32", "--grid=100", "--workgroup=64", "--print-limit=1"});
  EXPECT_THAT(partial.err, HasSubstr("is partial (the work-group is 64×1×1)"));
}

TEST_P(CliHipLaunch, HintsForWhatALaunchLacks) {
  const Outcome without = launch("shape.hip", "turn", {"--input=4xi32=1 2 3 4"});
  EXPECT_THAT(without.err, HasSubstr("The kernel turn accesses LDS, and has none. For HIP's extern "
                                     "__shared__, say --lds=BYTES"));
  const Outcome with = launch("shape.hip", "turn", {"--input=4xi32=1 2 3 4", "--lds=16"});
  expect(with, "[0]: 4xi32=4 3 2 1\n");
  EXPECT_THAT(with.err, IsEmpty());
  const std::vector<std::string> arguments = {"--input=&2x3xi32", "--input=i32=3"};
  EXPECT_THAT(
      launch("shape.hip", "coordinates", arguments).err,
      HasSubstr(
          "uses ids in 2 dimensions, and the default grid has one (6×1×1). For a work-item for "
          "each element of the result, say --grid=3,2."));
  const Outcome planar =
      launch("shape.hip", "coordinates", {"--input=&2x3xi32", "--input=i32=3", "--grid=3,2"});
  expect(planar, "[0]: 2x3xi32=[[0 1 2][100 101 102]]\n");
  EXPECT_THAT(planar.err, IsEmpty());
  EXPECT_THAT(launch("shape.hip", "add_one", {"--input=2x3xi32=0", "--input=i32=6"}).err,
              IsEmpty());
}

// The same kernels by Clang 22: their metadata forbids partial work-groups, and hal refuses them.
TEST_P(CliLaunch, MetadataThatForbidsPartialWorkGroups) {
  const std::string module = std::string(HALYARD_HAL_TEST_DATA) + "/uniform.hsaco";
  const auto run_it = [&](const std::vector<std::string>& arguments) {
    std::vector<std::string> words = {"run", std::string("--device=") + GetParam(), "--vgpu=gfx900",
                                      "--module=" + module, "--function=uniform"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return spawn(words);
  };
  expect(run_it({"--input=&4xu32", "--grid=100", "--print-limit=2"}),
         "[0]: 4xu32=50 50 ... (2 more)\n");
  const Outcome partial = run_it({"--input=&4xu32", "--grid=100", "--workgroup=64"});
  EXPECT_EQ(partial.exit_code, 1);
  EXPECT_THAT(partial.err, HasSubstr("is given a grid (100×1×1) whose last work-group in x is "
                                     "partial (the work-group is 64×1×1)"));
}

TEST_P(CliLaunch, OneNumberOfANumpyFileIsAValue) {
  const uint32_t count = 3;
  write_bytes(folder_ / "n.npy", *values::npy_header({ElementType::kU32, {}}) +
                                     std::string(reinterpret_cast<const char*>(&count), 4));
  expect(launch("pointers.c", "vadd",
                {"--input=4xf32=1 2 3 4", "--input=4xf32=10", "--input=&4xf32",
                 "--input=@" + (folder_ / "n.npy")}),
         "[2]: 4xf32=11 12 13 0\n");
}

TEST_P(CliLaunch, NullPointers) {
  expect(launch("pointers.c", "is_null", {"--input=null", "--input=&1xi32"}), "[1]: 1xi32=1\n");
  expect(launch("pointers.c", "is_null", {"--input=1xf32", "--input=&1xi32"}), "[1]: 1xi32=0\n");
  const Outcome value = launch("pointers.c", "vadd",
                               {"--input=null", "--input=null", "--input=null", "--input=null"});
  EXPECT_EQ(value.exit_code, 1);
  EXPECT_THAT(value.err, HasSubstr("wants 4 bytes by value, but a null pointer is given"));
}

TEST_P(CliLaunch, StructsWithAddressesOfBuffers) {
  const std::vector<std::string> buffers = {"--buffer=a=4xf32=1 2 3 4", "--buffer=b=&4xf32"};
  const auto copy = [&](const std::string& from, const std::string& to) {
    return launch("pointers.c", "copy",
                  {buffers[0], buffers[1], "--input=" + from, "--input=" + to, "--grid=4"});
  };
  expect(copy("{ptr=%a ptr=%a i64=0 i64=4 i64=1}", "{ptr=%b ptr=%b i64=0 i64=4 i64=1}"),
         "%b: 4xf32=1 2 3 4\n");
  expect(copy("{ptr=null ptr=%a+4 i64=0 1xi64=[3] 1xi64=[1]}",
              "{ptr=%b, ptr=%b, i64=3, i64=3, i64=-1}"),
         "%b: 4xf32=0 4 3 2\n");
  EXPECT_THAT(copy("{ptr=%a ptr=%c i64=0 i64=4 i64=1}", "{ptr=%b ptr=%b i64=0 i64=4 i64=1}").err,
              HasSubstr("The input (%c) names a buffer that does not exist."));
  EXPECT_THAT(copy("{ptr=%a ptr=%a+17 i64=0 i64=4 i64=1}", "{ptr=%b ptr=%b i64=0 i64=4 i64=1}").err,
              HasSubstr("17 bytes past the begin of %a, which has 16 bytes"));
  EXPECT_THAT(copy("{ptr=%a}", "{ptr=%b ptr=%b i64=0 i64=4 i64=1}").err,
              HasSubstr("but a struct of 8 bytes with pointers is given"));
}

TEST_P(CliLaunch, ChecksOfTheVirtualGpu) {
  const Outcome clean =
      launch("pointers.c", "is_null", {"--input=null", "--input=&1xi32", "--check"});
  expect(clean, "[1]: 1xi32=1\n");
  EXPECT_THAT(clean.err, IsEmpty());
  const Outcome race =
      launch("pointers.c", "race",
             {"--input=&128xi32", "--workgroup=128", "--check=lds", "--print-limit=1"});
  EXPECT_EQ(race.exit_code, 1);
  EXPECT_THAT(race.err,
              AllOf(HasSubstr("halyard vgpu: check: "), HasSubstr("but the check found")));
}

// Names among the checks what a run without any does not see.
TEST_P(CliLaunch, RacesInMemory) {
  const auto run = [&](const std::string& function, const std::string& buffer,
                       const std::string& check) {
    return launch(
        "pointers.c", function,
        {"--input=&" + buffer, "--workgroup=128", check, "--print-limit=1", "--schedule=waves"});
  };
  for (const char* const check : {"--check", "--check=races"}) {
    const Outcome race = run("sum", "128xi32", check);
    EXPECT_EQ(race.exit_code, 1);
    EXPECT_THAT(race.err, AllOf(HasSubstr("halyard vgpu: check: race in global memory in kernel"),
                                HasSubstr("wave 0 of the same work-group has written"),
                                HasSubstr(" bytes at [0x"), HasSubstr("but the check found")));
    const Outcome clean = run("reverse", "256xi32", check);
    EXPECT_EQ(clean.exit_code, 0) << clean.err;
    EXPECT_THAT(clean.err, IsEmpty());
  }
  EXPECT_EQ(run("sum", "128xi32", "--check=waits,coherence").exit_code, 0);
}

class CliLaunchOnce : public CliTest {};

// The kernel computes 6 6 5 where 6 5 4 is right, on hardware now and then, and here if one wave
// runs after the other.
TEST_F(CliLaunchOnce, TheRaceInATopKOfIree) {
  const Outcome outcome =
      spawn({"run", "--device=amdgpu", "--vgpu=gfx90a", "--check", "--schedule=waves",
             "--module=" + kData + "/iree/topk.hsaco", "--grid=128",
             "--function=topk_2d_dim1_max_dispatch_0_topk_2x6xf32", "--buffer=out=32xi32=0",
             "--input=2x6xf32=[6 5 4 3 2 1][7 8 9 10 11 12]",
             "--input=2x6xi32=[0 1 2 3 4 5][6 7 8 9 10 11]", "--input=%out", "--input=%out"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("check: race in global memory in kernel topk_2d_dim1_max"),
                    HasSubstr("wave 1, lane 0 writes 16 bytes"), HasSubstr("buffer_store_dwordx4"),
                    HasSubstr("in the 128 bytes at"), Not(HasSubstr("read of a store in flight"))));
}

TEST_F(CliLaunchOnce, AProcessorThatTheVirtualGpuDoesNotHave) {
  const Outcome outcome = spawn({"list", "devices", "--vgpu=gfx1100"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("the virtual GPU is not there yet for that GPU"),
                                 HasSubstr("gfx90a"), Not(HasSubstr("did you mean"))));
  EXPECT_THAT(spawn({"list", "devices", "--vgpu=v710"}).err,
              HasSubstr("The product v710 has the processor gfx1101."));
}

// A runtime that does not know the processor finds no device, and a sentence says since when
// runtimes know it.
TEST_F(CliLaunchOnce, AProcessorThatTheRuntimeDoesNotKnow) {
  const Outcome outcome = spawn({"list", "devices", "--vgpu=mi350x"});
  if (outcome.exit_code == 0) {
    EXPECT_THAT(outcome.out, HasSubstr("gfx950"));
    return;
  }
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("does not know the processor (gfx950)"),
                                 HasSubstr("Releases from 6.4 on know it")));
}

TEST_F(CliLaunchOnce, VgpuExecTakesVgpu) {
  const auto exec = [](const std::vector<std::string>& flags) {
    std::vector<std::string> words = {"vgpu", "exec"};
    words.insert(words.end(), flags.begin(), flags.end());
    words.insert(words.end(), {"--", "sh", "-c", "echo $HALYARD_VGPU_PROFILE"});
    return spawn(words);
  };
  EXPECT_EQ(exec({"--vgpu=gfx906"}).out, "gfx906\n");
  EXPECT_EQ(exec({"--vgpu", "gfx906"}).out, "gfx906\n");
  EXPECT_EQ(exec({"--profile=gfx906"}).out, "gfx906\n");
  EXPECT_EQ(exec({"--vgpu=gfx906", "--profile=gfx900"}).exit_code, 1);
}

TEST_F(CliLaunchOnce, AModuleOfIrees) {
  write_bytes(folder_ / "add.vmfb", std::string("PK\x03\x04", 4) + std::string(26, '\0') +
                                        "module.fb" + std::string(100, '\0'));
  const Outcome outcome = spawn({"objdump", folder_ / "add.vmfb"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("iree-compile --iree-hal-dump-executable-binaries-to=FOLDER"));
}

TEST_F(CliLaunchOnce, CheckNeedsTheVirtualGpu) {
  const Outcome outcome =
      spawn({"run", "--device=amdgpu", "--module=" + kernel("vadd_c_v6"), "--function=vadd",
             "--input=1xf32=0", "--input=1xf32=0", "--input=&1xf32", "--input=u32=1", "--check"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("--check needs the virtual GPU"));
}

}  // namespace
}  // namespace halyard::testing
