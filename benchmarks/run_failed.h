// google-benchmark 1.7 (Debian 12) and 1.8 on (Debian 13) say in different ways that a run failed.
#pragma once

#include <benchmark/benchmark.h>

namespace halyard::bench {

template <typename Run>
bool run_failed(const Run& run) {
  if constexpr (requires { run.error_occurred; }) {
    return run.error_occurred;
  } else {
    return static_cast<int>(run.skipped) != 0;
  }
}

}  // namespace halyard::bench
