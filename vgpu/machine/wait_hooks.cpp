#include "vgpu/machine/wait_hooks.h"

namespace halyard::vgpu::machine {
namespace {

// The functions that these stand in for. Written once, before the runtime is used.
decltype(hsa_signal_wait_relaxed)* wait_relaxed = nullptr;
decltype(hsa_signal_wait_scacquire)* wait_scacquire = nullptr;

hsa_signal_value_t sleep_relaxed(hsa_signal_t signal, hsa_signal_condition_t condition,
                                 hsa_signal_value_t value, uint64_t timeout, hsa_wait_state_t) {
  return wait_relaxed(signal, condition, value, timeout, HSA_WAIT_STATE_BLOCKED);
}

hsa_signal_value_t sleep_scacquire(hsa_signal_t signal, hsa_signal_condition_t condition,
                                   hsa_signal_value_t value, uint64_t timeout, hsa_wait_state_t) {
  return wait_scacquire(signal, condition, value, timeout, HSA_WAIT_STATE_BLOCKED);
}

}  // namespace

void let_waits_sleep(HsaApiTable& table) {
  wait_relaxed = table.core_->hsa_signal_wait_relaxed_fn;
  wait_scacquire = table.core_->hsa_signal_wait_scacquire_fn;
  table.core_->hsa_signal_wait_relaxed_fn = sleep_relaxed;
  table.core_->hsa_signal_wait_scacquire_fn = sleep_scacquire;
}

}  // namespace halyard::vgpu::machine
