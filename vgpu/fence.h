// A full fence, also under ThreadSanitizer, which does not know fences.
#pragma once

#include <atomic>

namespace halyard::vgpu {

// What this thread did before it is visible to others before anything that it does after it.
inline void full_fence() {
#if defined(__SANITIZE_THREAD__)
  static std::atomic<int> word{0};
  word.fetch_add(0, std::memory_order_seq_cst);
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

}  // namespace halyard::vgpu
