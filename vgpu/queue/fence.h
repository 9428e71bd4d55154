// A full fence, also where ThreadSanitizer is at work, which does not know fences.
#pragma once

#include <atomic>

namespace halyard::vgpu::queue {

// Everything before it, in program order, becomes visible before anything after it.
inline void full_fence() {
#if defined(__SANITIZE_THREAD__)
  static std::atomic<int> word{0};
  word.fetch_add(0, std::memory_order_seq_cst);
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

}  // namespace halyard::vgpu::queue
