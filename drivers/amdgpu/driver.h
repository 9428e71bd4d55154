// DriverImpl: the driver "amdgpu", over one HSA runtime.
#pragma once

#include <vector>

#include "drivers/amdgpu/agents.h"
#include "drivers/amdgpu/hsa.h"
#include "plugins/sdk/vendor_driver.h"

namespace halyard::amdgpu {

inline constexpr const char* kDriverName = "amdgpu";
inline constexpr const char* kDriverVersion = "0.1.0";
inline constexpr const char* kDriverDescription = "AMD GPUs, straight on the HSA runtime";

class DriverImpl final : public VendorDriver {
 public:
  // Opens the library; does not start it.
  static Status create(Span<const Option> options, Driver** driver);

 private:
  explicit DriverImpl(Hsa& hsa)
      : VendorDriver(kDriverName, kDriverDescription, hsa, {.copy_engine = true, .kernarg = true}),
        hsa_(hsa) {}
  ~DriverImpl() = default;
  void destroy() noexcept override { delete this; }

  Status list_devices(std::vector<DeviceSummary>* devices) override;
  Result<Ref<Device>> open_device(uint32_t ordinal, const DeviceOptions& options) override;

  Hsa& hsa_;
  Agents agents_;
};

}  // namespace halyard::amdgpu
