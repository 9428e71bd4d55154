// `halyard vgpu exec --check`, `--trace`, `--counts` and `--fidelity`: what is seen of a program's
// kernels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/tests/cli.h"

namespace halyard::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class CliVgpuCheck : public ::testing::Test {
 protected:
  // `halyard run` is the program that is watched.
  static Outcome watch(const std::vector<std::string>& options, const std::string& module,
                       const std::string& function, const std::vector<std::string>& arguments) {
    std::vector<std::string> words = {"vgpu", "exec"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", HALYARD_PROGRAM, "run", "--device=amdgpu",
                               "--module=" + kernel(module), "--function=" + function});
    words.insert(words.end(), arguments.begin(), arguments.end());
    return spawn(words);
  }
};

// vadd of `count` elements over buffers of four.
std::vector<std::string> vadd_of(int count) {
  return {"--input=4xf32=1 2 3 4", "--input=4xf32=10", "--input=&4xf32",
          "--input=i32=" + std::to_string(count), "--grid=" + std::to_string(count)};
}

TEST_F(CliVgpuCheck, AProgramWithoutMistakesEndsAsItDoesWithoutTheCheck) {
  const Outcome outcome = watch({"--check"}, "vadd_c_v6", "vadd", vadd_of(4));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "[2]: 4xf32=11 12 13 14\n");
  EXPECT_EQ(outcome.err, "");
}

TEST_F(CliVgpuCheck, AnAccessPastABufferIsAMemoryFault) {
  // Six elements lie within the page that the runtime gives each buffer: only the check sees it.
  EXPECT_EQ(watch({}, "vadd_c_v6", "vadd", vadd_of(6)).exit_code, 0);
  const Outcome outcome = watch({"--check"}, "vadd_c_v6", "vadd", vadd_of(6));
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("memory access fault in kernel vadd"), HasSubstr("lane 4"),
                    HasSubstr("0 bytes past the end of the 16 bytes at [0x")));
}

TEST_F(CliVgpuCheck, AMistakeWithLdsIsReportedAndMakesTheExitCodeOne) {
  const std::vector<std::string> arguments = {"--workgroup=64", "--input=64xu32=1",
                                              "--input=&64xu32", "--input=lds=256",
                                              "--input=lds=256"};
  EXPECT_EQ(watch({}, "dynamic_lds_cl", "dynamic_lds", arguments).exit_code, 0);
  const Outcome outcome = watch({"--check"}, "dynamic_lds_cl", "dynamic_lds", arguments);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, StartsWith("[1] out: 64xu32="));
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("halyard vgpu: check: access outside LDS in kernel dynamic_lds"),
                    HasSubstr("succeeded, but the check found")));
}

TEST_F(CliVgpuCheck, OneCheckAloneIsChosenByName) {
  const std::vector<std::string> arguments = {"--workgroup=64", "--input=64xu32=1",
                                              "--input=&64xu32", "--input=lds=256",
                                              "--input=lds=256"};
  EXPECT_EQ(watch({"--check=lds"}, "dynamic_lds_cl", "dynamic_lds", arguments).exit_code, 1);
  EXPECT_EQ(
      watch({"--check=waits,coherence"}, "dynamic_lds_cl", "dynamic_lds", arguments).exit_code, 0);
  // The accesses past the buffer are for the check of bounds alone.
  EXPECT_EQ(watch({"--check=coherence"}, "vadd_c_v6", "vadd", vadd_of(6)).exit_code, 0);
}

TEST_F(CliVgpuCheck, ACheckThatDoesNotExistIsRefusedBeforeTheProgramStarts) {
  const Outcome outcome = spawn({"vgpu", "exec", "--check=coherent", "--", "echo", "started"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("no check (coherent)"),
                                 HasSubstr("bounds, lds, waits, atomics, coherence and races")));
}

TEST_F(CliVgpuCheck, TheProgramsOwnFailureStays) {
  const auto exit_code = [](const std::string& script) {
    return spawn({"vgpu", "exec", "--check", "--", "sh", "-c", script}).exit_code;
  };
  EXPECT_EQ(exit_code("exit 7"), 7);
  EXPECT_EQ(exit_code("kill -9 $$"), 128 + 9);
  const Outcome missing = spawn({"vgpu", "exec", "--check", "--", "/nonexistent/program"});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.err, HasSubstr("The program (/nonexistent/program) cannot be run: No such"));
}

class CliVgpuWatch : public CliVgpuCheck {
 protected:
  std::string text_of(const std::string& name) const {
    const auto file = read_file(folder_ / name);
    EXPECT_TRUE(file.ok()) << message_of(file.status());
    return file.ok() ? std::string(reinterpret_cast<const char*>(file->data()), file->size()) : "";
  }
  TemporaryFolder folder_;
};

TEST_F(CliVgpuWatch, CountsNameTheKernelAndItsInstructions) {
  write_bytes(folder_ / "counts", "old\n");
  const Outcome outcome = watch({"--counts", folder_ / "counts"}, "vadd_c_v6", "vadd", vadd_of(4));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(text_of("counts"),
              AllOf(StartsWith("process "), Not(HasSubstr("old")),
                    HasSubstr("kernel vadd on gfx900: 29 instructions, 1 dispatches"),
                    HasSubstr("+0x0000   s_load_dword s0, s[4:5], 0x2c\n")));
}

// Of the kernel and of the runtime's own, for copies; none of theirs adds floats.
TEST_F(CliVgpuWatch, FidelitySaysWhatTheRunWasWorth) {
  write_bytes(folder_ / "worth", "old\n");
  const Outcome outcome = watch({"--fidelity", folder_ / "worth"}, "vadd_c_v6", "vadd", vadd_of(4));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(
      text_of("worth"),
      AllOf(StartsWith("instructions that waves have executed: "),
            HasSubstr("\n  bounded                                     0    0.0 %\n"),
            HasSubstr("\n\nexact\n"), HasSubstr("\n               1  gfx900    v_add_f32\n")));
}

// Of a run in this process, and of several processes, in JSON.
TEST_F(CliVgpuWatch, FidelityOfARunAndOfSeveralProcesses) {
  const std::vector<std::string> vadd = vadd_of(4);
  const std::string file = folder_ / "worth.json";
  const auto adds = [](int count) {
    return "{\"executed\": " + std::to_string(count) +
           ", \"processor\": \"gfx900\", \"instruction\": \"v_add_f32\", \"fidelity\": \"exact\"}";
  };
  std::vector<std::string> run = {"run",
                                  "--device=amdgpu",
                                  "--vgpu",
                                  "--module=" + kernel("vadd_c_v6"),
                                  "--function=vadd",
                                  "--fidelity=" + file};
  run.insert(run.end(), vadd.begin(), vadd.end());
  const Outcome one = spawn(run);
  EXPECT_EQ(one.exit_code, 0) << one.err;
  EXPECT_THAT(text_of("worth.json"), AllOf(StartsWith("{\n  \"instructions\": "),
                                           HasSubstr("\n  \"bounded\": 0,\n"), HasSubstr(adds(1))));

  std::string again = std::string(HALYARD_PROGRAM) +
                      " run --device=amdgpu --vgpu --module=" + kernel("vadd_c_v6") +
                      " --function=vadd";
  for (const std::string& word : vadd) again += " '" + word + "'";
  const Outcome both =
      spawn({"vgpu", "exec", "--fidelity=" + file, "--", "sh", "-c", again + "; " + again});
  EXPECT_EQ(both.exit_code, 0) << both.err;
  EXPECT_THAT(text_of("worth.json"),
              AllOf(StartsWith("{\n  \"instructions\": "), HasSubstr(adds(2))));
}

TEST_F(CliVgpuWatch, FidelityThatCannotBeToldIsAnError) {
  const Outcome no_gpu = spawn({"run", "--device=amdgpu", "--module=" + kernel("vadd_c_v6"),
                                "--function=vadd", "--fidelity=" + (folder_ / "worth")});
  EXPECT_EQ(no_gpu.exit_code, 1);
  EXPECT_THAT(no_gpu.err, HasSubstr("--fidelity needs the virtual GPU, which knows how near"));
  const Outcome same = spawn({"vgpu", "exec", "--fidelity=" + (folder_ / "one"),
                              "--counts=" + (folder_ / "one"), "--", "true"});
  EXPECT_EQ(same.exit_code, 1);
  EXPECT_THAT(same.err, HasSubstr("--counts and --fidelity name one file ("));
  // The file of the environment is not emptied, and keeps what is in it.
  write_bytes(folder_ / "mine", "my words\n");
  SpawnOptions options;
  options.environment["HALYARD_VGPU_FIDELITY"] = folder_ / "mine";
  std::vector<std::string> run = {"run", "--device=amdgpu", "--vgpu",
                                  "--module=" + kernel("vadd_c_v6"), "--function=vadd"};
  const std::vector<std::string> vadd = vadd_of(4);
  run.insert(run.end(), vadd.begin(), vadd.end());
  const Outcome kept = spawn(run, options);
  EXPECT_THAT(kept.err, HasSubstr("has something else in it than a report of instructions"));
  EXPECT_EQ(text_of("mine"), "my words\n");
}

TEST_F(CliVgpuWatch, TheTraceShowsTheSums) {
  const Outcome outcome = watch({"--trace", folder_ / "trace"}, "vadd_c_v6", "vadd", vadd_of(4));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  // 11, 12, 13 and 14 as bits.
  EXPECT_THAT(text_of("trace"), AllOf(HasSubstr("kernel vadd on gfx900, grid 4x1x1"),
                                      HasSubstr("v2=0x41300000+0x100000*lane\n")));
}

TEST_F(CliVgpuWatch, AReportThatIsLostMakesTheExitCodeOne) {
  for (const char* const option :
       {"--counts=/dev/full", "--trace=/dev/full", "--fidelity=/dev/full"}) {
    const Outcome outcome = watch({option}, "vadd_c_v6", "vadd", vadd_of(4));
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.out, "[2]: 4xf32=11 12 13 14\n");
    EXPECT_THAT(outcome.err,
                AllOf(HasSubstr("halyard vgpu: The file (/dev/full) cannot be written"),
                      HasSubstr("No space left"), HasSubstr("a report about it is incomplete")));
  }
  // The program's own failure stays.
  EXPECT_EQ(spawn({"vgpu", "exec", "--counts=/dev/full", "--", "sh", "-c", "exit 7"}).exit_code, 7);
  EXPECT_EQ(spawn({"vgpu", "exec", "--counts=/dev/full", "--", "true"}).exit_code, 0);
}

TEST_F(CliVgpuWatch, AReportThatTheEnvironmentAsksForIsCheckedBeforeTheRun) {
  SpawnOptions options;
  options.environment["HALYARD_VGPU_TRACE"] = "/nonexistent/trace";
  for (const std::string device : {"amdgpu", "hip"}) {
    const Outcome outcome =
        spawn({"run", "--device=" + device, "--vgpu", "--module=" + kernel("vadd_c_v6"),
               "--function=vadd", "--input=4xf32=0", "--input=4xf32=0", "--input=&4xf32",
               "--input=i32=4"},
              options);
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.err,
                AllOf(StartsWith("halyard: error: The file (/nonexistent/trace) cannot"),
                      HasSubstr("HALYARD_VGPU_TRACE names it"), Not(HasSubstr("AMD GPU"))));
  }
}

TEST_F(CliVgpuWatch, AFileThatCannotBeWrittenStopsTheProgramBeforeItStarts) {
  const Outcome outcome =
      spawn({"vgpu", "exec", "--trace=/nonexistent/trace", "--", "echo", "started"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("(/nonexistent/trace) of --trace cannot be written: No such"));
}

TEST(CliVgpuDisasm, ShowsOffsetsCodeKindAndText) {
  const Outcome outcome = spawn({"vgpu", "disasm", kernel("vadd_c_v6"), "--target=gfx900"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(StartsWith("vadd for gfx900: 29 instructions, 152 bytes; 8 VGPRs"),
                    HasSubstr("  +0x0000  c0020002 0000002c  scalar memory  s_load_dword s0, "),
                    HasSubstr("  +0x0094  bf810000           other          s_endpgm\n")));
  EXPECT_THAT(outcome.out, Not(HasSubstr("not executed")));
}

TEST(CliVgpuDisasm, ChoosesKernelsAndTargets) {
  const std::string module = kernel("entry_points");
  // All that the engine knows of a file for many GPUs.
  const std::string all = spawn({"vgpu", "disasm", module}).out;
  EXPECT_THAT(all, AllOf(HasSubstr("entry_0_3 for gfx90a"), HasSubstr("entry_1_7 for gfx9-generic"),
                         Not(HasSubstr("gfx11"))));
  const Outcome one = spawn({"vgpu", "disasm", module, "--function=entry_0_3", "--target=gfx90a"});
  EXPECT_EQ(one.exit_code, 0) << one.err;
  EXPECT_THAT(one.out, AllOf(StartsWith("entry_0_3 for gfx90a"), Not(HasSubstr("entry_1_7"))));
  const Outcome target = spawn({"vgpu", "disasm", module, "--target=gfx803"});
  EXPECT_EQ(target.exit_code, 1);
  EXPECT_THAT(target.err, AllOf(HasSubstr("has no code for the target (gfx803). It has "),
                                HasSubstr("gfx90a")));
  const Outcome name = spawn({"vgpu", "disasm", module, "--function=nothing"});
  EXPECT_EQ(name.exit_code, 1);
  EXPECT_THAT(name.err, HasSubstr("nothing"));
}

TEST(CliVgpuDisasm, AGenericTargetsCodeIsReadAsAMembers) {
  EXPECT_THAT(spawn({"vgpu", "disasm", kernel("vadd_c_v6"), "--target=gfx9-generic"}).out,
              StartsWith("vadd for gfx9-generic"));
}

TEST(CliVgpuDisasm, AProcessorThatTheEngineDoesNotKnowIsRefused) {
  const Outcome outcome = spawn({"vgpu", "disasm", kernel("vadd_c_v6"), "--target=gfx11-generic"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("gfx11-generic"), HasSubstr("gfx90a")));
  EXPECT_THAT(outcome.out, IsEmpty());
}

}  // namespace
}  // namespace halyard::testing
