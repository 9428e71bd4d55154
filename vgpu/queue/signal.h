// HSA signals as the packet processor sees them: amd_signal_t in host memory.
#pragma once

#include <hsa/amd_hsa_signal.h>

#include <atomic>
#include <cstdint>

#include "vgpu/queue/device.h"

namespace halyard::vgpu::queue {

inline amd_signal_t* signal_at(uint64_t handle) {
  return reinterpret_cast<amd_signal_t*>(static_cast<uintptr_t>(handle));
}

inline int64_t load_signal(uint64_t handle) {
  return __atomic_load_n(&signal_at(handle)->value, __ATOMIC_ACQUIRE);
}

// The time stamps of a finished packet, then value -= 1 (or, for several packets that finish at
// once, -= count), then the sleepers.
//
// The host may destroy the signal as soon as it sees the new value, so everything needed afterwards
// is read before. The decrement is sequentially consistent (on x86 what a release costs anyway):
// Interrupts::raise may then skip an event that is still set.
//
// True if the signal has an event: then somebody may be waiting for it.
inline bool complete_signal(uint64_t handle, int64_t count, uint64_t start, uint64_t end,
                            Interrupts& interrupts) {
  amd_signal_t* const signal = signal_at(handle);
  const uint64_t mailbox = signal->event_mailbox_ptr;
  const uint32_t event = signal->event_id;
  signal->start_ts = start;
  signal->end_ts = end;
  __atomic_fetch_sub(&signal->value, count, __ATOMIC_SEQ_CST);
  if (mailbox == 0) return false;
  __atomic_store_n(reinterpret_cast<uint64_t*>(static_cast<uintptr_t>(mailbox)), event,
                   __ATOMIC_RELEASE);
  interrupts.raise(event);
  return true;
}

// Stores a value, as an error does into queue_inactive_signal, and wakes the sleepers.
inline void store_signal(uint64_t handle, int64_t value, Interrupts& interrupts) {
  amd_signal_t* const signal = signal_at(handle);
  const uint64_t mailbox = signal->event_mailbox_ptr;
  const uint32_t event = signal->event_id;
  __atomic_store_n(&signal->value, value, __ATOMIC_SEQ_CST);
  if (mailbox == 0) return;
  __atomic_store_n(reinterpret_cast<uint64_t*>(static_cast<uintptr_t>(mailbox)), event,
                   __ATOMIC_RELEASE);
  interrupts.raise(event);
}

}  // namespace halyard::vgpu::queue
