// The interpreter's lock (GIL), also while the interpreter ends.
//
// Before 3.14, CPython ends a thread that asks for the lock while the interpreter ends: by
// pthread_exit, which unwinds the thread's stack. That aborts the process at the first noexcept
// function of C++, and destroys Python's objects without the lock. Here such a thread sleeps until
// the process has ended, as with 3.14.
#pragma once

#include <Python.h>
#include <halyard/halyard.h>

namespace halyard::python {

// Never returns. A HostCall of the thread ends first.
[[noreturn]] void sleep_to_the_end() noexcept;

// While this exists, the thread runs a host function: if it goes to sleep, the operation fails with
// CANCELLED, so that its queue goes on.
class HostCall {
 public:
  explicit HostCall(halyard_completion* completion) noexcept;
  HostCall(const HostCall&) = delete;
  HostCall& operator=(const HostCall&) = delete;
  ~HostCall();
};
halyard_error* python_has_ended();

// Lies in a frame that calls Python, behind everything in it that has a destructor: pthread_exit
// destroys it first.
class SleepsIfUnwound {
 public:
  SleepsIfUnwound() = default;
  SleepsIfUnwound(const SleepsIfUnwound&) = delete;
  SleepsIfUnwound& operator=(const SleepsIfUnwound&) = delete;
  ~SleepsIfUnwound() {
    if (!returned_) sleep_to_the_end();
  }
  void returned() noexcept { returned_ = true; }

 private:
  bool returned_ = false;
};

// Releases the lock, which the thread has.
class ReleasedGil {
 public:
  ReleasedGil() : is_last_(Py_IsInitialized() == 0), state_(PyEval_SaveThread()) {}
  ReleasedGil(const ReleasedGil&) = delete;
  ReleasedGil& operator=(const ReleasedGil&) = delete;
  ~ReleasedGil();

 private:
  bool is_last_;  // the thread that ends the interpreter
  PyThreadState* state_;
};

// Takes the lock, on any thread. `entered` is false if the interpreter has begun to end.
class AcquiredGil {
 public:
  AcquiredGil();
  AcquiredGil(const AcquiredGil&) = delete;
  AcquiredGil& operator=(const AcquiredGil&) = delete;
  ~AcquiredGil() {
    if (entered_) PyGILState_Release(state_);
  }
  bool entered() const noexcept { return entered_; }

 private:
  bool entered_ = false;
  PyGILState_STATE state_ = PyGILState_UNLOCKED;
};

// From now on AcquiredGil does not take the lock. Returns when no thread is about to. With the
// lock; called when the interpreter begins to end.
void end_acquisitions();

}  // namespace halyard::python
