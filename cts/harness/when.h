// What an operation waits for and signals, in one expression:
//   queue().fill(buffer, &zero, 1, When().after(gate, 1).then(done, 1))
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "hal/dispatch.h"
#include "hal/queue.h"

namespace halyard::cts {

// Lives until the end of the expression, which is as long as a call needs it.
class When {
 public:
  When() = default;
  explicit When(const Sync& sync)
      : wait_(sync.wait.begin(), sync.wait.end()),
        signal_(sync.signal.begin(), sync.signal.end()) {}

  When after(const Ref<Semaphore>& semaphore, uint64_t value) && {
    wait_.push_back({semaphore.get(), value});
    return std::move(*this);
  }
  When then(const Ref<Semaphore>& semaphore, uint64_t value) && {
    signal_.push_back({semaphore.get(), value});
    return std::move(*this);
  }
  operator Sync() const {  // NOLINT(google-explicit-constructor)
    return {.wait = wait_, .signal = signal_};
  }

 private:
  std::vector<SemaphorePoint> wait_;
  std::vector<SemaphorePoint> signal_;
};

// A dispatch that owns its list of arguments.
class Launch {
 public:
  Launch(const Function* function, Dim3 grid, Dim3 workgroup,
         std::initializer_list<Argument> arguments, uint32_t dynamic_lds_bytes = 0)
      : arguments_(arguments) {
    dispatch_.function = function;
    dispatch_.grid = grid;
    dispatch_.workgroup = workgroup;
    dispatch_.dynamic_lds_bytes = dynamic_lds_bytes;
    dispatch_.arguments = arguments_;
  }
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;

  operator const Dispatch&() const { return dispatch_; }  // NOLINT(google-explicit-constructor)

 private:
  std::vector<Argument> arguments_;
  Dispatch dispatch_;
};

}  // namespace halyard::cts
