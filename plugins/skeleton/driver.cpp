// Driver of the skeleton plugin, and its entry point.

#include "hal/driver.h"

#include "device.h"
#include "hal/error.h"
#include "plugins/guard.h"
#include "plugins/objects.h"
#include "plugins/plugin.h"

namespace skeleton {
namespace {

using halyard::error;
using halyard::guarded;
using halyard::Option;
using halyard::Span;
using halyard::Status;
using halyard::StatusCode;

constexpr const char* kName = "skeleton";
constexpr const char* kDescription = "A driver to clone; host memory, no GPU";

// This driver knows no option; a real one lists those that it knows.
Status refuse(Span<const Option> options) {
  if (options.empty()) return {};
  return error(StatusCode::kInvalidArgument,
               "The skeleton driver does not know the option ({}); it has none.", options[0].key);
}

class SkeletonDriver final : public halyard::driver::DriverBase {
 public:
  SkeletonDriver() = default;

 private:
  using DeviceSink = void (*)(void* context, const halyard::DeviceSummary& summary);

  ~SkeletonDriver() = default;
  void destroy() noexcept override { delete this; }

  // No vendor library, so library_name stays empty.
  void do_info(halyard::DriverInfo* info) const override {
    info->name = kName;
    info->description = kDescription;
  }

  Status do_enumerate(DeviceSink sink, void* context) override {
    halyard::DeviceSummary summary;
    summary.name = device_info().name;
    summary.target = device_info().target;
    summary.compute_units = device_info().compute_units;
    summary.memory_bytes = device_info().memory_bytes;
    sink(context, summary);
    return {};
  }

  Status do_create_device(uint32_t ordinal, Span<const Option> options,
                          halyard::Device** device) override {
    if (ordinal != 0) {
      return error(StatusCode::kNotFound,
                   "The skeleton driver has no device with the ordinal ({}); it has 0.", ordinal);
    }
    HALYARD_RETURN_IF_ERROR(refuse(options));
    return guarded([&]() -> Status {
      *device = new SkeletonDevice;
      return {};
    });
  }
};

Status create(Span<const Option> options, halyard::Driver** driver) {
  HALYARD_RETURN_IF_ERROR(refuse(options));
  return guarded([&]() -> Status {
    *driver = new SkeletonDriver;
    return {};
  });
}

}  // namespace
}  // namespace skeleton

HALYARD_PLUGIN(skeleton::kName, "0.1.0", skeleton::kDescription, skeleton::create)
