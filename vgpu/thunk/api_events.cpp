// The thunk's functions for events.
#include "vgpu/thunk/api.h"

HALYARD_THUNK_API HSAKMT_STATUS hsaKmtCreateEvent(HsaEventDescriptor* descriptor, bool manual_reset,
                                                  bool is_signaled, HsaEvent** event) {
  HALYARD_THUNK_OPEN(driver);
  if (descriptor == nullptr) return HSAKMT_STATUS_INVALID_PARAMETER;
  return driver->events().create(*descriptor, manual_reset, is_signaled, event);
}

HALYARD_THUNK_API HSAKMT_STATUS hsaKmtDestroyEvent(HsaEvent* event) {
  HALYARD_THUNK_OPEN(driver);
  return driver->events().destroy(event);
}

HALYARD_THUNK_API HSAKMT_STATUS hsaKmtSetEvent(HsaEvent* event) {
  HALYARD_THUNK_OPEN(driver);
  return driver->events().set(event);
}

HALYARD_THUNK_API HSAKMT_STATUS hsaKmtResetEvent(HsaEvent* event) {
  HALYARD_THUNK_OPEN(driver);
  return driver->events().reset(event);
}

HALYARD_THUNK_API HSAKMT_STATUS hsaKmtQueryEventState(HsaEvent* event) {
  HALYARD_THUNK_OPEN(driver);
  return driver->events().state(event);
}

HALYARD_THUNK_API HSAKMT_STATUS hsaKmtWaitOnEvent(HsaEvent* event, HSAuint32 milliseconds) {
  HALYARD_THUNK_OPEN(driver);
  return driver->events().wait(&event, 1, false, milliseconds);
}

HALYARD_THUNK_API HSAKMT_STATUS hsaKmtWaitOnMultipleEvents(HsaEvent* events[], HSAuint32 count,
                                                           bool all, HSAuint32 milliseconds) {
  HALYARD_THUNK_OPEN(driver);
  return driver->events().wait(events, count, all, milliseconds);
}
