// The thunk's functions for the device as a whole: opening, topology, clocks, modes.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "vgpu/thunk/api.h"
#include "vgpu/thunk/topology.h"

namespace {

using halyard::vgpu::thunk::Driver;
using halyard::vgpu::thunk::Topology;

// The kernel interface that is played: with 1.4 and above, all of the node's capability bits are
// believed.
constexpr uint32_t kInterfaceMajor = 1;
constexpr uint32_t kInterfaceMinor = 11;

const Topology& topology(Driver& driver) {
  static const Topology* const instance = [&driver] {
    auto* const made = new Topology(driver.profile());
    for (uint32_t node = 1; node < driver.node_count(); ++node)
      driver.watch_window(node, made->hdp_flush(node));
    return made;
  }();
  return *instance;
}

uint64_t nanoseconds(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000 + static_cast<uint64_t>(time.tv_nsec);
}

template <typename T>
HSAKMT_STATUS copy_out(const std::vector<T>& from, uint32_t count, T* to) {
  if (to == nullptr && count != 0) return HSAKMT_STATUS_INVALID_PARAMETER;
  std::copy_n(from.begin(), std::min<size_t>(count, from.size()), to);
  return HSAKMT_STATUS_SUCCESS;
}

}  // namespace

HALYARD_THUNK_API HSAKMT_STATUS hsaKmtOpenKFD() {
  const HSAKMT_STATUS status = halyard::vgpu::thunk::open_driver();
  if (status != HSAKMT_STATUS_SUCCESS) return status;
  // This thunk brings no page for events: the GPUs write to the driver's own.
  auto& driver = *halyard::vgpu::thunk::driver();
  auto* const mailboxes = driver.events().mailboxes();
  const uint64_t bytes = driver.events().mailbox_bytes();
  const auto begin = reinterpret_cast<uintptr_t>(mailboxes);
  if (!driver.memory().all_memory().find(begin).contains(begin, bytes))
    driver.memory().add_internal(mailboxes, bytes);
  return status;
}

HALYARD_THUNK_API HSAKMT_STATUS hsaKmtCloseKFD() {
  return halyard::vgpu::thunk::close_driver();
}

HALYARD_THUNK_API HSAKMT_STATUS hsaKmtGetVersion(HsaVersionInfo* info) {
  HALYARD_THUNK_OPEN(driver);
  if (info == nullptr) return HSAKMT_STATUS_INVALID_PARAMETER;
  info->KernelInterfaceMajorVersion = kInterfaceMajor;
  info->KernelInterfaceMinorVersion = kInterfaceMinor;
  return HSAKMT_STATUS_SUCCESS;
}

HALYARD_THUNK_API HSAKMT_STATUS hsaKmtAcquireSystemProperties(HsaSystemProperties* properties) {
  HALYARD_THUNK_OPEN(driver);
  if (properties == nullptr) return HSAKMT_STATUS_INVALID_PARAMETER;
  std::memset(properties, 0, sizeof *properties);
  properties->NumNodes = topology(*driver).node_count();
  return HSAKMT_STATUS_SUCCESS;
}

HALYARD_THUNK_API HSAKMT_STATUS hsaKmtReleaseSystemProperties() {
  return HSAKMT_STATUS_SUCCESS;
}

HALYARD_THUNK_API HSAKMT_STATUS hsaKmtGetNodeProperties(HSAuint32 node,
                                                        HsaNodeProperties* properties) {
  HALYARD_THUNK_OPEN(driver);
  if (properties == nullptr) return HSAKMT_STATUS_INVALID_PARAMETER;
  if (!topology(*driver).has(node)) return HSAKMT_STATUS_INVALID_NODE_UNIT;
  *properties = topology(*driver).properties(node);
  return HSAKMT_STATUS_SUCCESS;
}

HALYARD_THUNK_API HSAKMT_STATUS hsaKmtGetNodeMemoryProperties(HSAuint32 node, HSAuint32 count,
                                                              HsaMemoryProperties* properties) {
  HALYARD_THUNK_OPEN(driver);
  if (!topology(*driver).has(node)) return HSAKMT_STATUS_INVALID_NODE_UNIT;
  return copy_out(topology(*driver).memory(node), count, properties);
}

HALYARD_THUNK_API HSAKMT_STATUS hsaKmtGetNodeCacheProperties(HSAuint32 node,
                                                             HSAuint32 /*processor*/,
                                                             HSAuint32 count,
                                                             HsaCacheProperties* properties) {
  HALYARD_THUNK_OPEN(driver);
  if (!topology(*driver).has(node)) return HSAKMT_STATUS_INVALID_NODE_UNIT;
  return copy_out(topology(*driver).caches(node), count, properties);
}

HALYARD_THUNK_API HSAKMT_STATUS hsaKmtGetNodeIoLinkProperties(HSAuint32 node, HSAuint32 count,
                                                              HsaIoLinkProperties* properties) {
  HALYARD_THUNK_OPEN(driver);
  if (!topology(*driver).has(node)) return HSAKMT_STATUS_INVALID_NODE_UNIT;
  return copy_out(topology(*driver).links(node), count, properties);
}

HALYARD_THUNK_API HSAKMT_STATUS hsaKmtGetClockCounters(HSAuint32 node, HsaClockCounters* counters) {
  HALYARD_THUNK_OPEN(driver);
  if (counters == nullptr) return HSAKMT_STATUS_INVALID_PARAMETER;
  if (node >= driver->node_count()) return HSAKMT_STATUS_INVALID_NODE_UNIT;
  std::memset(counters, 0, sizeof *counters);
  counters->GPUClockCounter = driver->clock(node).now();
  counters->CPUClockCounter = nanoseconds(CLOCK_MONOTONIC_RAW);
  // The runtime's system clock is CLOCK_BOOTTIME.
  counters->SystemClockCounter = nanoseconds(CLOCK_BOOTTIME);
  counters->SystemClockFrequencyHz = 1000000000;
  return HSAKMT_STATUS_SUCCESS;
}

HALYARD_THUNK_API HSAKMT_STATUS hsaKmtGetTileConfig(HSAuint32 node, HsaGpuTileConfig* config) {
  HALYARD_THUNK_OPEN(driver);
  if (config == nullptr) return HSAKMT_STATUS_INVALID_PARAMETER;
  if (driver->gpu(node) == nullptr) return HSAKMT_STATUS_INVALID_NODE_UNIT;
  // gfx9 has no tiling tables; GB_ADDR_CONFIG is what the image library reads (Vega 10's value).
  config->NumTileConfigs = 0;
  config->NumMacroTileConfigs = 0;
  config->GbAddrConfig = 0x2a114042;
  config->NumBanks = 16;
  config->NumRanks = 2;
  return HSAKMT_STATUS_SUCCESS;
}

HALYARD_THUNK_API HSAKMT_STATUS hsaKmtSetMemoryPolicy(HSAuint32 node, HSAuint32, HSAuint32, void*,
                                                      HSAuint64) {
  HALYARD_THUNK_OPEN(driver);
  if (driver->gpu(node) == nullptr) return HSAKMT_STATUS_INVALID_NODE_UNIT;
  return HSAKMT_STATUS_NOT_IMPLEMENTED;  // as the real thunk answers on everything after Kaveri
}

HALYARD_THUNK_API HSAKMT_STATUS hsaKmtGetXNACKMode(HSAint32* enable) {
  HALYARD_THUNK_OPEN(driver);
  static_cast<void>(driver);
  if (enable == nullptr) return HSAKMT_STATUS_INVALID_PARAMETER;
  *enable = 0;
  return HSAKMT_STATUS_SUCCESS;
}

HALYARD_THUNK_API HSAKMT_STATUS hsaKmtSetXNACKMode(HSAint32 enable) {
  HALYARD_THUNK_OPEN(driver);
  static_cast<void>(driver);
  return enable == 0 ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_NOT_SUPPORTED;
}

// No exception debugging: errors reach the runtime through queue_inactive_signal.
HALYARD_THUNK_API HSAKMT_STATUS hsaKmtRuntimeEnable(void*, bool) {
  HALYARD_THUNK_OPEN(driver);
  static_cast<void>(driver);
  return HSAKMT_STATUS_NOT_SUPPORTED;
}

HALYARD_THUNK_API HSAKMT_STATUS hsaKmtRuntimeDisable() {
  return HSAKMT_STATUS_SUCCESS;
}

// Traps end a dispatch with a report; no handler runs.
HALYARD_THUNK_API HSAKMT_STATUS hsaKmtSetTrapHandler(HSAuint32 node, void*, HSAuint64, void*,
                                                     HSAuint64) {
  HALYARD_THUNK_OPEN(driver);
  return driver->gpu(node) != nullptr ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_INVALID_NODE_UNIT;
}
