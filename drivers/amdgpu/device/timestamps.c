// Gathers what the packet processor has noted of many dispatches into one array, so that the host
// reads it at once instead of signal by signal.
#include "target.h"

// amd_signal_t (amd_hsa_signal.h): start_ts at 32, end_ts at 40.
enum { kStartWord = 4, kEndWord = 5 };

KERNEL void halyard_collect_timestamps(HalyardCollectTimestampsArguments arguments) {
  const uint32_t stride = arguments.group_count * HALYARD_GROUP_SIZE;
  // The distance to the end is compared, not the index, which could overflow.
  for (uint32_t i = group_id() * HALYARD_GROUP_SIZE + local_id(); i < arguments.count;) {
    const uint64_t signal = arguments.signals[i];
    HalyardTimestamps result = {0, 0};
    if (signal != 0) {
      // At system scope: the packet processor writes past the caches of the compute units.
      const GLOBAL uint64_t* const words = (const GLOBAL uint64_t*)signal;
      result.start = __atomic_load_n(words + kStartWord, __ATOMIC_RELAXED);
      result.end = __atomic_load_n(words + kEndWord, __ATOMIC_RELAXED);
    }
    arguments.results[i] = result;
    if (arguments.count - i <= stride) break;
    i += stride;
  }
}
