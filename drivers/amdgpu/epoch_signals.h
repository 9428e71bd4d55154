// EpochSignals: the two signals that the packets of a queue count down when they are done.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "drivers/amdgpu/hsa.h"
#include "hal/status.h"

namespace halyard::amdgpu {

// Any thread may use any method but open().
class EpochSignals {
 public:
  explicit EpochSignals(const Hsa& hsa) : hsa_(hsa) {}
  EpochSignals(const EpochSignals&) = delete;
  EpochSignals& operator=(const EpochSignals&) = delete;
  ~EpochSignals();

  // `completions` have happened before.
  Status open(uint64_t completions);

  // What a packet's completion decrements.
  hsa_signal_t completion(bool interrupt) const { return interrupt ? interrupt_ : polled_; }
  hsa_signal_t interrupt() const { return interrupt_; }
  hsa_signal_value_t interrupt_now() const { return hsa_.hsa_signal_load_scacquire(interrupt_); }
  // The value of interrupt() after so many completions.
  static constexpr hsa_signal_value_t interrupt_value(uint64_t completions) {
    return kInitialValue - static_cast<hsa_signal_value_t>(completions);
  }

  // How many packets have decremented each signal. Not after release_waiters().
  uint64_t polled_completions() const {
    return static_cast<uint64_t>(kInitialValue - __atomic_load_n(polled_value_, __ATOMIC_ACQUIRE));
  }
  uint64_t interrupt_completions() const {
    return static_cast<uint64_t>(kInitialValue - interrupt_now());
  }
  uint64_t completions() const { return polled_completions() + interrupt_completions(); }

  // Lets packets of other queues go on that wait for interrupt(). Once, after the queue is lost.
  void release_waiters();
  // As completions(), before release_waiters() and after it; nothing while that is under way.
  std::optional<uint64_t> completions_of_lost() const;

 private:
  static constexpr hsa_signal_value_t kInitialValue = hsa_signal_value_t{1} << 62;
  // What the interrupt signal's value means.
  enum class State : uint8_t {
    kCounts,     // as completions have left it
    kReleasing,  // it is being replaced: means nothing
    kReleased,   // 1 less what was completed since before_release_ completions
  };

  const Hsa& hsa_;
  hsa_signal_t polled_ = {};     // completions that no thread waits for: no interrupt
  hsa_signal_t interrupt_ = {};  // completions that raise an interrupt
  volatile hsa_signal_value_t* polled_value_ = nullptr;
  std::atomic<State> state_{State::kCounts};
  std::atomic<uint64_t> before_release_{0};  // set before kReleased
};

}  // namespace halyard::amdgpu
