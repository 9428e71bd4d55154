// The cache of compiled kernels, as the environment describes it.
#pragma once

#include "hal/status.h"
#include "toolchain/cache.h"

namespace halyard::cli {

// HALYARD_CACHE_DIR and HALYARD_CACHE_SIZE, or what they are by default.
Result<toolchain::Cache> open_cache();
// For compiling: none, and a note on standard error, if there is no folder for it.
Result<toolchain::Cache> open_cache_or_none();

}  // namespace halyard::cli
