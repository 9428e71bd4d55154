#include "vgpu/host_guard.h"

#include <signal.h>
#include <ucontext.h>

#include <cstring>
#include <mutex>
#include <utility>

#include "hal/base/signals.h"
#include "vgpu/held_accesses.h"

namespace halyard::vgpu {
namespace {

using detail::Guard;

// In the static TLS block: the handler must not be what allocates a thread's copy.
[[gnu::tls_model("initial-exec")]] thread_local Guard* current = nullptr;

struct sigaction before_segv;
struct sigaction before_bus;

// Written once, before there is anything to watch.
bool (*watcher)(const HostAccess&) = nullptr;

uint64_t pc_of([[maybe_unused]] const void* context) {
#if defined(__x86_64__)
  return static_cast<uint64_t>(static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
#else
  return 0;
#endif
}

bool wrote([[maybe_unused]] const void* context) {
#if defined(__x86_64__)
  // Bit 1 of a page fault's error code (Intel SDM, volume 3, 4.7).
  const auto* const machine = static_cast<const ucontext_t*>(context);
  return (machine->uc_mcontext.gregs[REG_ERR] & 2) != 0;
#else
  return false;
#endif
}

// Not a guard's: what would have happened without this handler.
void pass_on(int signal, siginfo_t* info, void* context) {
  base::hand_on(signal == SIGSEGV ? before_segv : before_bus, signal, info, context);
}

void handle(int signal, siginfo_t* info, void* context) {
  Guard* const guard = current;
  if (signal == SIGSEGV && info->si_code == SEGV_ACCERR &&
      detail::waited_for_holder(reinterpret_cast<uintptr_t>(info->si_addr)))
    return;
  if (watcher != nullptr && signal == SIGSEGV && info->si_code == SEGV_ACCERR) {
    const HostAccess access{reinterpret_cast<uintptr_t>(info->si_addr), pc_of(context),
                            wrote(context), guard != nullptr};
    if (watcher(access)) return;
  }
  // A code above 0 says that the kernel made the signal, for an access of this thread.
  if (guard == nullptr || info->si_code <= 0) return pass_on(signal, info, context);
  guard->fault.address = reinterpret_cast<uintptr_t>(info->si_addr);
  guard->fault.is_write = wrote(context);
  siglongjmp(guard->jump, 1);  // NOLINT(cert-err52-cpp)
}

}  // namespace

detail::Guard* detail::exchange_guard(Guard* guard) {
  return std::exchange(current, guard);
}

void install_host_guard() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action = {};
    action.sa_sigaction = handle;
    // SA_ONSTACK: a handler behind this one may be there for overflowing stacks.
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &before_segv);
    sigaction(SIGBUS, &action, &before_bus);
  });
}

void watch_host_accesses(bool (*function)(const HostAccess& access)) {
  watcher = function;
  install_host_guard();
}

bool read_host(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return true;
  HostFault fault;
  const SharedMemoryAccess host_sees;
  return guarded([&] { std::memcpy(to, from, bytes); }, fault);
}

}  // namespace halyard::vgpu
