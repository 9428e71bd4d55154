#include "plugins/sdk/fault_listener.h"

#include <thread>
#include <utility>

#include "plugins/sdk/service_thread.h"

namespace halyard {

namespace {

constexpr int kSuccess = 0;           // HSAKMT_STATUS_SUCCESS
constexpr uint32_t kForever = ~0u;    // milliseconds
constexpr uint32_t kRecoverable = 0;  // HSA_EVENTID_MEMORY_RECOVERABLE

// ROCR's translation (Runtime::VMFaultHandler of 5.2.3).
uint32_t reasons_of(uint32_t failure) {
  constexpr uint32_t kErrorCorrection = 1u << 4;
  const uint32_t error = failure >> 6 & 7;  // 0: none, or in DRAM if the bit above is set
  uint32_t reasons = failure & 0xf;         // not present, read-only, not executable, host only
  if ((failure & 1u << 5) != 0) reasons |= 1u << 5;  // the address is not exact
  if ((failure & kErrorCorrection) != 0 && error == 0) reasons |= 1u << 4;
  if (error == 1) reasons |= 1u << 6;
  if (error == 2) reasons |= 1u << 4;
  if (error == 3) reasons |= 1u << 31;
  return reasons;
}

ThunkEvent* new_event(const ThunkEvents& thunk) {
  ThunkEventDescriptor descriptor;
  descriptor.type = kThunkMemoryEvent;
  ThunkEvent* event = nullptr;
  // It resets itself: whatever else makes a wait return, the next one sleeps.
  return thunk.create(&descriptor, false, false, &event) == kSuccess ? event : nullptr;
}

// Until a wait fails: the thunk is closed then, and nothing is left to hear.
void serve(const ThunkEvents& thunk, ThunkEvent* event,
           const std::function<void(const NodeFault&)>& handler) {
  while (event != nullptr && thunk.wait(event, kForever) == kSuccess) {
    if (event->fault.flags == kRecoverable) continue;
    // An event keeps its first fault. Another GPU's goes to a new event, which listens already
    // while this one is dealt with.
    ThunkEvent* const next = new_event(thunk);
    handler({event->fault.node, event->fault.address, reasons_of(event->fault.failure)});
    thunk.destroy(event);
    event = next;
  }
}

}  // namespace

bool has_interrupt(uint64_t signal) {
  constexpr uint64_t kEventMailbox = 16;  // amd_signal_t::event_mailbox_ptr (amd_hsa_signal.h)
  return *reinterpret_cast<const uint64_t*>(signal + kEventMailbox) != 0;
}

bool listen_for_memory_faults(const ThunkEvents& thunk,
                              std::function<void(const NodeFault&)> handler) {
  if (thunk.create == nullptr || thunk.destroy == nullptr || thunk.wait == nullptr) return false;
  ThunkEvent* const event = new_event(thunk);
  if (event == nullptr) return false;
  std::thread thread = start_service_thread(
      "halyard-faults",
      [thunk, event, handler = std::move(handler)] { serve(thunk, event, handler); });
  if (!thread.joinable()) {
    thunk.destroy(event);
    return false;
  }
  thread.detach();
  return true;
}

}  // namespace halyard
