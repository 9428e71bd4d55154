// VendorDriver: a driver over one vendor's runtime: its option, what it says of itself, and the
// list of its devices.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "hal/contract/objects.h"
#include "hal/driver.h"
#include "hal/ref.h"
#include "hal/status.h"
#include "plugins/sdk/device_options.h"
#include "plugins/sdk/vendor_runtime.h"

namespace halyard {

class VendorDriver : public driver::DriverBase {
 protected:
  // Text that lives as long as the process.
  VendorDriver(const char* name, const char* description, VendorRuntime& runtime,
               const DeviceOptionSet& options = {})
      : name_(name), description_(description), runtime_(runtime), options_(options) {}
  ~VendorDriver() = default;

  // The driver option that says where the library is; empty if it is not given. INVALID_ARGUMENT
  // for any other option.
  static Result<std::string_view> library_path(const char* driver, const VendorLibrary& library,
                                               Span<const Option> options);

 private:
  // What devices there are, called once. The texts live as long as this.
  virtual Status list_devices(std::vector<DeviceSummary>* devices) = 0;
  virtual Result<Ref<Device>> open_device(uint32_t ordinal, const DeviceOptions& options) = 0;

  // Starts the runtime and lists the devices, once.
  Status discover();

  void do_info(DriverInfo* info) const final;
  Status do_device_options(DeviceOptionSink sink, void* context) final {
    list_device_options(options_, sink, context);
    return {};
  }
  Status do_enumerate(DeviceSink sink, void* context) final;
  Status do_create_device(uint32_t ordinal, Span<const Option> options, Device** device) final;

  const char* const name_;
  const char* const description_;
  VendorRuntime& runtime_;
  const DeviceOptionSet options_;
  mutable std::mutex mutex_;
  bool discovered_ = false;             // under mutex_
  std::vector<DeviceSummary> devices_;  // written once, under mutex_
  std::string version_;                 // under mutex_; set once
  std::string uses_;                    // the same
};

}  // namespace halyard
