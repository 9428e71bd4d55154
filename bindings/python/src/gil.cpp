#include "gil.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace halyard::python {
namespace {

// Threads between the look at `over` and the lock, which they get.
std::atomic<int> entering{0};
std::atomic<bool> over{false};

thread_local halyard_completion* unfinished = nullptr;

void restore(PyThreadState* state) {
  SleepsIfUnwound frame;
  PyEval_RestoreThread(state);
  frame.returned();
}

PyGILState_STATE ensure() {
  SleepsIfUnwound frame;
  const PyGILState_STATE state = PyGILState_Ensure();
  frame.returned();
  return state;
}

}  // namespace

halyard_error* python_has_ended() {
  return halyard_error_create(HALYARD_CANCELLED, "Python has ended before the function's end.");
}

HostCall::HostCall(halyard_completion* completion) noexcept {
  unfinished = completion;
}

HostCall::~HostCall() {
  unfinished = nullptr;
}

void sleep_to_the_end() noexcept {
  if (unfinished != nullptr) halyard_completion_complete(unfinished, python_has_ended());
  for (;;) pause();
}

ReleasedGil::~ReleasedGil() {
  // Later the interpreter has forgotten that it has ended.
  if (!is_last_ && Py_IsInitialized() == 0) sleep_to_the_end();
  restore(state_);
}

AcquiredGil::AcquiredGil() {
  // In a child of fork(), the other threads are not there.
  static const int watched = pthread_atfork(nullptr, nullptr, [] { entering.store(0); });
  static_cast<void>(watched);
  if (Py_IsInitialized() == 0) return;
  entering.fetch_add(1, std::memory_order_seq_cst);
  entered_ = !over.load(std::memory_order_seq_cst);
  if (entered_) state_ = ensure();
  entering.fetch_sub(1, std::memory_order_release);
}

void end_acquisitions() {
  over.store(true, std::memory_order_seq_cst);
  const ReleasedGil released;
  while (entering.load(std::memory_order_seq_cst) != 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace halyard::python
