// Driver of the host_memory plugin, and its entry point.

#include "hal/driver.h"

#include <charconv>
#include <string_view>

#include "device.h"
#include "hal/contract/guard.h"
#include "hal/contract/objects.h"
#include "hal/contract/plugin.h"
#include "hal/error.h"

namespace host_memory {
namespace {

using halyard::error;
using halyard::guarded;
using halyard::Option;
using halyard::Span;
using halyard::Status;
using halyard::StatusCode;

constexpr const char* kName = "host_memory";
constexpr const char* kDescription = "A driver to clone; host memory, no GPU";

// Options of the driver as a whole, such as where its vendor library is: this one has none.
Status refuse(Span<const Option> options) {
  if (options.empty()) return {};
  return error(StatusCode::kInvalidArgument,
               "The host_memory driver does not know the option ({}); it has none.",
               options[0].key);
}

// Options of a device. The host refuses those that do_device_options does not list.
constexpr const char* kMemory = "memory_bytes";
constexpr const char* kMemoryValues = "a whole number from 4096 to 67108864";

Status read_memory(Span<const Option> options, uint64_t* bytes) {
  for (const Option& option : options) {
    const std::string_view text = option.value;
    const auto [end, trouble] = std::from_chars(text.data(), text.data() + text.size(), *bytes);
    const bool is_number = trouble == std::errc() && end == text.data() + text.size();
    if (is_number && *bytes >= 4096 && *bytes <= device_info().memory_bytes) continue;
    return error(StatusCode::kInvalidArgument, "The device option {} is given ({}). It is {}.",
                 option.key, option.value, kMemoryValues);
  }
  return {};
}

class HostMemoryDriver final : public halyard::driver::DriverBase {
 public:
  HostMemoryDriver() = default;

 private:
  ~HostMemoryDriver() = default;
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
                   "The host_memory driver has no device with the ordinal ({}); it has 0.",
                   ordinal);
    }
    uint64_t memory_bytes = device_info().memory_bytes;
    HALYARD_RETURN_IF_ERROR(read_memory(options, &memory_bytes));
    return guarded([&]() -> Status {
      *device = new HostMemoryDevice(memory_bytes);
      return {};
    });
  }

  Status do_device_options(DeviceOptionSink sink, void* context) override {
    halyard::DeviceOptionInfo memory;
    memory.key = kMemory;
    memory.meaning = "how many bytes each heap has";
    memory.values = kMemoryValues;
    sink(context, memory);
    return {};
  }
};

Status create(Span<const Option> options, halyard::Driver** driver) {
  HALYARD_RETURN_IF_ERROR(refuse(options));
  return guarded([&]() -> Status {
    *driver = new HostMemoryDriver;
    return {};
  });
}

}  // namespace
}  // namespace host_memory

HALYARD_PLUGIN(host_memory::kName, "0.1.0", host_memory::kDescription, host_memory::create)
