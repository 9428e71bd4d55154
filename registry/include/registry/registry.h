// Registry: from a device URI to a Device.
//
// The constructor searches for plugins and opens no file. The registry loads a plugin when it is
// needed: open_device("amdgpu") loads the candidates in the order of the search until one has that
// driver, and skips files whose names claim another driver (libhalyard_driver_hip.so). report(),
// drivers() and every error load the remaining ones, so a report is always complete. If two drivers
// have the same name, the first candidate in the order of the search wins whose driver can be
// created, whichever is loaded first.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hal/device.h"
#include "hal/driver.h"
#include "hal/ref.h"
#include "hal/status.h"
#include "registry/device_uri.h"
#include "registry/discovery.h"
#include "registry/load_report.h"
#include "registry/loader.h"

namespace halyard {

// A name for one or several devices. Several open as one logical device.
struct NamedDevice {
  std::string name;  // as a driver's is written: [a-z][a-z0-9_]*
  std::vector<DeviceUri> devices;
};

// An option of a device that a config has set.
struct ConfiguredOption {
  std::string key;
  std::string value;
  std::string origin;  // who has said so: "/etc/halyard/a.yaml:3:5"
};

struct RegistryOptions {
  DiscoveryOptions discovery = {};
  std::vector<DriverOption> driver_options = {};
  std::vector<DisabledDriver> disabled_drivers = {};
  // They take precedence over drivers of the same name.
  std::vector<NamedDevice> devices = {};
  // For programs that rather end than hang. A plugin that does not return within this time from one
  // step of its loading (its constructors, halyard_plugin, create_driver, enumerate) ends the
  // process, with exit code 1 and a line on standard error, because its thread cannot be stopped.
  // Zero: no limit.
  std::chrono::milliseconds load_timeout{0};
  // For opened devices, unless their URI overrides it: ?validation=full or none.
  bool validation = true;
  // The options of a device of the driver and the processor ("gfx90a"); each GPU of a logical
  // device has those of its own. `known` are the options that the driver lists
  // (Driver::device_options); none if it lists none. What a URI says wins. Empty: none. Any thread
  // may call it.
  std::function<std::vector<ConfiguredOption>(std::string_view driver, std::string_view processor,
                                              const std::vector<DeviceOptionInfo>& known)>
      device_options = {};
};

// A loaded driver, and the devices that it listed. The views live as long as the driver.
struct LoadedDriver {
  std::string name;
  std::string version;      // the plugin's
  std::string description;  // one line
  std::string path;         // the plugin's
  Ref<Driver> driver;
  std::vector<DeviceSummary> devices;
};

// Any thread may use any method. Devices and drivers may outlive the registry. In a child of fork()
// whose parent had started a driver, nothing can be opened (hal/fork.h).
class Registry {
 public:
  static std::unique_ptr<Registry> create(const RegistryOptions& options = {});
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  // The outcome for every candidate; loads those that are not loaded yet.
  LoadReport report();
  // Like report(), but loads the plugins in forked processes: a plugin that crashes, calls exit()
  // or does not return within `timeout` is a reason in the report, and does not end this process.
  // Loads nothing here. Call it before the program starts threads, because a forked process
  // inherits their locks. Fails only if the system cannot start a process.
  Result<LoadReport> probe(std::chrono::milliseconds timeout) const;
  // The current state; loads nothing.
  LoadReport report_so_far() const;

  // All drivers, sorted by name. Loads all.
  std::vector<LoadedDriver> drivers();
  // One driver. NOT_FOUND, or the reason why it does not start, with the report.
  Result<LoadedDriver> driver(std::string_view name);

  // Like parse_device_uri, but an error also lists the devices, for which it loads every plugin.
  Result<DeviceUri> parse(std::string_view text);
  // The meaning of `uri`: itself, or the devices of the NamedDevice with that name, with the URI's
  // options added. Loads nothing.
  Result<std::vector<DeviceUri>> resolve(const DeviceUri& uri) const;
  // The same for each GPU, with its ordinal. Loads the driver.
  Result<std::vector<DeviceUri>> gpus(const DeviceUri& uri);

  // Opens one device. If the URI or name stands for several GPUs, opens a logical
  // device of them (Device::gpu). `options` override the URI's.
  // FAILED_PRECONDITION if a name stands for devices of several drivers or with
  // different options.
  Result<Ref<Device>> open_device(std::string_view uri, Span<const Option> options = {});
  Result<Ref<Device>> open_device(const DeviceUri& uri, Span<const Option> options = {});
  // Opens a device for each URI of the name, in its order; each can be a logical device.
  Result<std::vector<Ref<Device>>> open_devices(std::string_view uri,
                                                Span<const Option> options = {});

 private:
  struct State;
  // GPUs of one driver.
  struct Chosen {
    Ref<Driver> driver;
    std::vector<uint32_t> ordinals;
    std::vector<std::string> processors;  // of each
  };
  // `uris` name one driver.
  Result<Chosen> choose(const std::vector<DeviceUri>& uris);
  Result<Ref<Device>> open_group(const std::vector<DeviceUri>& uris, Span<const Option> options);
  explicit Registry(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace halyard
