// Stands for AMD's libroctx64 where a test wants one: its levels and numbers are none that Halyard
// gives.
#include <cstdint>

// NOLINTBEGIN(readability-identifier-naming): AMD's names
#define AMDS_ROCTX extern "C" [[gnu::visibility("default")]]
AMDS_ROCTX void roctxMarkA(const char*) {}
AMDS_ROCTX int roctxRangePushA(const char*) {
  return 70;
}
AMDS_ROCTX int roctxRangePop() {
  return 71;
}
AMDS_ROCTX uint64_t roctxRangeStartA(const char*) {
  return 72;
}
AMDS_ROCTX void roctxRangeStop(uint64_t) {}
// NOLINTEND(readability-identifier-naming)
