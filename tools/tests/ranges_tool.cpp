// A tools library as the HSA runtime loads it (HSA_TOOLS_LIB), whose functions are OnLoad and
// OnUnload (ROCR, hsa_api_trace.h). It names ranges with ROCTX, as profilers and libraries do.
#include <cstdint>
#include <thread>

// NOLINTBEGIN(readability-identifier-naming): AMD's names
extern "C" {
// Nothing that it is linked with has them: they are the program's.
int roctxRangePushA(const char* message);
int roctxRangePop();
void roctxMarkA(const char* message);
uint64_t roctxRangeStartA(const char* message);
void roctxRangeStop(uint64_t id);

[[gnu::visibility("default")]] bool OnLoad(void*, uint64_t, uint64_t, const char* const*) {
  const uint64_t started = roctxRangeStartA("started");
  bool right = roctxRangePop() == -1;  // there is none
  right = right && roctxRangePushA("outer") == 0;
  right = right && roctxRangePushA("inner \"quoted\"") == 1;
  std::thread([&] {
    right = right && roctxRangePushA("of another thread") == 0;
    roctxRangeStop(started);
    right = right && roctxRangePop() == 0;
  }).join();
  right = right && roctxRangePop() == 1;
  roctxMarkA(right ? "levels are right" : "levels are wrong");
  right = right && roctxRangePop() == 0;
  roctxRangePushA("open");
  return true;
}

[[gnu::visibility("default")]] void OnUnload() {}
}
// NOLINTEND(readability-identifier-naming)
