// HSA signals as the packet processor sees them: amd_signal_t in host memory.
#pragma once

#include <hsa/amd_hsa_signal.h>

#include <atomic>
#include <cstdint>

#include "vgpu/queue/device.h"

namespace halyard::vgpu::queue {

inline int64_t load_signal(const amd_signal_t& signal) {
  return __atomic_load_n(&signal.value, __ATOMIC_ACQUIRE);
}

// How a signal's waiters are woken. The host can destroy or reuse the signal as soon as it sees a
// new value. So this is read before, and once, and only the checked address is written.
struct Wakeup {
  uint64_t mailbox = 0;  // 0: nobody sleeps on this signal
  uint32_t event = 0;
};

inline Wakeup wakeup_of(const amd_signal_t& signal) {
  return {__atomic_load_n(&signal.event_mailbox_ptr, __ATOMIC_RELAXED), signal.event_id};
}

// The signal's value has been written, sequentially consistently: Interrupts::raise may then skip
// an event that is still set. The mailbox is not checked here.
inline void wake(const Wakeup& wakeup, Interrupts& interrupts) {
  if (wakeup.mailbox == 0) return;
  __atomic_store_n(reinterpret_cast<uint64_t*>(static_cast<uintptr_t>(wakeup.mailbox)),
                   wakeup.event, __ATOMIC_RELEASE);
  interrupts.raise(wakeup.event);
}

}  // namespace halyard::vgpu::queue
