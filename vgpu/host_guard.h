// Memory that goes away while the GPU uses it.
//
// The engine asks the map before it touches memory, but the host can unmap or protect what the map
// still has: memory that the program registered and then gave back, a file that was truncated, an
// allocation freed under a running kernel. The kernel then tells by SIGSEGV or SIGBUS. A function
// that runs under a guard ends there instead, and its caller learns where.
#pragma once

#include <setjmp.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "vgpu/shared_memory_access.h"

namespace halyard::vgpu {

// What stopped a guarded function.
struct HostFault {
  uint64_t address = 0;   // as the host sees it
  bool is_write = false;  // always false where the processor does not tell
};

// Installs the process's handlers for SIGSEGV and SIGBUS, once; later calls have no effect. Faults
// outside guarded code go to the previous handlers. Handlers that a program installs later disable
// the guards. Any thread.
void install_host_guard();

// An access of this process that its memory's protection refused.
struct HostAccess {
  uint64_t address = 0;
  uint64_t pc = 0;
  bool is_write = false;
  bool by_gpu = false;  // a guard protects the thread
};
// Asks `watcher` about each such access, before a guard or an earlier handler sees it: true has the
// access done again. Called in the signal's handler. Once; the handlers are installed with it.
void watch_host_accesses(bool (*watcher)(const HostAccess& access));

namespace detail {

struct Guard {
  sigjmp_buf jump;
  HostFault fault;
  Guard* outer = nullptr;
  int accesses = 0;  // that the thread was in
};

// Makes `guard` the calling thread's, and returns the one that was.
Guard* exchange_guard(Guard* guard);

}  // namespace detail

// Runs `function`; false if it was stopped because it touched memory that the host does not have.
// No destructor runs for what `function` had on its stack then: it must hold no lock and own
// nothing while it touches such memory. Guards nest: the innermost one takes the fault. Both
// signals must be unblocked on the calling thread.
template <class Function>
[[gnu::noinline]] bool guarded(Function&& function, HostFault& fault) {
  detail::Guard guard;
  guard.outer = detail::exchange_guard(&guard);
  guard.accesses = SharedMemoryAccess::depth();
  // The signal mask is not saved: the handler does not change it (SA_NODEFER), and a guard must
  // cost no system call. ThreadSanitizer's own handler before it does. C++ has no other way out of
  // a fault.
#if defined(__SANITIZE_THREAD__)
  constexpr int kSaveMask = 1;
#else
  constexpr int kSaveMask = 0;
#endif
  // NOLINTNEXTLINE(cert-err52-cpp,modernize-avoid-setjmp-longjmp)
  if (sigsetjmp(guard.jump, kSaveMask) == 0) {
    std::forward<Function>(function)();
    detail::exchange_guard(guard.outer);
    return true;
  }
  SharedMemoryAccess::jumped_to(guard.accesses);
  detail::exchange_guard(guard.outer);
  fault = guard.fault;
  return false;
}

// Copies `bytes` bytes from memory that the host may have unmapped. False if it has; what `to`
// holds is then undefined.
bool read_host(void* to, const void* from, size_t bytes);

}  // namespace halyard::vgpu
