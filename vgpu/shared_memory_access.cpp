#include "vgpu/shared_memory_access.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

#include "vgpu/fence.h"
#include "vgpu/monotonic.h"

namespace halyard::vgpu {
namespace detail {

constinit thread_local AccessState* access_state = nullptr;
std::atomic<bool> needs_fences{false};

}  // namespace detail

namespace {

using detail::AccessState;

// States are never freed: a thread that ends leaves its own to a later one.
std::atomic<AccessState*> first_state{nullptr};
pthread_key_t ended;

constexpr uint64_t kLongestWaitNs = 5'000'000'000;

long membarrier(int command) {
  return syscall(SYS_membarrier, command, 0, 0);
}

void leave_state(void* state) {
  static_cast<AccessState*>(state)->used.store(false, std::memory_order_release);
}

// A child of fork has one thread.
void forget_other_threads() {
  for (AccessState* state = first_state.load(std::memory_order_acquire); state != nullptr;
       state = state->next) {
    if (state == detail::access_state) continue;
    state->value.store(0, std::memory_order_relaxed);
    state->used.store(false, std::memory_order_relaxed);
  }
  membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
}

// Linux 4.14 and later order the memory accesses of all threads of a process for one of them.
void prepare() {
  static const bool done = [] {
    pthread_key_create(&ended, leave_state);
    pthread_atfork(nullptr, nullptr, forget_other_threads);
    if (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) != 0)
      detail::needs_fences.store(true, std::memory_order_relaxed);
    return true;
  }();
  static_cast<void>(done);
}

AccessState* unused_state() {
  for (AccessState* state = first_state.load(std::memory_order_acquire); state != nullptr;
       state = state->next) {
    bool used = false;
    if (state->used.compare_exchange_strong(used, true, std::memory_order_acq_rel)) return state;
  }
  return nullptr;
}

// Whether the accesses that a thread was in have ended.
bool has_left(const AccessState& state, uint64_t before) {
  return (state.value.load(std::memory_order_acquire) | AccessState::kDepth) !=
         (before | AccessState::kDepth);
}

}  // namespace

AccessState& detail::make_access_state() {
  prepare();
  AccessState* state = unused_state();
  if (state == nullptr) {
    state = new AccessState;
    state->used.store(true, std::memory_order_relaxed);
    state->next = first_state.load(std::memory_order_relaxed);
    while (!first_state.compare_exchange_weak(state->next, state, std::memory_order_acq_rel)) {
    }
  }
  pthread_setspecific(ended, state);
  access_state = state;
  return *state;
}

void wait_for_accesses() {
  full_fence();
  AccessState* const first = first_state.load(std::memory_order_acquire);
  if (first == nullptr || SharedMemoryAccess::depth() != 0) return;
  if (!detail::needs_fences.load(std::memory_order_relaxed))
    membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
  const uint64_t begin = monotonic_ns();
  for (const AccessState* state = first; state != nullptr; state = state->next) {
    const uint64_t before = state->value.load(std::memory_order_acquire);
    if ((before & AccessState::kDepth) == 0) continue;
    while (!has_left(*state, before)) {
      if (monotonic_ns() - begin > kLongestWaitNs) return;
      std::this_thread::yield();
    }
  }
}

}  // namespace halyard::vgpu
