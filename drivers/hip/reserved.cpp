#include "drivers/hip/reserved.h"

#include "drivers/hip/device.h"
#include "drivers/hip/stream.h"
#include "hal/error.h"

namespace halyard::hip {

namespace {

hipMemGenericAllocationHandle_t handle_of(uint64_t memory) {
  return reinterpret_cast<hipMemGenericAllocationHandle_t>(memory);
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
  if (Hip::is_over() || Streams::instance().blocks(device_.facts().device)) return;
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
  device_.memory().free_piece(length, handle_of(memory));
  return {};
}

}  // namespace halyard::hip
