// The compiler of HIP sources: hipcc, or clang with hipcc's headers for targets that are newer than
// the clang inside of hipcc.
#pragma once

#include <string>
#include <vector>

#include "hal/status.h"
#include "hal/target_id.h"
#include "toolchain/temporary_folder.h"
#include "toolchain/tools.h"

namespace halyard::toolchain {

struct HipCompiler {
  std::string path;          // of hipcc, or of clang
  std::string headers = {};  // for clang: the folder that has hip/hip_runtime.h; empty for hipcc
};

// Asks hipcc whether it knows the target. NOT_FOUND without hipcc. It is hipcc too if there is no
// other compiler, or no header: its own message then says what is wrong.
Result<HipCompiler> find_hip_compiler(const TargetId& target, const SearchContext& context,
                                      const TemporaryFolder& folder);

// What HIP 5's headers expect of the compiler and clang 22 no longer has; in front of a source.
std::string hip_prelude(const TargetId& target, const std::vector<std::string>& options);

}  // namespace halyard::toolchain
