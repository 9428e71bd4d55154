#include "vgpu/machine/wait_hooks.h"

#include <hsa/amd_hsa_signal.h>

#include "vgpu/monotonic.h"

namespace halyard::vgpu::machine {
namespace {

using Wait = decltype(hsa_signal_wait_relaxed);

// The functions that these stand in for. Written once, before the runtime is used.
Wait* wait_relaxed = nullptr;
Wait* wait_scacquire = nullptr;
decltype(hsa_system_get_info)* system_get_info = nullptr;

// Whether the runtime has an event to sleep for. Its handles are addresses.
bool has_event(hsa_signal_t signal) {
  const auto* const memory = reinterpret_cast<const amd_signal_t*>(signal.handle);
  return __atomic_load_n(&memory->event_mailbox_ptr, __ATOMIC_RELAXED) != 0;
}

bool holds(hsa_signal_condition_t condition, hsa_signal_value_t is, hsa_signal_value_t value) {
  switch (condition) {
    case HSA_SIGNAL_CONDITION_EQ:
      return is == value;
    case HSA_SIGNAL_CONDITION_NE:
      return is != value;
    case HSA_SIGNAL_CONDITION_LT:
      return is < value;
    case HSA_SIGNAL_CONDITION_GTE:
      return is >= value;
  }
  return true;
}

// Of a timeout in the runtime's ticks.
uint64_t nanoseconds(uint64_t ticks) {
  static const uint64_t frequency = [] {
    uint64_t hertz = 0;
    system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &hertz);
    return hertz;
  }();
  const long double all =
      frequency == 0 ? 0.0L
                     : 1e9L * static_cast<long double>(ticks) / static_cast<long double>(frequency);
  return all < 9e18L ? static_cast<uint64_t>(all) : UINT64_MAX;
}

hsa_signal_value_t sleep_with(Wait* wait, hsa_signal_t signal, hsa_signal_condition_t condition,
                              hsa_signal_value_t value, uint64_t timeout) {
  if (signal.handle == 0 || has_event(signal))
    return wait(signal, condition, value, timeout, HSA_WAIT_STATE_BLOCKED);
  const uint64_t begin = monotonic_ns();
  const uint64_t most = nanoseconds(timeout);
  for (;;) {
    const hsa_signal_value_t is = wait(signal, condition, value, 0, HSA_WAIT_STATE_BLOCKED);
    const uint64_t waited = monotonic_ns() - begin;
    if (holds(condition, is, value) || waited >= most) return is;
    const uint64_t nap = nap_ns(waited);
    if (nap == 0) continue;
    const uint64_t left = most - waited;
    const timespec time = {0, static_cast<long>(nap < left ? nap : left)};
    nanosleep(&time, nullptr);
  }
}

hsa_signal_value_t sleep_relaxed(hsa_signal_t signal, hsa_signal_condition_t condition,
                                 hsa_signal_value_t value, uint64_t timeout, hsa_wait_state_t) {
  return sleep_with(wait_relaxed, signal, condition, value, timeout);
}

hsa_signal_value_t sleep_scacquire(hsa_signal_t signal, hsa_signal_condition_t condition,
                                   hsa_signal_value_t value, uint64_t timeout, hsa_wait_state_t) {
  return sleep_with(wait_scacquire, signal, condition, value, timeout);
}

}  // namespace

void let_waits_sleep(HsaApiTable& table) {
  wait_relaxed = table.core_->hsa_signal_wait_relaxed_fn;
  wait_scacquire = table.core_->hsa_signal_wait_scacquire_fn;
  system_get_info = table.core_->hsa_system_get_info_fn;
  table.core_->hsa_signal_wait_relaxed_fn = sleep_relaxed;
  table.core_->hsa_signal_wait_scacquire_fn = sleep_scacquire;
}

}  // namespace halyard::vgpu::machine
