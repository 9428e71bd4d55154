// halyard run: several launches, their statistics, and runs that end early.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "hal/base/process.h"
#include "tools/tests/cli.h"

namespace halyard::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CliRunRepeat : public CliTest, public ::testing::WithParamInterface<const char*> {
 protected:
  std::vector<std::string> words(const std::vector<std::string>& more) const {
    std::vector<std::string> words = {"run", std::string("--device=") + GetParam(), "--vgpu=gfx900",
                                      "--module=" + kernel("busy")};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  // A kernel that runs for minutes, and the file that its result would go to.
  std::vector<std::string> endless(const std::vector<std::string>& more) const {
    std::vector<std::string> all = {"--function=append",
                                    "--input=4xu32=0",
                                    "--input=u32=1",
                                    "--input=u32=4294967295",
                                    "--grid=1",
                                    "--workgroup=1",
                                    "--output=@" + (folder_ / "out.npy")};
    all.insert(all.end(), more.begin(), more.end());
    return words(all);
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }
};

// Each launch adds an entry to the log that the next one must not find.
TEST_P(CliRunRepeat, EachLaunchBeginsWithTheInputs) {
  const Outcome outcome =
      spawn(words({"--function=append", "--input=4xu32=0", "--input=u32=7", "--input=u32=1",
                   "--grid=1", "--warmup=2", "--repeat=5", "--print-statistics"}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "[0]: 4xu32=1 7 0 0\n");
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("launches: 5, and 2 before them"),
                                 ContainsRegex("least [0-9.]+ [um]?s, median [0-9.]+ [um]?s, mean "
                                               "[0-9.]+ [um]?s, most [0-9.]+ [um]?s"),
                                 HasSubstr("buffers: 1, with 16 bytes")));
}

TEST_P(CliRunRepeat, ARunThatTakesTooLongIsAbandoned) {
  const Outcome outcome = spawn(endless({"--timeout=1"}));
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("halyard: error: The kernel \"append\" has not finished "
                                     "within 1 s (--timeout)"));
  EXPECT_THAT(files(), IsEmpty());
}

TEST_P(CliRunRepeat, CtrlCEndsARunAndLeavesNoFile) {
  for (const int number : {SIGINT, SIGTERM}) {
    std::vector<std::string> texts = endless({});
    texts.insert(texts.begin(), HALYARD_PROGRAM);
    pid_t pid = 0;
    ASSERT_EQ(base::start({.words = texts}, &pid), 0);
    // The unfinished file is there when everything before the launch has been done.
    int status = 0;
    while (files().empty() && waitpid(pid, &status, WNOHANG) == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_EQ(files().size(), 1U);
    ASSERT_EQ(kill(pid, number), 0);
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_TRUE(WIFSIGNALED(status)) << status;
    EXPECT_EQ(WTERMSIG(status), number);
    EXPECT_THAT(files(), IsEmpty());
  }
}

TEST_P(CliRunRepeat, NumbersThatMakeNoSenseAreRefused) {
  for (const char* option : {"--repeat=0", "--repeat=-1", "--timeout=0", "--warmup=x"}) {
    const Outcome outcome = spawn(words({"--function=append", option}));
    EXPECT_EQ(outcome.exit_code, 1) << option;
    EXPECT_THAT(outcome.err, HasSubstr("halyard: error:")) << option;
  }
}

INSTANTIATE_TEST_SUITE_P(Drivers, CliRunRepeat, ::testing::Values("amdgpu", "hip"));

}  // namespace
}  // namespace halyard::testing
