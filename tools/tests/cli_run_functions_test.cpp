// halyard run: several functions over named buffers, several devices, arrays behind one another in
// a file and in pipes, and how far a long run is.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "hal/base/process.h"
#include "tools/tests/cli.h"

namespace halyard::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

using Words = std::vector<std::string>;

Words operator+(Words a, const Words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

const Words kBuffers = {"--buffer=x=4xf32=1 2 3 4", "--buffer=y=4xf32=10", "--buffer=sum=&4xf32"};
const Words kAdd = {"--function=vadd", "--input=%x", "--input=%y", "--input=%sum", "--input=i32=4"};
// sum += 2 * x
const Words kScale = {"--function=saxpy", "--input=u32=4", "--input=f32=2",
                      "--input=%x",       "--input=%sum",  "--grid=64"};
const Words kVadd = {"--function=vadd", "--input=4xf32=1 2 3 4", "--input=4xf32=10",
                     "--input=&4xf32", "--input=i32=4"};

class CliRunFunctions : public CliTest, public ::testing::WithParamInterface<const char*> {
 protected:
  static Words words(const Words& more) {
    const Words run = {"run", std::string("--device=") + GetParam(), "--vgpu=gfx900",
                       "--module=" + kernel("vadd_cl_v5"), "--module=" + kernel("saxpy")};
    return run + more;
  }
  static std::string well(const Words& more) {
    const Outcome outcome = spawn(words(more));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    return outcome.out;
  }
  static std::string error(const Words& more) {
    const Outcome outcome = spawn(words(more));
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.out, "");
    return outcome.err;
  }
  // A line of the shell, in which $H is the program.
  Outcome shell(const std::string& line) const {
    return spawn(
        {"-c", "set -o pipefail; H='" HALYARD_PROGRAM "'; cd '" + folder_.path() + "'; " + line},
        {.program = "/bin/bash"});
  }
};

TEST_P(CliRunFunctions, RunInOrderOverTheSameBuffers) {
  EXPECT_EQ(well(kBuffers + kAdd + kScale), "%sum: 4xf32=13 16 19 22\n");
  EXPECT_EQ(well(kBuffers + kScale + kAdd), "%sum: 4xf32=11 12 13 14\n");
  EXPECT_EQ(well(kBuffers + kAdd + kScale + kScale), "%sum: 4xf32=15 20 25 30\n");
}

TEST_P(CliRunFunctions, EachTimeBeginsWithTheBuffersAsGiven) {
  EXPECT_EQ(well(kBuffers + kScale + Words{"--repeat=3", "--warmup=1"}), "%sum: 4xf32=2 4 6 8\n");
}

TEST_P(CliRunFunctions, TheOptionsBehindAFunctionAreItsOwn) {
  // Two elements of sum are added, and then all of y to them.
  const Words two = Words{"--buffer=z=&4xf32"} + kAdd +
                    Words{"--grid=2",   "--function=vadd", "--input=%sum",  "--input=%y",
                          "--input=%z", "--input=i32=4",   "--workgroup=2", "--output=%z:-"};
  EXPECT_EQ(well(kBuffers + two), "%z: 4xf32=21 22 10 10\n");
}

TEST_P(CliRunFunctions, AllNamedBuffersAreResultsIfNoneStartsAsZeros) {
  EXPECT_EQ(well({"--buffer=x=2xf32=1 2", "--buffer=y=2xf32=5", "--function=saxpy", "--input=u32=2",
                  "--input=f32=3", "--input=%x", "--input=%y"}),
            "%x: 2xf32=1 2\n%y: 2xf32=8 11\n");
}

TEST_P(CliRunFunctions, ABufferOfAFunctionsOwnIsNoResult) {
  EXPECT_EQ(well({"--buffer=sum=&4xf32", "--function=vadd", "--input=4xf32=1 2 3 4",
                  "--input=4xf32=1", "--input=%sum", "--input=i32=4"}),
            "%sum: 4xf32=2 3 4 5\n");
}

TEST_P(CliRunFunctions, NamedResultsAreWrittenAndExpected) {
  const std::string path = folder_ / "sum.npy";
  EXPECT_EQ(well(kBuffers + kAdd +
                 Words{"--output=%sum:@" + path, "--expected-output=%sum: 4xf32=11 12 13 14",
                       "--expected-output=%y:4xf32=10"}),
            "%sum: 4xf32=@" + path +
                "\n%sum is as expected (4 elements, atol 1e-06, rtol 1e-05)\n"
                "%y is as expected (4 elements, atol 1e-06, rtol 1e-05)\n");
  EXPECT_THAT(npy_elements<float>("sum.npy"), ElementsAre(11, 12, 13, 14));
  const Outcome outcome =
      spawn(words(kBuffers + kAdd + Words{"--expected-output=4xf32=11 12 13 15"}));
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("The result %sum differs in 1 of 4 elements"));
}

TEST_P(CliRunFunctions, MistakesAreSaid) {
  const std::vector<std::pair<Words, std::string>> cases = {
      {Words{"--function=vadd", "--input=%summ"} + kBuffers,
       "The input (%summ) names a buffer that does not exist. Did you mean \"%sum\"?"},
      {Words{"--function=vadd", "--input=%sum"}, "The buffers: none."},
      {kBuffers + kAdd +
           Words{"--function=saxpy", "--input=%x", "--input=f32=2", "--input=%x", "--input=%sum"},
       "The function saxpy: The kernel's argument [0] wants 4 bytes by value, but a buffer"},
      {Words{"--buffer=x=2xf32=1"} + kBuffers + kAdd, "Two --buffer have the name %x."},
      {Words{"--buffer=2=2xf32=1"} + kAdd, "is not NAME=VALUE"},
      {Words{"--buffer=a"} + kAdd, "is not NAME=VALUE"},
      {Words{"--buffer=a=i32=1"} + kAdd, "a scalar (i32), which is passed by value"},
      {kVadd + kVadd, "Several functions (vadd, vadd) share no buffer"},
      {kBuffers + kAdd + Words{"--grid=4", "--grid=5"},
       "The function vadd has two --grid (4 and 5)"},
      {kBuffers + kAdd + Words{"--output=%other:-"}, "begins with a buffer that does not exist"},
      {kBuffers + kAdd + Words{"--output=-", "--output=-"},
       "more --output than the run has results (1)"},
      {Words{"--buffer=raw=bytes=0x00"} + kBuffers + kAdd, "No function uses the buffer %raw"},
  };
  for (const auto& [words, message] : cases) EXPECT_THAT(error(words), HasSubstr(message));
}

TEST_P(CliRunFunctions, AnArrayIsPutBehindTheOthersOfAFile) {
  const std::string path = folder_ / "all.npy";
  well(kVadd + Words{"--output=@" + path});
  well(kVadd + Words{"--output=+" + path});
  // Two results of one run, which come in the order of the options.
  well({"--buffer=a=&4xf32", "--buffer=b=&1xf32", "--function=saxpy", "--input=u32=1",
        "--input=f32=7", "--input=1xf32=1", "--input=%b", "--grid=64", "--output=%b:+" + path,
        "--output=%a:+" + path});
  const Words four = {"--buffer=p=@" + path, "--buffer=q=+" + path, "--buffer=r=+" + path,
                      "--buffer=s=+" + path};
  const Words add = {"--function=vadd", "--input=%p", "--input=%q", "--input=%s", "--input=i32=4"};
  EXPECT_EQ(well(four + add),
            "%p: 4xf32=11 12 13 14\n%q: 4xf32=11 12 13 14\n%r: 1xf32=7\n%s: 4xf32=22 24 26 28\n");
  EXPECT_THAT(error(four + Words{"--buffer=t=+" + path} + add),
              HasSubstr("all.npy) holds no more than 4 arrays."));
  EXPECT_THAT(error(Words{"--buffer=p=@" + path} + kBuffers + kAdd),
              HasSubstr("all.npy) holds more arrays than are read (1). Write +"));
  EXPECT_THAT(error(Words{"--buffer=p=+" + path} + kBuffers + kAdd),
              HasSubstr("the next array of a file, but no earlier value reads that file"));
}

TEST_P(CliRunFunctions, ArraysGoThroughPipes) {
  const std::string run = std::string("$H run --device=") + GetParam() +
                          " --vgpu=gfx900 --module=" + kernel("saxpy") +
                          " --function=saxpy --grid=64 --input=u32=4 ";
  const Outcome piped = shell(run +
                              "--input=f32=2 --input=4xf32='1 2 3 4' --input=4xf32=0 "
                              "--output='[3]:@-' | " +
                              run + "--input=f32=10 --input=@- --input=4xf32=1 --output='[3]:-'");
  EXPECT_EQ(piped.exit_code, 0);
  EXPECT_EQ(piped.err, "");
  EXPECT_THAT(piped.out, MatchesRegex("\\[3\\][^:]*: 4xf32=21 41 61 81\n"));
  // Bytes have no type but the kernel's.
  const Outcome raw = shell("printf '\\0\\0\\200\\077%.0s' 1 2 3 4 | " + run +
                            "--input=f32=3 --input=@- --input=4xf32=0 --output='[3]:-'");
  EXPECT_EQ(raw.exit_code, 0) << raw.err;
  EXPECT_THAT(raw.out, HasSubstr(": 4xf32=3 3 3 3\n"));
  const Outcome both = shell(run +
                             "--input=f32=2 --input=4xf32=1 --input=4xf32=0 --output=@- "
                             "--output=-");
  EXPECT_EQ(both.exit_code, 1);
  EXPECT_EQ(both.out, "");
  EXPECT_THAT(both.err, HasSubstr("cannot have both results as text"));
  EXPECT_THAT(shell("printf '' | " + run + "--input=f32=2 --input=@- --input=@-").err,
              HasSubstr("Standard input can be read once"));
}

// What is written to standard error, which is a terminal, by a program that is ended by a signal
// when it has written `until`.
std::string on_terminal(const Words& arguments, const std::string& until) {
  int terminal = -1;
  int end = -1;
  if (openpty(&terminal, &end, nullptr, nullptr, nullptr) != 0) return "no terminal";
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  pid_t pid = -1;
  EXPECT_EQ(base::start({.words = Words{HALYARD_PROGRAM} + arguments,
                         .environment = {"TERM=xterm"},
                         .descriptors = {{nothing, STDIN_FILENO},
                                         {nothing, STDOUT_FILENO},
                                         {end, STDERR_FILENO}}},
                        &pid),
            0);
  close(nothing);
  close(end);
  std::string text;
  bool is_asked = false;
  char buffer[4096];
  // EIO when the program has ended.
  for (ssize_t count = 0; (count = read(terminal, buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<size_t>(count));
    if (is_asked || text.find(until) == std::string::npos) continue;
    EXPECT_EQ(kill(pid, SIGTERM), 0);
    is_asked = true;
  }
  close(terminal);
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) << status;
  return text;
}

TEST_P(CliRunFunctions, ATerminalIsToldHowFarALongRunIs) {
  const Words endless = {"run",
                         std::string("--device=") + GetParam(),
                         "--vgpu=gfx900",
                         "--module=" + kernel("busy"),
                         "--function=append",
                         "--input=4xu32=0",
                         "--input=u32=1",
                         "--input=u32=4294967295",
                         "--grid=1",
                         "--repeat=3"};
  const std::string text = on_terminal(endless, "Launch 1 of 3, ");
  EXPECT_THAT(text, HasSubstr("\r\x1b[KLaunch 1 of 3, "));
  EXPECT_TRUE(text.ends_with("\r\x1b[K")) << text;  // the line is gone in the end
  EXPECT_THAT(spawn(endless + Words{"--timeout=2"}).err, Not(HasSubstr("Launch")));
}

INSTANTIATE_TEST_SUITE_P(Drivers, CliRunFunctions, ::testing::Values("amdgpu", "hip"));

class CliRunDevices : public CliTest {};

TEST_F(CliRunDevices, TheRunIsMadeOnEachAndALineBeginsWithTheDevice) {
  const Words run = {"run", "--device=amdgpu:1", "--device=hip:0", "--vgpu=two-gfx90a",
                     "--module=" + kernel("vadd_cl_v5")};
  const Outcome good = spawn(run + kVadd + Words{"--expected-output=4xf32=11 12 13 14"});
  EXPECT_EQ(good.exit_code, 0) << good.err;
  EXPECT_EQ(good.out,
            "amdgpu:1 [2] out: 4xf32=11 12 13 14\n"
            "amdgpu:1 [2] out is as expected (4 elements, atol 1e-06, rtol 1e-05)\n"
            "hip:0 [2] out: 4xf32=11 12 13 14\n"
            "hip:0 [2] out is as expected (4 elements, atol 1e-06, rtol 1e-05)\n");
  const Outcome bad = spawn(run + kVadd + Words{"--expected-output=4xf32=0"});
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_THAT(bad.err, AllOf(HasSubstr("The result amdgpu:1 [2] out differs"),
                             HasSubstr("The result hip:0 [2] out differs")));
  const Outcome file = spawn(run + kVadd + Words{"--output=@" + (folder_ / "a.npy")});
  EXPECT_EQ(file.exit_code, 1);
  EXPECT_THAT(file.err, HasSubstr("is one file, and there are 2 devices"));
}

}  // namespace
}  // namespace halyard::testing
