// DriverImpl: the driver "hip", over one HIP runtime.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "drivers/hip/facts.h"
#include "drivers/hip/hip.h"
#include "hal/driver.h"

namespace halyard::hip {

inline constexpr const char* kDriverName = "hip";
inline constexpr const char* kDriverVersion = "0.1.0";
inline constexpr const char* kDriverDescription = "AMD GPUs, on the HIP runtime";

class DriverImpl final : public Driver {
 public:
  // Opens the library; does not start it.
  static Status create(const Span<const Option>* options, Driver** driver);

 private:
  explicit DriverImpl(Hip& hip) : hip_(hip) {}
  ~DriverImpl() = default;
  void destroy() noexcept override { delete this; }

  // Starts the runtime and lists the devices, once.
  Status discover();

  void do_info(DriverInfo* info) const override;
  Status do_enumerate(void (*sink)(void* context, const DeviceSummary& summary),
                      void* context) override;
  Status do_create_device(uint32_t ordinal, Span<const Option> options, Device** device) override;

  Hip& hip_;
  mutable std::mutex mutex_;
  bool discovered_ = false;      // under mutex_
  std::vector<GpuFacts> gpus_;   // written once, under mutex_
  mutable std::string version_;  // under mutex_; set once
};

}  // namespace halyard::hip
