// Compiling through the cache.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "hal/status.h"
#include "hal/target_id.h"
#include "toolchain/cache.h"
#include "toolchain/compile.h"
#include "toolchain/tools.h"

namespace halyard::toolchain {

struct CachedCompile {
  std::vector<std::byte> bytes;  // a code object
  bool was_cached = false;
  Status stored;  // why the result could not be kept, which is no reason to do without it
};

// The code object of one file, from the cache if the same has been compiled before: the same
// bytes, target, options and environment, by the same release of the compiler, with the same
// device libraries, and with included files that have not changed. Otherwise compile() makes it,
// and fails as that does; it is kept if the compiler says which files it has read.
Result<CachedCompile> compile_cached(const std::string& input, const TargetId& target,
                                     const CompileOptions& options, const SearchContext& context,
                                     const Cache& cache);

}  // namespace halyard::toolchain
