// HALYARD_PLUGIN: defines `halyard_plugin`, the C function of a driver plugin
// (hal/contract/driver.h), for a driver in C++.
//
// The registry opens each candidate with RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE, finds the function
// and calls it once with the host's ABI version. The plugin answers with its own. Only then does
// the registry call create_driver.
//
// Declare a driver with halyard_add_driver() (plugins/HalyardDriver.cmake), which hides every other
// symbol, and define it with HALYARD_PLUGIN; plugins/skeleton is an example to clone.
#pragma once

#include "hal/contract/driver.h"
#include "hal/contract/objects.h"

namespace halyard::driver {

// HalyardPlugin::create_driver for a Status(Span<const Option>, halyard::Driver**).
template <auto create>
HalyardStatus* create_driver(HalyardOptions options, HalyardDriver** driver) {
  Given<halyard::Driver**> made(driver);
  return guarded([&] { return create(std::bit_cast<Span<const Option>>(options), made.get()); })
      .leak();
}

}  // namespace halyard::driver

// Writes `message` to plugin->error, cut to its size.
inline void halyard_plugin_say(HalyardPlugin* plugin, const char* message) {
  size_t i = 0;
  if (plugin->error == nullptr || plugin->error_size == 0) return;
  for (; message[i] != '\0' && i + 1 < plugin->error_size; ++i) plugin->error[i] = message[i];
  plugin->error[i] = '\0';
}

// Defines the entry point. `create` is a Status(Span<const Option>, halyard::Driver**) that makes
// the driver; the caller owns the reference. A host of another major gets only the two numbers, and
// reports the mismatch.
#define HALYARD_PLUGIN(plugin_name, plugin_version, plugin_description, create)                 \
  extern "C" __attribute__((visibility("default"))) int halyard_plugin(const HalyardHost* host, \
                                                                       HalyardPlugin* plugin) { \
    plugin->abi_major = HALYARD_ABI_MAJOR;                                                      \
    plugin->abi_minor = HALYARD_ABI_MINOR;                                                      \
    if (host->abi_major != HALYARD_ABI_MAJOR) return 0;                                         \
    if (plugin->struct_size < sizeof(HalyardPlugin)) {                                          \
      halyard_plugin_say(plugin,                                                                \
                         "This program's HalyardPlugin is smaller than the plugin's; "          \
                         "use a newer program or build the plugin against this one.");          \
      return 1;                                                                                 \
    }                                                                                           \
    plugin->struct_size = sizeof(HalyardPlugin);                                                \
    plugin->name = plugin_name;                                                                 \
    plugin->version = plugin_version;                                                           \
    plugin->description = plugin_description;                                                   \
    plugin->create_driver = &halyard::driver::create_driver<create>;                            \
    return 0;                                                                                   \
  }
