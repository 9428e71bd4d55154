#include "plugins/sdk/service_thread.h"

#include <pthread.h>
#include <signal.h>

#include <system_error>
#include <utility>

namespace halyard {
namespace {

thread_local bool is_of_driver = false;

}  // namespace

bool is_service_thread() {
  return is_of_driver;
}

std::thread start_service_thread(const char* name, std::function<void()> work) {
  // A thread starts with the mask of the one that starts it.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  // The signals of the thread's own faults stay open. If one of them is blocked, Linux ends the
  // process without a handler: a crash reporter and the virtual GPU would not see the fault.
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) sigdelset(&all, fault);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread;
  try {
    thread = std::thread([name, work = std::move(work)] {
      pthread_setname_np(pthread_self(), name);
      is_of_driver = true;
      work();
    });
  } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch)
    // What is returned says it.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace halyard
