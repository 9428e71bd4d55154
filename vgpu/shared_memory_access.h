// Accesses to memory that host and GPU share.
//
// While one lives, its thread uses memory that it has found in the GPU's map. Who takes memory out
// of the map waits for such accesses before the memory becomes something else
// (wait_for_accesses()), so that a copy or a kernel never writes into what the program has there
// next: hardware would fault, and the next look at the map does.
//
// They are also hidden from ThreadSanitizer: the vendor runtime's doorbells and signals order them,
// which it cannot see; and each suppressed race would cost a symbolised stack, for every word of a
// copy.
#pragma once

#include <atomic>
#include <cstdint>

#if defined(__SANITIZE_THREAD__)
extern "C" {
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}
#endif

namespace halyard::vgpu {

// Returns when each access that is under way now has ended. Call it after the map has changed and
// before the memory is given away. At once on a thread that is in an access itself. It gives up
// after some seconds: a thread of the GPU may wait for a lock that the caller holds.
void wait_for_accesses();

namespace detail {

// One thread's: how many accesses it is in, in the low byte, and how often it has left the
// outermost one. Written by that thread alone.
struct AccessState {
  static constexpr uint64_t kDepth = 0xff;
  std::atomic<uint64_t> value{0};
  std::atomic<bool> used{false};  // a thread has it
  AccessState* next = nullptr;
};

extern constinit thread_local AccessState* access_state [[gnu::tls_model("initial-exec")]];
// Whether accesses must be ordered by their own threads: the kernel does not do it for others.
extern std::atomic<bool> needs_fences;

// Makes the calling thread's. Never fails: without memory for it the process ends.
AccessState& make_access_state();

inline AccessState& own_access_state() {
  AccessState* const state = access_state;
  return state != nullptr ? *state : make_access_state();
}

}  // namespace detail

// While one lives, its thread's plain accesses are the GPU's. Atomic ones order as ever.
class SharedMemoryAccess {
 public:
  SharedMemoryAccess() {
    begin();
#if defined(__SANITIZE_THREAD__)
    ignore();
#endif
  }
  // Runs `after` inside of the access.
  template <class Function>
  explicit SharedMemoryAccess(Function after) : SharedMemoryAccess() {
    after();
  }
  ~SharedMemoryAccess() {
#if defined(__SANITIZE_THREAD__)
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
#endif
    set_depth(depth() - 1);
  }
  SharedMemoryAccess(const SharedMemoryAccess&) = delete;
  SharedMemoryAccess& operator=(const SharedMemoryAccess&) = delete;

  // How many live on this thread.
  static int depth() {
    const detail::AccessState* const state = detail::access_state;
    if (state == nullptr) return 0;
    return static_cast<int>(state->value.load(std::memory_order_relaxed) &
                            detail::AccessState::kDepth);
  }
  // After a jump out of a signal handler (host_guard.h) over some destructors, to the scope of
  // `depth`: ThreadSanitizer ignores nothing in a handler, and stays in that state.
  static void jumped_to(int to) {
    if (depth() != to) set_depth(to);
#if defined(__SANITIZE_THREAD__)
    for (int i = 0; i < to; ++i) ignore();
#endif
  }

 private:
  static void begin() {
    std::atomic<uint64_t>& value = detail::own_access_state().value;
    value.store(value.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    // wait_for_accesses() has the kernel order this before the look at the map that follows.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (detail::needs_fences.load(std::memory_order_relaxed)) [[unlikely]]
      value.exchange(value.load(std::memory_order_relaxed), std::memory_order_seq_cst);
  }
  static void set_depth(int depth) {
    std::atomic<uint64_t>& value = detail::access_state->value;
    const uint64_t before = value.load(std::memory_order_relaxed) & ~detail::AccessState::kDepth;
    const uint64_t left = depth == 0 ? detail::AccessState::kDepth + 1 : 0;
    value.store(before + left + static_cast<uint64_t>(depth), std::memory_order_release);
  }
#if defined(__SANITIZE_THREAD__)
  static void ignore() {
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  }
#endif
};

}  // namespace halyard::vgpu
