// The thunk's functions for queues.
#include "vgpu/thunk/api.h"

HALYARD_THUNK_API HSAKMT_STATUS hsaKmtCreateQueue(HSAuint32 node, HSA_QUEUE_TYPE type,
                                                  HSAuint32 percentage, HSA_QUEUE_PRIORITY priority,
                                                  void* address, HSAuint64 bytes,
                                                  HsaEvent* /*event*/, HsaQueueResource* resource) {
  HALYARD_THUNK_OPEN(driver);
  if (resource == nullptr || priority < HSA_QUEUE_PRIORITY_MINIMUM ||
      priority > HSA_QUEUE_PRIORITY_MAXIMUM) {
    return HSAKMT_STATUS_INVALID_PARAMETER;
  }
  return driver->create_queue(node, type, percentage, priority, address, bytes, *resource);
}

HALYARD_THUNK_API HSAKMT_STATUS hsaKmtUpdateQueue(HSA_QUEUEID id, HSAuint32 percentage,
                                                  HSA_QUEUE_PRIORITY priority, void*, HSAuint64,
                                                  HsaEvent*) {
  HALYARD_THUNK_OPEN(driver);
  if (priority < HSA_QUEUE_PRIORITY_MINIMUM || priority > HSA_QUEUE_PRIORITY_MAXIMUM) {
    return HSAKMT_STATUS_INVALID_PARAMETER;
  }
  return driver->update_queue(id, percentage, priority);
}

HALYARD_THUNK_API HSAKMT_STATUS hsaKmtDestroyQueue(HSA_QUEUEID id) {
  HALYARD_THUNK_OPEN(driver);
  return driver->destroy_queue(id);
}

HALYARD_THUNK_API HSAKMT_STATUS hsaKmtSetQueueCUMask(HSA_QUEUEID id, HSAuint32 bits,
                                                     HSAuint32* mask) {
  HALYARD_THUNK_OPEN(driver);
  return driver->set_cu_mask(id, bits, mask);
}

// No cooperative launch: nodes report no GWS barriers.
HALYARD_THUNK_API HSAKMT_STATUS hsaKmtAllocQueueGWS(HSA_QUEUEID id, HSAuint32, HSAuint32*) {
  HALYARD_THUNK_OPEN(driver);
  return driver->has_queue(id) ? HSAKMT_STATUS_NOT_SUPPORTED : HSAKMT_STATUS_INVALID_HANDLE;
}
