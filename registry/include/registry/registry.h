// Registry: from a device URI to a Device.
//
// The search for plugins happens when the registry is made and opens no file. A plugin is loaded
// when it is needed: open_device("amdgpu") loads the candidates in the order of the search until
// one brings that driver, and passes over files whose names say that they hold another one
// (libhalyard_driver_hip.so). report() and drivers() load whatever is left, and so does every
// error: a report that is shown is complete. Who wins a name does not depend on that: it is always
// the first candidate, in the order of the search, whose driver can be made.
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

// A name that stands for one device or for several. Opened as one, those are a logical device.
struct NamedDevice {
  std::string name;  // as a driver's is written: [a-z][a-z0-9_]*
  std::vector<DeviceUri> devices;
};

struct RegistryOptions {
  DiscoveryOptions discovery = {};
  std::vector<DriverOption> driver_options = {};
  std::vector<DisabledDriver> disabled_drivers = {};
  // They come before drivers of the same name.
  std::vector<NamedDevice> devices = {};
  // Of the devices that are opened, unless their URI says otherwise: ?validation=full or none.
  bool validation = true;
  // The options of a device of the driver and the processor ("gfx90a"); of a logical device those
  // of its first GPU. What a URI says wins. Empty: none. Any thread may call it.
  std::function<std::vector<DeviceUriOption>(std::string_view driver, std::string_view processor)>
      device_options = {};
};

// A driver that is loaded, and the devices it has listed. The views live as long as the driver.
struct LoadedDriver {
  std::string name;
  std::string version;      // the plugin's
  std::string description;  // one line
  std::string path;         // the plugin's
  Ref<Driver> driver;
  std::vector<DeviceSummary> devices;
};

// Any thread may use any method. Devices and drivers may outlive the registry.
class Registry {
 public:
  static std::unique_ptr<Registry> create(const RegistryOptions& options = {});
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  // What became of every candidate; loads those that nobody has asked for so far.
  LoadReport report();
  // What report() would say, but found out by processes of its own, which this one forks: a plugin
  // that crashes, calls exit() or does not return within `timeout` is a reason in the report, and
  // not this process's end. Loads nothing here. Call it before the program starts threads, whose
  // locks a forked process would inherit. Fails only if the system gives no process.
  Result<LoadReport> probe(std::chrono::milliseconds timeout) const;
  // As far as things are now; loads nothing.
  LoadReport report_so_far() const;

  // The drivers there are, sorted by name. Loads all.
  std::vector<LoadedDriver> drivers();
  // One of them. NOT_FOUND, or what kept it from starting, with the report.
  Result<LoadedDriver> driver(std::string_view name);

  // parse_device_uri, whose error also lists the devices there are and loads every plugin for that.
  Result<DeviceUri> parse(std::string_view text);
  // What `uri` stands for: itself, or if it is the name of a NamedDevice that one's devices, to
  // which the URI's own options are added. Loads nothing.
  Result<std::vector<DeviceUri>> resolve(const DeviceUri& uri) const;
  // The same, GPU by GPU: each with its ordinal. Loads the driver.
  Result<std::vector<DeviceUri>> gpus(const DeviceUri& uri);

  // One device; if the URI, or all that the name stands for, means several GPUs, a logical device
  // of them (Device::gpu). `options` come on top of the URI's own and win over them.
  // FAILED_PRECONDITION for a name that stands for devices of several drivers or with different
  // options.
  Result<Ref<Device>> open_device(std::string_view uri, Span<const Option> options = {});
  Result<Ref<Device>> open_device(const DeviceUri& uri, Span<const Option> options = {});
  // One for each URI that the name stands for, in its order; each may be a logical device.
  Result<std::vector<Ref<Device>>> open_devices(std::string_view uri,
                                                Span<const Option> options = {});

 private:
  struct State;
  // GPUs of one driver.
  struct Chosen {
    Ref<Driver> driver;
    std::vector<uint32_t> ordinals;
    std::string processor;  // of the first
  };
  // `uris` are of one driver.
  Result<Chosen> choose(const std::vector<DeviceUri>& uris);
  Result<Ref<Device>> open_group(const std::vector<DeviceUri>& uris, Span<const Option> options);
  explicit Registry(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace halyard
