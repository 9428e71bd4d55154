#include "drivers/amdgpu/reserved.h"

#include <memory>

#include "drivers/amdgpu/device.h"
#include "hal/error.h"
#include "plugins/sdk/reserved_memory.h"

namespace halyard::amdgpu {

namespace {

// Of hsa.h since ROCm 6.0.
constexpr auto kVirtualMemorySupported = static_cast<hsa_system_info_t>(0x205);

class Reserved final : public ReservedMemory {
 public:
  Reserved(DeviceImpl& device, uint64_t size) : device_(device), size_(size) {}
  ~Reserved() override {
    if (begin_ == nullptr) return;
    decommit_all();
    device_.hsa().hsa_amd_vmem_address_free(begin_, size_);
  }

  // Before anything else.
  Status take_addresses();
  std::byte* begin() const { return begin_; }

 private:
  Status map(uint64_t offset, uint64_t length, Handle* memory) override;
  Status unmap(uint64_t offset, uint64_t length, Handle memory) override;

  DeviceImpl& device_;
  std::byte* begin_ = nullptr;  // null while it has no addresses
  const uint64_t size_;
};

Status Reserved::take_addresses() {
  const Hsa& hsa = device_.hsa();
  void* begin = nullptr;
  HALYARD_RETURN_IF_ERROR(
      check(hsa, hsa.hsa_amd_vmem_address_reserve(&begin, size_, 0, 0),
            fmt::format("Reserving {} bytes of addresses on {}", size_, device_.info().name)));
  begin_ = static_cast<std::byte*>(begin);
  return {};
}

Status Reserved::map(uint64_t offset, uint64_t length, Handle* memory) {
  const Hsa& hsa = device_.hsa();
  VmemHandle handle{};
  HALYARD_RETURN_IF_ERROR(device_.memory().allocate_piece(length, &handle));
  Status mapped =
      check(hsa, hsa.hsa_amd_vmem_map(begin_ + offset, length, 0, handle, 0),
            fmt::format("Mapping {} bytes of memory on {}", length, device_.info().name));
  if (!mapped.ok()) {
    device_.memory().free_piece(length, handle);
    return mapped;
  }
  const VmemAccess access{VmemAccess::kReadWrite, device_.agent()};
  const Status given =
      check(hsa, hsa.hsa_amd_vmem_set_access(begin_ + offset, length, &access, 1),
            fmt::format("Giving {} access to {} bytes of memory", device_.info().name, length));
  *memory = handle.handle;
  if (!given.ok()) unmap(offset, length, *memory).ignore();
  return given;
}

Status Reserved::unmap(uint64_t offset, uint64_t length, Handle memory) {
  const Hsa& hsa = device_.hsa();
  HALYARD_RETURN_IF_ERROR(
      check(hsa, hsa.hsa_amd_vmem_unmap(begin_ + offset, length),
            fmt::format("Unmapping {} bytes of memory on {}", length, device_.info().name)));
  device_.memory().free_piece(length, {memory});
  return {};
}

}  // namespace

bool has_virtual_memory(const Hsa& hsa) {
  if (hsa.hsa_amd_vmem_address_reserve == nullptr || hsa.hsa_amd_vmem_address_free == nullptr ||
      hsa.hsa_amd_vmem_handle_create == nullptr || hsa.hsa_amd_vmem_handle_release == nullptr ||
      hsa.hsa_amd_vmem_map == nullptr || hsa.hsa_amd_vmem_unmap == nullptr ||
      hsa.hsa_amd_vmem_set_access == nullptr)
    return false;
  bool supported = false;
  return hsa.hsa_system_get_info(kVirtualMemorySupported, &supported) == HSA_STATUS_SUCCESS &&
         supported;
}

Result<Backing> reserve(DeviceImpl& device, uint64_t size) {
  const auto reserved = std::make_shared<Reserved>(device, size);
  HALYARD_RETURN_IF_ERROR(reserved->take_addresses());
  Backing backing;
  backing.device = reserved->begin();
  backing.host = backing.device;
  backing.size = size;
  backing.reserved = reserved;
  // Its destructor gives everything back.
  backing.release = [kept = backing.reserved]() mutable { kept.reset(); };
  return backing;
}

}  // namespace halyard::amdgpu
