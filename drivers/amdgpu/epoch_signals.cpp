#include "drivers/amdgpu/epoch_signals.h"

namespace halyard::amdgpu {

Status EpochSignals::open(uint64_t completions) {
  // For the device's use alone: such a signal has no event, so that a completion is one atomic
  // subtraction and no interrupt, and its value may be read in place (hsa_ext_amd.h,
  // hsa_amd_signal_value_pointer).
  HALYARD_RETURN_IF_ERROR(
      check(hsa_,
            hsa_.hsa_amd_signal_create(kInitialValue - static_cast<hsa_signal_value_t>(completions),
                                       0, nullptr, HSA_AMD_SIGNAL_AMD_GPU_ONLY, &polled_),
            "Creating a queue's epoch signal"));
  HALYARD_RETURN_IF_ERROR(check(hsa_, hsa_.hsa_amd_signal_value_pointer(polled_, &polled_value_),
                                "Reading a queue's epoch signal"));
  return check(hsa_, hsa_.hsa_signal_create(kInitialValue, 0, nullptr, &interrupt_),
               "Creating a queue's completion signal");
}

EpochSignals::~EpochSignals() {
  if (interrupt_.handle != 0) hsa_.hsa_signal_destroy(interrupt_);
  if (polled_.handle != 0) hsa_.hsa_signal_destroy(polled_);
}

void EpochSignals::release_waiters() {
  state_.store(State::kReleasing, std::memory_order_seq_cst);
  const hsa_signal_value_t before = hsa_.hsa_signal_exchange_scacq_screl(interrupt_, 1);
  before_release_.store(static_cast<uint64_t>(kInitialValue - before), std::memory_order_relaxed);
  state_.store(State::kReleased, std::memory_order_release);
}

std::optional<uint64_t> EpochSignals::completions_of_lost() const {
  const State state = state_.load(std::memory_order_acquire);
  if (state == State::kReleasing) return std::nullopt;
  uint64_t interrupts = interrupt_completions();
  if (state == State::kReleased) {
    interrupts = before_release_.load(std::memory_order_relaxed) +
                 static_cast<uint64_t>(1 - interrupt_now());
  } else if (state_.load(std::memory_order_acquire) != state) {
    return std::nullopt;
  }
  return polled_completions() + interrupts;
}

}  // namespace halyard::amdgpu
