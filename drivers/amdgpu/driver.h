// DriverImpl: the driver "amdgpu", over one HSA runtime.
#pragma once

#include <deque>
#include <mutex>
#include <string>

#include "drivers/amdgpu/agents.h"
#include "drivers/amdgpu/hsa.h"
#include "hal/driver.h"

namespace halyard::amdgpu {

inline constexpr const char* kDriverName = "amdgpu";
inline constexpr const char* kDriverVersion = "0.1.0";
inline constexpr const char* kDriverDescription = "AMD GPUs, straight on the HSA runtime";

class DriverImpl final : public Driver {
 public:
  // Opens the library; does not start it.
  static Status create(const Span<const Option>* options, Driver** driver);

 private:
  explicit DriverImpl(Hsa& hsa) : hsa_(hsa) {}
  ~DriverImpl() = default;
  void destroy() noexcept override { delete this; }

  // Starts the runtime and lists the agents, once.
  Status discover();

  void do_info(DriverInfo* info) const override;
  Status do_enumerate(void (*sink)(void* context, const DeviceSummary& summary),
                      void* context) override;
  Status do_create_device(uint32_t ordinal, Span<const Option> options, Device** device) override;

  Hsa& hsa_;
  mutable std::mutex mutex_;
  bool discovered_ = false;      // under mutex_
  Agents agents_;                // written once, under mutex_
  mutable std::string version_;  // under mutex_; set once
};

}  // namespace halyard::amdgpu
