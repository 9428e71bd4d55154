// What hipcc makes of a HIP program, file for file, is a module: its kernels run straight out of it
// by `halyard run --module=`. Needs hipcc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/tests/cli.h"

namespace halyard::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class HipProgram : public CliTest {
 protected:
  // Compiles both files once for all of the tests: objects, and the program of them.
  static void SetUpTestSuite() {
    built = new TemporaryFolder;
    for (const char* file : {"program", "offset"}) {
      const std::string source =
          std::string(file) == "program" ? HALYARD_HIP_PROGRAM : HALYARD_HIP_OFFSET;
      hipcc({"-c", source, "-o", *built / (std::string(file) + ".o")});
    }
    hipcc({object("program"), object("offset"), "-o", program()});
  }
  static void TearDownTestSuite() {
    delete built;
    built = nullptr;
  }
  void SetUp() override { ASSERT_TRUE(std::filesystem::exists(program())); }

  static void hipcc(const std::vector<std::string>& arguments) {
    std::vector<std::string> words = {"-O2", "--offload-arch=gfx900", "--offload-arch=gfx90a"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    SpawnOptions options;
    options.program = HALYARD_HIPCC;
    const Outcome outcome = spawn(words, options);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  }
  static std::string object(const std::string& name) { return *built / (name + ".o"); }
  static std::string program() { return *built / "program"; }

  // On both drivers and on both of the GPUs that it is compiled for.
  static void expect(const std::string& module, const std::vector<std::string>& arguments,
                     const std::string& result) {
    for (const char* driver : {"amdgpu", "hip"}) {
      for (const char* profile : {"gfx900", "gfx90a"}) {
        SCOPED_TRACE(std::string(driver) + " " + profile + " " + module);
        std::vector<std::string> words = {"run", std::string("--device=") + driver,
                                          std::string("--vgpu=") + profile, "--module=" + module};
        words.insert(words.end(), arguments.begin(), arguments.end());
        const Outcome outcome = spawn(words);
        EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
        EXPECT_EQ(outcome.out, result);
      }
    }
  }

  static TemporaryFolder* built;
};

TemporaryFolder* HipProgram::built = nullptr;

const std::vector<std::string> kApplyFloat = {"--function=_Z5applyIfEvPKT_PS0_4Linej",
                                              "--input=4xf32=1 2 3 4",
                                              "--input=&4xf32",
                                              "--input={f32=2 f32=0.5}",
                                              "--input=u32=4",
                                              "--grid=64",
                                              "--workgroup=64"};
const std::string kApplied = "[1]: 4xf32=2.5 4.5 6.5 8.5\n";
const std::vector<std::string> kOffset = {
    "--function=offset", "--input=3xi32=1 2 3", "--input=&3xi32", "--input=i32=-10",
    "--input=i32=3",     "--grid=64",           "--workgroup=64"};
const std::string kMoved = "[1]: 3xi32=-9 -8 -7\n";

TEST_F(HipProgram, TemplatesAndStructsByValue) {
  expect(program(), kApplyFloat, kApplied);
  expect(program(),
         {"--function=_Z5applyIiEvPKT_PS0_4Linej", "--input=4xi32=1 2 3 4", "--input=&4xi32",
          "--input={f32=10 f32=-1}", "--input=u32=4", "--grid=64", "--workgroup=64"},
         "[1]: 4xi32=9 19 29 39\n");
}

TEST_F(HipProgram, LdsAndBarriers) {
  std::vector<int32_t> values(128);
  int32_t sums[2] = {};
  for (int32_t i = 0; i < 128; ++i) {
    values[static_cast<size_t>(i)] = i * i - 1000;
    sums[i / 64] += i * i - 1000;
  }
  expect(program(),
         {"--function=sum_groups", npy_input("in.npy", values::ElementType::kI32, values),
          "--input=&2xi32", "--grid=128", "--workgroup=64"},
         "[1]: 2xi32=" + std::to_string(sums[0]) + " " + std::to_string(sums[1]) + "\n");
}

// Each file that is linked has a bundle of its own.
TEST_F(HipProgram, KernelsOfTheOtherFile) {
  expect(program(), kOffset, kMoved);
}

TEST_F(HipProgram, AnObjectBeforeItIsLinked) {
  expect(object("program"), kApplyFloat, kApplied);
  expect(object("offset"), kOffset, kMoved);
}

TEST_F(HipProgram, ObjdumpShowsTheSame) {
  const Outcome outcome = spawn({"objdump", program(), "--target=gfx90a"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr(": host program or library, 2 code objects\n"),
                                 HasSubstr("\n    sum_groups\n"),
                                 HasSubstr("\n    _Z5applyIfEvPKT_PS0_4Linej\n"),
                                 HasSubstr("\n    offset\n"), HasSubstr("LDS 256 bytes")));
}

TEST_F(HipProgram, ForAnotherGpuSaysForWhichItIs) {
  const Outcome outcome = spawn(
      {"run", "--device=amdgpu", "--vgpu=gfx906", "--module=" + program(), "--function=offset"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(
      outcome.err,
      AllOf(HasSubstr("The host program or library has no variant for the device (gfx906"),
            HasSubstr("--offload-arch"), HasSubstr("It has 4:\n"),
            HasSubstr("(gfx900, code object version 4): gfx900 code does not run on gfx906"),
            HasSubstr("(gfx90a, code object version 4): gfx90a code does not")));
}

TEST_F(HipProgram, AKernelIsFoundByWhatItsSourceCallsIt) {
  const auto named = [&](const std::string& name) {
    return spawn({"run", "--device=amdgpu", "--vgpu=gfx900", "--module=" + program(),
                  "--function=" + name, "--input=2xf32=1 2", "--input=&2xf32",
                  "--input={f32=2 f32=1}", "--input=u32=2"});
  };
  for (const char* const name :
       {"apply<float>", "void apply<float>(float const*, float*, Line, unsigned int)"}) {
    const Outcome outcome = named(name);
    EXPECT_EQ(outcome.out, "[1]: 2xf32=3 5\n") << outcome.err;
  }
  const Outcome several = named("apply");
  EXPECT_EQ(several.exit_code, 1);
  EXPECT_THAT(several.err, AllOf(HasSubstr("may mean 2 functions"), HasSubstr("apply<int>(")));
  EXPECT_THAT(named("aply<int>").err, HasSubstr("Did you mean \"apply<int>\"?"));
}

}  // namespace
}  // namespace halyard::testing
