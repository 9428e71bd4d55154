// The thunk's functions for memory.
#include "vgpu/thunk/api.h"

namespace {

HSAKMT_STATUS map(halyard::vgpu::thunk::Driver& driver, void* address, HSAuint64 size,
                  HSAuint64* alternate, const HSAuint32* nodes, HSAuint64 count) {
  uint64_t gpu_address = 0;
  const HSAKMT_STATUS status = driver.memory().map(address, size, nodes, count, &gpu_address);
  if (alternate != nullptr && status == HSAKMT_STATUS_SUCCESS) *alternate = gpu_address;
  return status;
}

}  // namespace

HALYARD_THUNK_API HSAKMT_STATUS hsaKmtAllocMemory(HSAuint32 node, HSAuint64 size, HsaMemFlags flags,
                                                  void** address) {
  HALYARD_THUNK_OPEN(driver);
  return driver->memory().allocate(node, size, flags, address);
}

HALYARD_THUNK_API HSAKMT_STATUS hsaKmtFreeMemory(void* address, HSAuint64 /*size*/) {
  HALYARD_THUNK_OPEN(driver);
  return driver->memory().free(address);
}

HALYARD_THUNK_API HSAKMT_STATUS hsaKmtRegisterMemory(void* address, HSAuint64 size) {
  HALYARD_THUNK_OPEN(driver);
  HsaMemFlags flags = {};
  flags.ui32.HostAccess = 1;
  flags.ui32.CoarseGrain = 1;
  return driver->memory().register_user(address, size, flags);
}

HALYARD_THUNK_API HSAKMT_STATUS hsaKmtRegisterMemoryToNodes(void* address, HSAuint64 size,
                                                            HSAuint64 count, HSAuint32* nodes) {
  HALYARD_THUNK_OPEN(driver);
  return driver->memory().register_to_nodes(address, size, nodes, count);
}

HALYARD_THUNK_API HSAKMT_STATUS hsaKmtRegisterMemoryWithFlags(void* address, HSAuint64 size,
                                                              HsaMemFlags flags) {
  HALYARD_THUNK_OPEN(driver);
  // What is registered is ordinary memory of the host.
  if (flags.ui32.HostAccess != 1 || flags.ui32.NonPaged == 1) return HSAKMT_STATUS_NOT_SUPPORTED;
  return driver->memory().register_user(address, size, flags);
}

HALYARD_THUNK_API HSAKMT_STATUS hsaKmtDeregisterMemory(void* address) {
  HALYARD_THUNK_OPEN(driver);
  return driver->memory().deregister(address);
}

HALYARD_THUNK_API HSAKMT_STATUS hsaKmtMapMemoryToGPU(void* address, HSAuint64 size,
                                                     HSAuint64* alternate) {
  HALYARD_THUNK_OPEN(driver);
  return map(*driver, address, size, alternate, nullptr, 0);
}

HALYARD_THUNK_API HSAKMT_STATUS hsaKmtMapMemoryToGPUNodes(void* address, HSAuint64 size,
                                                          HSAuint64* alternate, HsaMemMapFlags,
                                                          HSAuint64 count, HSAuint32* nodes) {
  HALYARD_THUNK_OPEN(driver);
  if (count == 0 || nodes == nullptr) return HSAKMT_STATUS_INVALID_PARAMETER;
  return map(*driver, address, size, alternate, nodes, count);
}

HALYARD_THUNK_API HSAKMT_STATUS hsaKmtUnmapMemoryToGPU(void* address) {
  HALYARD_THUNK_OPEN(driver);
  return driver->memory().unmap(address);
}

HALYARD_THUNK_API HSAKMT_STATUS hsaKmtQueryPointerInfo(const void* address, HsaPointerInfo* info) {
  HALYARD_THUNK_OPEN(driver);
  return driver->memory().query(address, info);
}

HALYARD_THUNK_API HSAKMT_STATUS hsaKmtSetMemoryUserData(const void* address, void* data) {
  HALYARD_THUNK_OPEN(driver);
  return driver->memory().set_user_data(address, data);
}

HALYARD_THUNK_API HSAKMT_STATUS hsaKmtShareMemory(void* address, HSAuint64 size,
                                                  HsaSharedMemoryHandle* handle) {
  HALYARD_THUNK_OPEN(driver);
  if (handle == nullptr) return HSAKMT_STATUS_INVALID_PARAMETER;
  return driver->memory().share(address, size, *handle);
}

HALYARD_THUNK_API HSAKMT_STATUS hsaKmtRegisterSharedHandle(const HsaSharedMemoryHandle* handle,
                                                           void** address, HSAuint64* size) {
  HALYARD_THUNK_OPEN(driver);
  if (handle == nullptr) return HSAKMT_STATUS_INVALID_PARAMETER;
  return driver->memory().import(*handle, nullptr, 0, address, size);
}

HALYARD_THUNK_API HSAKMT_STATUS
hsaKmtRegisterSharedHandleToNodes(const HsaSharedMemoryHandle* handle, void** address,
                                  HSAuint64* size, HSAuint64 count, HSAuint32* nodes) {
  HALYARD_THUNK_OPEN(driver);
  if (handle == nullptr) return HSAKMT_STATUS_INVALID_PARAMETER;
  return driver->memory().import(*handle, nodes, count, address, size);
}
