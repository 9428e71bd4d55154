// How an MLIR program becomes one for mlir-runner, and what its output is compared with: functions
// of text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "hal/status.h"

namespace halyard::toolchain {

enum class ProgramKind {
  kLaunches,  // launches kernels itself (gpu.launch, gpu.launch_func)
  kTensors,   // says what to compute, in linalg; runs on the CPU as well
};
ProgramKind program_kind_of(std::string_view source);

// The function of a program that launches kernels which computes the same results on the CPU.
inline constexpr std::string_view kReferenceFunction = "reference";
bool has_reference(std::string_view source);

struct PipelineValues {
  std::string chip = {};  // the processor, "gfx900"
  bool bare_pointers = false;
  std::string toolkit = {};  // the folder with llvm/bin/ld.lld and amdgcn/bitcode
};

// The value of mlir-opt's --pass-pipeline for a text of toolchain/mlir_pipelines.h: without
// comments and line ends, and with the placeholders replaced. INVALID_ARGUMENT for a placeholder
// that does not exist.
Result<std::string> make_pipeline(std::string_view text, const PipelineValues& values);

// The pipeline that lowers what `function` needs for the CPU, and drops the rest of the file.
Result<std::string> make_cpu_pipeline(std::string_view function);

// The texts of the lines "// EXPECT: text", in order.
std::vector<std::string> expected_texts(std::string_view source);
// ABORTED names the first text that is not in the output behind those before it.
Status check_expected(const std::vector<std::string>& texts, std::string_view output);

// How many comments are FileCheck's ("// CHECK: text", "// CHECK-NEXT: …"; LLVM documentation,
// "FileCheck").
size_t count_check_comments(std::string_view source);

// The numbers that printMemref* has printed: those of the values, not of the lines that describe
// memrefs.
std::vector<double> printed_numbers(std::string_view output);

struct OutputTolerance {
  double absolute = 1e-5;
  double relative = 1e-4;  // six digits are printed, and sums may be fused and in another order
};
// The number of compared numbers. ABORTED names the first difference, or the two counts; NaN equals
// NaN. No number at all is ABORTED, too.
Result<size_t> compare_outputs(std::string_view got, std::string_view wanted,
                               const OutputTolerance& tolerance);

}  // namespace halyard::toolchain
