// The faulty driver: opens another driver's device (amdgpu) and puts
// a fault (option "fault") in front of it.
#include "hal/driver.h"

#include <memory>
#include <string>

#include "device.h"
#include "fault.h"
#include "hal/contract/guard.h"
#include "hal/contract/objects.h"
#include "hal/contract/plugin.h"
#include "hal/error.h"
#include "registry/registry.h"

namespace faulty {
namespace {

using halyard::Device;
using halyard::error;
using halyard::guarded;
using halyard::LoadedDriver;
using halyard::Option;
using halyard::Ref;
using halyard::Span;
using halyard::Status;
using halyard::StatusCode;

constexpr const char* kName = "faulty";
constexpr const char* kDescription = "Another driver with one fault in front, to test the suite";
constexpr const char* kInner = "amdgpu";

// The drivers below. Never destroyed, as devices may outlive the driver.
halyard::Registry& registry() {
  static halyard::Registry* const all = halyard::Registry::create().release();
  return *all;
}

class FaultyDriver final : public halyard::driver::DriverBase {
 private:
  using DeviceSink = void (*)(void* context, const halyard::DeviceSummary& summary);

  ~FaultyDriver() = default;
  void destroy() noexcept override { delete this; }

  void do_info(halyard::DriverInfo* info) const override {
    info->name = kName;
    info->description = kDescription;
  }

  // Listing happens when the plugin is loaded, and loading the other driver's from inside of that
  // would be too early: one device stands for whatever there will be.
  Status do_enumerate(DeviceSink sink, void* context) override {
    halyard::DeviceSummary summary;
    summary.name = "faulty";
    summary.target = "none";
    sink(context, summary);
    return {};
  }

  Status do_create_device(uint32_t ordinal, Span<const Option> options, Device** device) override {
    return guarded([&]() -> Status {
      Fault fault = Fault::kNone;
      for (const Option& option : options) {
        if (option.key.view() != "fault" || !find_fault(option.value.view(), &fault)) {
          return error(StatusCode::kInvalidArgument,
                       "The faulty driver does not know {}={}. It takes fault= with one of: {}.",
                       option.key, option.value, fault_names());
        }
      }
      HALYARD_ASSIGN_OR_RETURN(const LoadedDriver inner, registry().driver(kInner));
      HALYARD_ASSIGN_OR_RETURN(Ref<Device> opened, inner.driver->create_device(ordinal));
      *device = new FaultyDevice(opened, fault);
      return {};
    });
  }
};

Status create(Span<const Option>, halyard::Driver** driver) {
  return guarded([&]() -> Status {
    *driver = new FaultyDriver;
    return {};
  });
}

}  // namespace
}  // namespace faulty

HALYARD_PLUGIN(faulty::kName, "0.1", faulty::kDescription, faulty::create)
