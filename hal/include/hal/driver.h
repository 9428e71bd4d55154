// Driver: the object that a plugin creates. Lists and opens the devices of a vendor runtime.
#pragma once

#include <cstdint>
#include <vector>

#include "hal/device.h"
#include "hal/object.h"
#include "hal/ref.h"
#include "hal/status.h"
#include "hal/types.h"

namespace halyard {

struct DriverInfo {
  uint32_t struct_size = sizeof(DriverInfo);
  StringView name;          // "amdgpu"
  StringView description;   // one line
  StringView library_name;  // "libhsa-runtime64.so.1"; empty if the driver needs none
  StringView library_path;  // its real path, symbolic links resolved
  StringView library_version;
  // What the driver uses that not every release of the library, or of the kernel driver below it,
  // has: "dma-bufs, reserved buffers". Since 2.1.
  StringView library_uses;
};

// The facts of a device before it is opened.
struct DeviceSummary {
  uint32_t struct_size = sizeof(DeviceSummary);
  uint32_t ordinal = 0;
  StringView name;
  StringView uuid;
  StringView target;
  uint32_t compute_units = 0;
  uint64_t memory_bytes = 0;
  // "0000:c1:00.0" (domain, bus, device, function; Linux's form, lower case); empty
  // if the device is not on a PCI bus.
  StringView pci_address;
};

// An option that a device of a driver may be opened with.
struct DeviceOptionInfo {
  uint32_t struct_size = sizeof(DeviceOptionInfo);
  uint32_t reserved = 0;
  StringView key;
  StringView meaning;  // a noun phrase: "how many queues of the device may live at a time"
  StringView values;   // what is legal: "a whole number from 1 to 1024"
};

// A GPU of a logical device, and the options that it is opened with.
struct GpuChoice {
  uint32_t ordinal = 0;
  Span<const Option> options = {};
};

// Any thread may use any method.
class Driver : public Object<HalyardDriver> {
 public:
  // Calls a plugin's create_driver (hal/contract/driver.h) with these options.
  static Result<Ref<Driver>> create(decltype(HalyardPlugin::create_driver) create_driver,
                                    Span<const Option> options);

  DriverInfo info() const;

  // The devices, ordered by ordinal. An empty list means that there is no device; it is not an
  // error. UNAVAILABLE if the vendor runtime fails. The views live as long as the driver.
  Result<std::vector<DeviceSummary>> enumerate();

  // The options that create_device knows. The views live as long as the driver. UNIMPLEMENTED with
  // a driver that does not say (the contract before 2.1 had no way to).
  Result<std::vector<DeviceOptionInfo>> device_options();
  // INVALID_ARGUMENT for a key that is not among them, with those that are. OK for any with a
  // driver that does not say: create_device refuses what such a driver does not know.
  Status check_device_options(Span<const Option> options);

  // NOT_FOUND lists the existing ordinals. An unknown option is INVALID_ARGUMENT, and the error
  // lists the legal ones.
  Result<Ref<Device>> create_device(uint32_t ordinal, Span<const Option> options = {});

  // One logical device of the GPUs with these ordinals, in this order (Device::gpu). For one
  // ordinal, the same as create_device. INVALID_ARGUMENT for none, or for a repeated one.
  Result<Ref<Device>> create_logical_device(Span<const uint32_t> ordinals,
                                            Span<const Option> options = {});
  // The same, each GPU with options of its own.
  Result<Ref<Device>> create_logical_device_of(Span<const GpuChoice> gpus);

 protected:
  Driver() noexcept = default;  // by the driver SDK
  ~Driver() = default;
};

}  // namespace halyard
