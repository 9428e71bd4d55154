#include "drivers/hip/reserved.h"

#include <atomic>

#include "drivers/hip/device.h"
#include "drivers/hip/stream.h"
#include "hal/error.h"
#include "plugins/sdk/exit_handler.h"

namespace halyard::hip {

namespace {

hipMemGenericAllocationHandle_t handle_of(uint64_t memory) {
  return reinterpret_cast<hipMemGenericAllocationHandle_t>(memory);
}

std::atomic<uint32_t> mappings{0};

// HIP's end shuts HSA down, which then calls a deleted agent for each mapping that is left
// (SIGSEGV, seen with 6.4.3). HSA counts its users, so with one more it goes on. Handlers run in
// the reverse order, so this runs before HIP's.
void keep_hsa_for_mappings(const Hip& hip) {
  static auto* const init = hip.hsa_init;
  static const int registered = at_exit_of_this_process<[] {
    if (init != nullptr && mappings.load() != 0) init();
  }>();
  static_cast<void>(registered);
}

}  // namespace

bool has_virtual_memory(const Hip& hip, int device) {
  int supported = 0;
  if (hip.major() < 6 || hip.hipMemAddressReserve == nullptr || hip.hipMemAddressFree == nullptr ||
      hip.hipMemGetAllocationGranularity == nullptr || hip.hipMemCreate == nullptr ||
      hip.hipMemRelease == nullptr || hip.hipMemMap == nullptr || hip.hipMemUnmap == nullptr ||
      hip.hipMemSetAccess == nullptr ||
      hip.hipDeviceGetAttribute(&supported, hipDeviceAttributeVirtualMemoryManagementSupported,
                                device) != hipSuccess ||
      supported == 0) {
    return false;
  }
  hipMemAllocationProp properties;
  properties.location.id = device;
  size_t granule = 0;
  return hip.hipMemGetAllocationGranularity(&granule, &properties,
                                            hipMemAllocationGranularityRecommended) == hipSuccess &&
         granule != 0 && kCommitGranule % granule == 0;
}

Result<std::shared_ptr<Reserved>> Reserved::make(DeviceImpl& device, uint64_t size) {
  const Hip& hip = device.hip();
  const CurrentDevice current(hip, device.facts().device);
  void* begin = nullptr;
  HALYARD_RETURN_IF_ERROR(
      check(hip, hip.hipMemAddressReserve(&begin, size, 0, nullptr, 0),
            fmt::format("Reserving {} bytes of addresses on {}", size, device.info().name)));
  return std::make_shared<Reserved>(device, static_cast<std::byte*>(begin), size);
}

// If HIP would wait for ever, or is gone, the memory goes with the process.
Reserved::~Reserved() {
  if (Hip::process_ends() || Streams::instance().blocks(device_.facts().device)) return;
  const CurrentDevice current(device_.hip(), device_.facts().device);
  decommit_all();
  device_.hip().hipMemAddressFree(begin_, size_);
}

Status Reserved::check_waits_end(const char* operation) const {
  Streams& streams = Streams::instance();
  const int device = device_.facts().device;
  HALYARD_RETURN_IF_ERROR(streams.fault_of(device));
  if (!streams.blocks(device)) return {};
  return error(StatusCode::kUnavailable,
               "{} would wait for a lost queue of {}: HIP waits for its null stream, which can "
               "share a hardware queue with that. Commit before work can be abandoned, or use the "
               "driver amdgpu.",
               operation, device_.info().name);
}

Status Reserved::map(uint64_t offset, uint64_t length, Handle* memory) {
  HALYARD_RETURN_IF_ERROR(check_waits_end("Device::commit"));
  const Hip& hip = device_.hip();
  const CurrentDevice current(hip, device_.facts().device);
  hipMemGenericAllocationHandle_t handle = nullptr;
  HALYARD_RETURN_IF_ERROR(device_.memory().allocate_piece(length, &handle));
  Status mapped =
      check(hip, hip.hipMemMap(begin_ + offset, length, 0, handle, 0),
            fmt::format("Mapping {} bytes of memory on {}", length, device_.info().name));
  if (!mapped.ok()) {
    device_.memory().free_piece(length, handle);
    return mapped;
  }
  keep_hsa_for_mappings(hip);
  mappings.fetch_add(1);
  *memory = reinterpret_cast<uint64_t>(handle);
  hipMemAccessDesc access;
  access.location.id = device_.facts().device;
  Status given =
      check(hip, hip.hipMemSetAccess(begin_ + offset, length, &access, 1),
            fmt::format("Giving {} access to {} bytes of memory", device_.info().name, length));
  if (given.ok()) return {};
  // hipMemMap succeeds even if nothing is mapped, and hipMemUnmap of that ends the process.
  void* base = nullptr;
  size_t size = 0;
  if (hip.hipMemGetAddressRange(&base, &size, begin_ + offset) == hipSuccess) {
    unmap(offset, length, *memory).ignore();
  } else {
    mappings.fetch_sub(1);
    device_.memory().free_piece(length, handle);
  }
  return given;
}

Status Reserved::unmap(uint64_t offset, uint64_t length, Handle memory) {
  HALYARD_RETURN_IF_ERROR(check_waits_end("Device::decommit"));
  const Hip& hip = device_.hip();
  const CurrentDevice current(hip, device_.facts().device);
  HALYARD_RETURN_IF_ERROR(
      check(hip, hip.hipMemUnmap(begin_ + offset, length),
            fmt::format("Unmapping {} bytes of memory on {}", length, device_.info().name)));
  mappings.fetch_sub(1);
  device_.memory().free_piece(length, handle_of(memory));
  return {};
}

}  // namespace halyard::hip
