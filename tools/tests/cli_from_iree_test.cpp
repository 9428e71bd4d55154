// docs/from-iree.md: each of its commands is run, and prints what the page says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "tools/tests/cli.h"

namespace halyard::testing {
namespace {

namespace fs = std::filesystem;

struct Example {
  size_t line = 0;
  std::string commands;
  std::string output;  // … is any text; empty: anything
};

// The page's blocks "sh", each with the block "text" behind it.
std::vector<Example> read_examples() {
  std::istringstream page(read_bytes(HALYARD_FROM_IREE_PAGE));
  std::vector<Example> examples;
  std::string* block = nullptr;
  size_t number = 0;
  for (std::string line; std::getline(page, line);) {
    ++number;
    if (line == "```sh") {
      block = &examples.emplace_back(Example{number, "", ""}).commands;
    } else if (line == "```text" && !examples.empty()) {
      block = &examples.back().output;
    } else if (line.starts_with("```")) {
      block = nullptr;
    } else if (block != nullptr) {
      *block += line + "\n";
    }
  }
  return examples;
}

// Whether `text` is `pattern`, in which … stands for any text.
bool fits(const std::string& text, const std::string& pattern) {
  const std::string any = "…";
  size_t at = 0;
  size_t begin = 0;
  for (bool first = true;; first = false) {
    const size_t end = pattern.find(any, begin);
    const bool is_last = end == std::string::npos;
    const std::string part = pattern.substr(begin, is_last ? end : end - begin);
    if (first && !text.starts_with(part)) return false;
    if (is_last) return text.size() >= at + part.size() && text.ends_with(part);
    const size_t found = text.find(part, at);
    if (found == std::string::npos) return false;
    at = found + part.size();
    begin = end + any.size();
  }
}

TEST(Fits, AnyTextStandsBetweenTheParts) {
  EXPECT_TRUE(fits("abc", "abc"));
  EXPECT_TRUE(fits("a\nb\nc\n", "a\n…c\n"));
  EXPECT_FALSE(fits("abc", "ab"));
  EXPECT_FALSE(fits("abc", "b…"));
  EXPECT_FALSE(fits("abc", "a…b"));
  EXPECT_FALSE(fits("ab", "ab…b"));
}

// What IREE's two pages tell a reader to type: commands, flags, variables, CMake options, targets.
TEST(FromIreePage, HasWhatTheTwoPagesHave) {
  const std::string page = read_bytes(HALYARD_FROM_IREE_PAGE);
  for (const char* const words :
       {// The page on the amdgpu driver.
        "-DIREE_BUILD_COMPILER=ON", "-DIREE_TARGET_BACKEND_ROCM=ON", "-DIREE_HAL_DRIVER_AMDGPU=ON",
        "-DIREE_HAL_AMDGPU_DEVICE_LIBRARY_TARGETS=gfx1100", "-DIREE_ROCM_TEST_TARGET_CHIP=gfx1100",
        "iree-bazel-test --//build_tools/bazel:rocm_test_target=gfx942",
        "iree-run-module --device=amdgpu`", "iree-run-module --device=amdgpu:0",
        "iree-run-module --device=amdgpu://GPU-0e12865a3bf5b7ab`",
        "iree-run-module --device=amdgpu://GPU-0e12865a3bf5b7ab,GPU-89e8bdf59a10cf6d",
        "ROCR_VISIBLE_DEVICES=2,3 iree-run-module --device=amdgpu",
        "iree-run-module --device=amdgpu://0,1 --device=amdgpu://2,3",
        "iree-compile --iree-hal-target-device=amdgpu",
        "--amdgpu_libhsa_search_path=", "IREE_HAL_AMDGPU_LIBHSA_PATH=", "libhsa-runtime64.so",
        "iree_hal_drivers_amdgpu_device_binaries",
        // The page on ROCm.
        "rocminfo", "rocm-smi", "amd-smi", "hipInfo.exe", "iree-base-compiler", "iree-base-runtime",
        "-DIREE_HAL_DRIVER_HIP=ON", "iree-run-module --list_drivers", "--list_devices",
        "iree-run-module --dump_devices", "gpu-arch-name: \\K.*",
        "rocm_agent_enumerator | sed -n '2 p'",
        "--iree-hip-target=", "--iree-hip-bc-dir=", "--iree-hip-target=mi300x", "`gfx942`",
        "`cdna3`", "amdgpu-arch", "--iree-rocm-target=", "--iree-rocm-bc-dir=", "libamdhip64.so",
        "hipLaunchHostFunc", "--iree-hal-dump-executable-binaries-to=", "--compile-to=hal",
        "--module=mobilenet_rocm.vmfb", "--function=torch-jit-export",
        "--input=\"1x3x224x224xf32=0\""}) {
    EXPECT_THAT(page, ::testing::HasSubstr(words));
  }
}

class FromIree : public CliTest {
 protected:
  // A clone of the project, into which commands may write.
  void SetUp() override {
    if (!fs::exists("/usr/bin/clang-22")) GTEST_SKIP() << "Skipped: clang-22 is not installed.";
    if (!fs::exists("/usr/lib/x86_64-linux-gnu/amdgcn/bitcode/ocml.bc"))
      GTEST_SKIP() << "Skipped: rocm-device-libs is not installed.";
    for (const auto& entry : fs::directory_iterator(HALYARD_SOURCE)) {
      if (entry.path().filename() == ".git") continue;
      fs::create_symlink(entry.path(), folder_ / entry.path().filename().string());
    }
  }
};

TEST_F(FromIree, EachCommandOfThePageDoesWhatItSays) {
  const std::string programs = fs::path(HALYARD_PROGRAM).parent_path();
  const std::vector<Example> examples = read_examples();
  ASSERT_GE(examples.size(), 12U);
  for (const Example& example : examples) {
    SCOPED_TRACE("line " + std::to_string(example.line) + ":\n" + example.commands);
    const Outcome outcome =
        spawn({"-c", "set -euo pipefail; cd \"$1\"; PATH=$2:$PATH\n" + example.commands, "bash",
               folder_.path(), programs},
              {.program = "/bin/bash", .environment = {{"XDG_CACHE_HOME", folder_ / "cache"}}});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    if (example.output.empty()) continue;
    EXPECT_TRUE(fits(outcome.out, example.output)) << outcome.out << "is not\n" << example.output;
  }
}

}  // namespace
}  // namespace halyard::testing
