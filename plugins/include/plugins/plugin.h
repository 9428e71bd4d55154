// HALYARD_PLUGIN: the one C function of a driver plugin, `halyard_plugin` (plugins/driver.h), for a
// driver in C++.
//
// The registry opens each candidate with RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE, looks the function
// up and calls it once with what the host speaks. The plugin answers with what it speaks. Only then
// is create_driver called.
//
// A driver is declared with halyard_add_driver() (plugins/HalyardDriver.cmake), which hides every
// other symbol, and defined with HALYARD_PLUGIN; plugins/skeleton is one to clone.
#pragma once

#include "plugins/driver.h"
#include "plugins/objects.h"

namespace halyard::driver {

// HalyardPlugin::create_driver of a Status(Span<const Option>, halyard::Driver**).
template <auto create>
HalyardStatus* create_driver(HalyardOptions options, HalyardDriver** driver) {
  Given<halyard::Driver**> made(driver);
  return guarded([&] { return create(std::bit_cast<Span<const Option>>(options), made.get()); })
      .leak();
}

}  // namespace halyard::driver

// Says `message` in plugin->error, cut to the room there is.
inline void halyard_plugin_say(HalyardPlugin* plugin, const char* message) {
  size_t i = 0;
  if (plugin->error == nullptr || plugin->error_size == 0) return;
  for (; message[i] != '\0' && i + 1 < plugin->error_size; ++i) plugin->error[i] = message[i];
  plugin->error[i] = '\0';
}

// Defines the entry point. `create` is a Status(Span<const Option>, halyard::Driver**), which makes
// the driver; the caller owns the reference. A host of another major gets the two numbers and
// nothing else: it then says what does not fit.
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
