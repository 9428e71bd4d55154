// halyard mlir-run: what it compares, and what it says when something is wrong. That the examples
// run on every device is bindings/mlir/tests' subject.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "toolchain/device_libraries.h"
#include "toolchain/tools.h"
#include "tools/tests/cli.h"

namespace halyard::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using toolchain::Tool;

// One work-item stores 42 to memory that the host prints. `expectation` is a line of @main,
// `more` another function.
std::string store_42(const std::string& expectation, const std::string& more = "") {
  return R"(func.func private @printMemrefI32(memref<*xi32>) attributes {llvm.emit_c_interface}
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = arith.constant 42 : i32
  %data = memref.alloc() : memref<1xi32>
  %u = memref.cast %data : memref<1xi32> to memref<*xi32>
  gpu.host_register %u : memref<*xi32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    memref.store %x, %data[%bx] : memref<1xi32>
    gpu.terminator
  }
  )" + expectation +
         R"(
  call @printMemrefI32(%u) : (memref<*xi32>) -> ()
  return
}
)" + more;
}

// A function @reference that prints that number.
std::string reference(int number) {
  return R"(func.func @reference() {
  %c0 = arith.constant 0 : index
  %x = arith.constant )" +
         std::to_string(number) + R"( : i32
  %data = memref.alloc() : memref<1xi32>
  memref.store %x, %data[%c0] : memref<1xi32>
  %u = memref.cast %data : memref<1xi32> to memref<*xi32>
  call @printMemrefI32(%u) : (memref<*xi32>) -> ()
  return
}
)";
}

class CliMlirRun : public CliTest {
 protected:
  void SetUp() override {
    if (HALYARD_SANITIZED) {
      GTEST_SKIP() << "Skipped: mlir-runner cannot load a library that is built with sanitizers.";
    }
    for (const Tool tool : {Tool::kMlirOpt, Tool::kMlirRunner, Tool::kLld}) {
      const auto found = find_tool(tool, toolchain::SearchContext::of_process());
      if (!found.ok()) GTEST_SKIP() << "Skipped: " << message_of(found.status());
    }
    const auto libraries =
        toolchain::find_device_libraries("", toolchain::SearchContext::of_process());
    if (!libraries.ok() || libraries->empty()) {
      GTEST_SKIP() << "Skipped: rocm-device-libs is not installed.";
    }
  }

  std::string source(const std::string& text) const {
    write_bytes(folder_ / "program.mlir", text);
    return folder_ / "program.mlir";
  }
  static Outcome mlir_run(const std::string& file, const std::vector<std::string>& more = {},
                          const SpawnOptions& options = {}) {
    std::vector<std::string> words = {"mlir-run", file, "--device=amdgpu", "--vgpu=gfx900"};
    words.insert(words.end(), more.begin(), more.end());
    return spawn(words, options);
  }
};

TEST_F(CliMlirRun, TheOutputIsComparedWithTheCommentsOfTheFile) {
  const Outcome good = mlir_run(source(store_42("// EXPECT: [42]")));
  EXPECT_EQ(good.exit_code, 0) << good.err;
  EXPECT_THAT(good.out, AllOf(HasSubstr("[42]\n"),
                              HasSubstr("The output on gfx900 is as the file expects (1 texts).")));
  EXPECT_EQ(good.err, "");
  const Outcome bad = mlir_run(source(store_42("// EXPECT: [43]")));
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_THAT(bad.out, HasSubstr("[42]\n"));
  EXPECT_THAT(bad.err, HasSubstr("does not print the text of its EXPECT comment ([43])"));
  EXPECT_EQ(mlir_run(source(store_42("// EXPECT: [43]")), {"--no-compare"}).exit_code, 0);
}

TEST_F(CliMlirRun, FileCheckComparesTheCommentsThatAreItsOwn) {
  const auto found = find_tool(Tool::kFileCheck, toolchain::SearchContext::of_process());
  if (!found.ok()) GTEST_SKIP() << "Skipped: " << message_of(found.status());
  const std::string file = source(store_42("// CHECK: rank = 1\n  // CHECK-NEXT: [42]"));
  const Outcome good = mlir_run(file);
  EXPECT_EQ(good.exit_code, 0) << good.err;
  EXPECT_THAT(good.out,
              HasSubstr("The output on gfx900 is as the CHECK comments of the file say (2)."));
  EXPECT_EQ(good.err, "");
  const Outcome without =
      mlir_run(file, {}, {.environment = {{"HALYARD_FILECHECK", "/nonexistent"}}});
  EXPECT_EQ(without.exit_code, 0) << without.err;
  EXPECT_THAT(without.err, AllOf(HasSubstr("halyard: note: The output was not compared with the "
                                           "CHECK comments: HALYARD_FILECHECK names no program"),
                                 Not(HasSubstr("Nothing was compared"))));
  const Outcome bad = mlir_run(source(store_42("// CHECK: [43]")));
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_THAT(bad.err, AllOf(HasSubstr("CHECK: expected string not found in input"),
                             HasSubstr("The output is not as the CHECK comments of the file (")));
  EXPECT_EQ(mlir_run(source(store_42("// CHECK: [43]")), {"--no-compare"}).exit_code, 0);
}

TEST_F(CliMlirRun, KeptProgramsDoNotReplaceTheProgram) {
  const std::string text = store_42("// EXPECT: [42]");
  write_bytes(folder_ / "gpu.mlir", text);
  const Outcome outcome = mlir_run(folder_ / "gpu.mlir", {"--save-temps=" + folder_.path()});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("is a file that the command reads ("));
  EXPECT_EQ(read_bytes(folder_ / "gpu.mlir"), text);
}

TEST_F(CliMlirRun, TheOutputIsComparedWithAReferenceOnTheCpu) {
  const Outcome good = mlir_run(source(store_42("", reference(42))));
  EXPECT_EQ(good.exit_code, 0) << good.err;
  EXPECT_THAT(good.out, HasSubstr("The results on gfx900 are those of the CPU (1 numbers"));
  const Outcome bad = mlir_run(source(store_42("", reference(44))));
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_THAT(bad.err, HasSubstr("Number 1 of 1 is 42 on the GPU and 44 on the CPU"));
  EXPECT_EQ(mlir_run(source(store_42("", reference(44))), {"--atol=2"}).exit_code, 0);
}

TEST_F(CliMlirRun, ThatNothingWasComparedIsSaid) {
  const Outcome outcome = mlir_run(source(store_42("")));
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("Nothing was compared"));
}

TEST_F(CliMlirRun, TheLoweredProgramsAreKept) {
  const Outcome outcome = mlir_run(source(store_42("", reference(42))),
                                   {"--save-temps=" + folder_.path(), "--bare-pointers"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(read_bytes(folder_ / "gpu.mlir"), HasSubstr("gpu.binary"));
  EXPECT_THAT(read_bytes(folder_ / "cpu.mlir"),
              AllOf(HasSubstr("@reference"), Not(HasSubstr("gpu.binary"))));
}

TEST_F(CliMlirRun, AConfigNamesTheDevice) {
  write_bytes(folder_ / "config.yaml", "devices:\n  trainer: amdgpu:1\n");
  const std::string file = source(store_42("// EXPECT: [42]"));
  const std::vector<std::string> words = {"mlir-run", file, "--device=trainer",
                                          "--config=" + (folder_ / "config.yaml")};
  std::vector<std::string> two = words;
  two.emplace_back("--vgpu=two-gfx90a");
  const Outcome good = spawn(two);
  EXPECT_EQ(good.exit_code, 0) << good.err;
  EXPECT_THAT(good.out, HasSubstr("on gfx90a is as"));
  std::vector<std::string> one = words;
  one.emplace_back("--vgpu=gfx900");
  EXPECT_EQ(spawn(one).exit_code, 1);
}

TEST_F(CliMlirRun, WhatMlirOptCannotReadOrLowerIsSaid) {
  const Outcome text = mlir_run(source("This is not MLIR.\n"));
  EXPECT_EQ(text.exit_code, 1);
  EXPECT_THAT(text.err, AllOf(HasSubstr("program.mlir:1:1: error"),
                              HasSubstr("ended with exit code 1 while it lowered the file ("),
                              HasSubstr("its messages are above")));
  const Outcome missing = mlir_run(folder_ / "none.mlir");
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.err, HasSubstr("none.mlir"));
}

TEST_F(CliMlirRun, AFunctionThatDoesNotExistIsNamed) {
  const Outcome outcome = mlir_run(source(store_42("")), {"--entry-point=none"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("none"), HasSubstr("failed on the GPU")));
}

TEST_F(CliMlirRun, AModuleForAnotherProcessorIsRefused) {
  // The file chooses the target itself, and pipelines add to it.
  const std::string file = source(
      "module attributes {gpu.container_module} {\n"
      "gpu.module @kernels [#rocdl.target<chip = \"gfx90a\", abi = \"500\">] {\n"
      "  gpu.func @nothing() kernel { gpu.return }\n"
      "}\n"
      "func.func @main() {\n"
      "  %c1 = arith.constant 1 : index\n"
      "  gpu.launch_func @kernels::@nothing blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)\n"
      "  return\n"
      "}\n"
      "}\n");
  const Outcome outcome = mlir_run(file);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("mgpuModuleLoad"), HasSubstr("gfx90a"),
                                 HasSubstr("gfx900"), HasSubstr("failed on the GPU")));
}

TEST_F(CliMlirRun, AFailureOfTheRuntimeEndsTheRun) {
  // The memory is the host's, and not registered.
  std::string text = store_42("");
  text.replace(text.find("gpu.host_register"), std::string("gpu.host_register").size(),
               "gpu.host_unregister");
  const Outcome outcome = mlir_run(source(text));
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("mgpuMemHostUnregister"), HasSubstr("not registered"),
                                 HasSubstr("failed on the GPU")));
}

TEST_F(CliMlirRun, WhatIsMissingIsNamedWithItsDebianPackage) {
  const std::string file = source(store_42(""));
  const Outcome none = mlir_run(file, {}, {.environment = {{"PATH", "/nonexistent"}}});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err, AllOf(HasSubstr("mlir-opt"), HasSubstr("Debian package mlir-22-tools")));
  const Outcome runner =
      mlir_run(file, {}, {.environment = {{"HALYARD_MLIR_RUNNER", "/nonexistent"}}});
  EXPECT_EQ(runner.exit_code, 1);
  EXPECT_THAT(runner.err, HasSubstr("HALYARD_MLIR_RUNNER names no program (/nonexistent)"));
  const Outcome bitcode = mlir_run(file, {"--bitcode-dir=" + folder_.path()});
  EXPECT_EQ(bitcode.exit_code, 1);
  EXPECT_THAT(bitcode.err, AllOf(HasSubstr("--bitcode-dir"), HasSubstr("rocm-device-libs")));
  // A program of that name without MLIR's libraries beside it.
  write_bytes(folder_ / "mlir-runner", "#!/bin/sh\n");
  std::filesystem::permissions(folder_ / "mlir-runner", std::filesystem::perms::owner_all);
  const Outcome utilities =
      mlir_run(file, {}, {.environment = {{"HALYARD_MLIR_RUNNER", folder_ / "mlir-runner"}}});
  EXPECT_EQ(utilities.exit_code, 1);
  EXPECT_THAT(utilities.err,
              AllOf(HasSubstr("libmlir_runner_utils.so"), HasSubstr("Debian package libmlir-22")));
}

}  // namespace
}  // namespace halyard::testing
