// DriverImpl: the driver "hip", over one HIP runtime.
#pragma once

#include <vector>

#include "drivers/hip/facts.h"
#include "drivers/hip/hip.h"
#include "plugins/sdk/vendor_driver.h"

namespace halyard::hip {

inline constexpr const char* kDriverName = "hip";
inline constexpr const char* kDriverVersion = "0.1.0";
inline constexpr const char* kDriverDescription = "AMD GPUs, on the HIP runtime";

class DriverImpl final : public VendorDriver {
 public:
  // Opens the library; does not start it.
  static Status create(Span<const Option> options, Driver** driver);

 private:
  explicit DriverImpl(Hip& hip) : VendorDriver(kDriverName, kDriverDescription, hip), hip_(hip) {}
  ~DriverImpl() = default;
  void destroy() noexcept override { delete this; }

  Status list_devices(std::vector<DeviceSummary>* devices) override;
  Result<Ref<Device>> open_device(uint32_t ordinal, const DeviceOptions& options) override;

  Hip& hip_;
  std::vector<GpuFacts> gpus_;
};

}  // namespace halyard::hip
