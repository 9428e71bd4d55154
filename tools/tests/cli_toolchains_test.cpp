// The table of toolchains in README.md: each row's command, as it stands there, makes a file that
// both drivers run, on gfx900 and on gfx90a.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "hal/target_map.h"
#include "tools/tests/cli.h"

namespace halyard::testing {
namespace {

using ::testing::ElementsAre;

struct RowOfReadme {
  std::string language;
  std::vector<std::string> words;  // of the command, without "halyard"
};

// The rows with a `halyard compile` command: "| C | … | `halyard compile …` |".
std::vector<RowOfReadme> rows_of_readme() {
  std::vector<RowOfReadme> rows;
  std::istringstream readme(read_bytes(std::string(HALYARD_SOURCE) + "/README.md"));
  for (std::string line; std::getline(readme, line);) {
    constexpr std::string_view kBegin = "`halyard compile ";
    const size_t begin = line.find(kBegin);
    if (!line.starts_with("| ") || begin == std::string::npos) continue;
    RowOfReadme row;
    row.language = line.substr(2, line.find(" |", 2) - 2);
    std::istringstream words(line.substr(begin + 1, line.find('`', begin + 1) - begin - 1));
    for (std::string word; words >> word;) row.words.push_back(word);
    row.words.erase(row.words.begin());
    rows.push_back(std::move(row));
  }
  return rows;
}

class Toolchains : public CliTest {
 protected:
  void expect_saxpy(const std::string& language) {
    std::vector<std::string> command;
    for (const RowOfReadme& row : rows_of_readme()) {
      if (row.language == language) command = row.words;
    }
    ASSERT_FALSE(command.empty()) << "README.md has no row for it.";
    // From the folder of the sources, to this test's own folder.
    for (size_t i = 0; i < command.size(); ++i) {
      if (command[i].starts_with("examples/")) {
        command[i] = std::string(HALYARD_SOURCE) + "/" + command[i];
      }
      if (i > 0 && command[i - 1] == "-o") command[i] = folder_ / "module";
    }
    // Where cli_rust_test.cpp keeps Rust's libraries.
    const Outcome compiled =
        spawn(command, {.environment = {{"HALYARD_CACHE_DIR", HALYARD_RUST_CACHE}}});
    const size_t missing = compiled.err.find("Install the Debian package");
    if (missing != std::string::npos) GTEST_SKIP() << "Skipped: " << compiled.err.substr(missing);
    ASSERT_EQ(compiled.exit_code, 0) << compiled.err;
    EXPECT_EQ(compiled.out + compiled.err, "");
    for (const char* driver : {"amdgpu", "hip"}) {
      for (const char* profile : {"gfx900", "gfx90a"}) {
        SCOPED_TRACE(std::string(driver) + " " + profile);
        // Two work-groups, of which the second is not full.
        const Outcome outcome =
            spawn({"run", std::string("--device=") + driver, std::string("--vgpu=") + profile,
                   "--module=" + (folder_ / "module"), "--function=saxpy", "--input=100xf32=3",
                   "--input=100xf32=10", "--input=f32=2", "--input=u32=99", "--grid=128",
                   "--workgroup=64", "--output=[1]:-", "--expected-output=[1]: " + expected()});
        EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
      }
    }
  }

  // The last element is beyond the count.
  static std::string expected() {
    std::string text = "100xf32=";
    for (int i = 0; i < 99; ++i) text += "16 ";
    return text + "10";
  }
};

TEST_F(Toolchains, C) {
  expect_saxpy("C");
}
TEST_F(Toolchains, OpenClC) {
  expect_saxpy("OpenCL C");
}
TEST_F(Toolchains, Hip) {
  expect_saxpy("HIP");
}
TEST_F(Toolchains, LlvmIr) {
  expect_saxpy("LLVM IR");
}
TEST_F(Toolchains, Assembly) {
  expect_saxpy("AMDGCN assembly");
}
TEST_F(Toolchains, Mlir) {
  expect_saxpy("MLIR");
}
TEST_F(Toolchains, Rust) {
  expect_saxpy("Rust");
}

// Every target that LLVM 22 compiles for: those with a wave size in the target map.
TEST_F(Toolchains, AssemblyIsForEveryTarget) {
  std::string targets;
  for (const ProcessorInfo& processor : all_processors()) {
    if (processor.wavefront_size == 0) continue;
    targets += (targets.empty() ? "" : ",") + std::string(processor.name);
  }
  const Outcome outcome =
      spawn({"compile", std::string(HALYARD_SOURCE) + "/examples/kernels/saxpy.s",
             "--target=" + targets, "-o", folder_ / "module"});
  const size_t missing = outcome.err.find("Install the Debian package");
  if (missing != std::string::npos) GTEST_SKIP() << "Skipped: " << outcome.err.substr(missing);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
}

// hipcc 5.2.3 knows none of these; clang does, with hipcc's headers.
TEST_F(Toolchains, HipIsForNewerTargetsToo) {
  write_bytes(folder_ / "newer.hip",
              "#include <hip/hip_runtime.h>\n"
              "#include <hip/hip_fp16.h>\n"
              "__global__ void newer(float *p, __half *h, int *lanes) {\n"
              "  extern __shared__ float shared[];\n"
              "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
              "  shared[threadIdx.x] = p[i];\n"
              "  __syncthreads();\n"
              "  p[i] = shared[threadIdx.x ^ 1] + __shfl_xor(p[i], 1);\n"
              "  h[i] = hrcp(h[i]);\n"
              "  p[i] += expf(p[i]) + sinf(p[i]);\n"
              "  atomicAdd(lanes, warpSize);\n"
              "}\n");
  std::filesystem::create_directory(folder_ / "tmp");
  const Outcome newer = spawn({"compile", folder_ / "newer.hip", "--target=gfx942,gfx1100,gfx1201",
                               "-o", folder_ / "module"},
                              {.environment = {{"TMPDIR", folder_ / "tmp"}}});
  const size_t missing = newer.err.find("Install the Debian package");
  if (missing != std::string::npos) GTEST_SKIP() << "Skipped: " << newer.err.substr(missing);
  EXPECT_EQ(newer.exit_code, 0) << newer.err;
  EXPECT_EQ(newer.err, "");
  // clang leaves folders.
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "tmp"));
  // What clang makes of it runs as what hipcc makes.
  ASSERT_EQ(spawn({"compile", std::string(HALYARD_SOURCE) + "/examples/kernels/saxpy.hip",
                   "--target=gfx9-generic", "-o", folder_ / "module"})
                .exit_code,
            0);
  for (const char* const profile : {"gfx900", "gfx906"}) {
    const Outcome outcome =
        spawn({"run", "--device=amdgpu", std::string("--vgpu=") + profile,
               "--module=" + (folder_ / "module"), "--function=saxpy", "--input=100xf32=3",
               "--input=100xf32=10", "--input=f32=2", "--input=u32=99", "--grid=128",
               "--workgroup=64", "--output=[1]:-", "--expected-output=[1]: " + expected()});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  }
}

TEST_F(Toolchains, EveryRowHasATest) {
  std::vector<std::string> languages;
  for (const RowOfReadme& row : rows_of_readme()) languages.push_back(row.language);
  EXPECT_THAT(languages,
              ElementsAre("C", "OpenCL C", "HIP", "LLVM IR", "AMDGCN assembly", "MLIR", "Rust"));
}

}  // namespace
}  // namespace halyard::testing
