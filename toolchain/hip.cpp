#include "toolchain/hip.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "hal/error.h"
#include "hal/target_map.h"
#include "toolchain/commands.h"
#include "toolchain/process.h"

namespace halyard::toolchain {
namespace {

// Beside the folder of the program, as in a ROCm installation and in Debian.
std::string hip_headers_of(const std::string& hipcc) {
  namespace fs = std::filesystem;
  std::error_code wrong;
  const fs::path folder = fs::absolute(hipcc, wrong).parent_path().parent_path() / "include";
  return fs::exists(folder / "hip/hip_runtime.h", wrong) ? folder.string() : std::string();
}

}  // namespace

Result<HipCompiler> find_hip_compiler(const TargetId& target, const SearchContext& context,
                                      const TemporaryFolder& folder) {
  HALYARD_ASSIGN_OR_RETURN(std::string hipcc, find_tool(Tool::kHipcc, context));
  HALYARD_ASSIGN_OR_RETURN(const ProcessEnd end, run_process(hip_target_question(hipcc, target),
                                                             folder.process(Output::kCapture)));
  HipCompiler compiler{.path = std::move(hipcc)};
  // clang 15 ends well although it has no device libraries for the target. Whatever else is wrong,
  // compiling shows.
  const std::string said = end.output + end.errors;
  const bool is_unknown = (!end.ok() || said.find("error: ") != std::string::npos) &&
                          said.find(target.processor) != std::string::npos;
  if (!is_unknown) return compiler;
  Result<std::string> clang = find_tool(Tool::kClang, context);
  std::string headers = hip_headers_of(compiler.path);
  if (!clang.ok() || headers.empty()) return compiler;
  compiler.path = std::move(clang).value();
  compiler.headers = std::move(headers);
  return compiler;
}

std::string hip_prelude(const TargetId& target, const std::vector<std::string>& options) {
  const ProcessorInfo* const processor = find_processor(target.processor);
  const bool is_wave64 =
      processor == nullptr || processor->wavefront_size != 32 ||
      std::find(options.begin(), options.end(), "-mwavefrontsize64") != options.end();
  // The macro is there up to clang 21, and the functions are in the headers of clang 15. Their
  // names lead to these in any case, so that none is defined twice.
  return fmt::format(
      R"(#ifndef __AMDGCN_WAVEFRONT_SIZE
#define __AMDGCN_WAVEFRONT_SIZE {}
#endif
typedef _Float16 __halyard_2f16 __attribute__((ext_vector_type(2)));
static inline __attribute__((device)) _Float16 __halyard_rcp_f16(_Float16 x) {{
  return __builtin_amdgcn_rcph(x);
}}
static inline __attribute__((device)) __halyard_2f16 __halyard_rcp_2f16(__halyard_2f16 x) {{
  return __halyard_2f16{{__halyard_rcp_f16(x.x), __halyard_rcp_f16(x.y)}};
}}
#define __llvm_amdgcn_rcp_f16 __halyard_rcp_f16
#define __llvm_amdgcn_rcp_2f16 __halyard_rcp_2f16
)",
      is_wave64 ? 64 : 32);
}

}  // namespace halyard::toolchain
