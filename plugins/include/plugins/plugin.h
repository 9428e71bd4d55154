// What makes a shared object a Halyard driver: one C function, `halyard_plugin`.
//
// The registry opens each candidate with RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE, looks the function
// up and calls it once with what the host speaks. The plugin answers with what it speaks. The
// majors must be equal; the minor in force is the smaller one: methods are only ever appended
// to the interface's classes, so a side never calls what the other does not have. Only then is
// create_driver called, and only through it does C++ cross the boundary.
//
// A driver is declared with halyard_add_driver() (plugins/HalyardDriver.cmake), which hides every
// other symbol, and defined with HALYARD_PLUGIN below; plugins/skeleton is one to clone.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define HALYARD_ABI_MAJOR 1u
#define HALYARD_ABI_MINOR 3u

#define HALYARD_PLUGIN_SYMBOL "halyard_plugin"

#ifdef __cplusplus
namespace halyard {
class Driver;
class Status;
struct Option;
template <typename T>
class Span;
}  // namespace halyard
extern "C" {
#endif

// What the host tells the plugin. Read no further than struct_size.
typedef struct HalyardHost {
  uint32_t struct_size;
  uint32_t abi_major;
  uint32_t abi_minor;
} HalyardHost;

// What the plugin tells the host. The host sets struct_size to what it has room for, and
// `error`/`error_size` to a buffer for a message; the plugin fills the rest, and sets struct_size
// to the bytes that it has filled. `abi_major` and `abi_minor` stay where they are in every major.
typedef struct HalyardPlugin {
  uint32_t struct_size;
  uint32_t abi_major;
  uint32_t abi_minor;
  const char* name;         // the driver's name in --device=NAME: [a-z][a-z0-9_]*
  const char* version;      // the plugin's own
  const char* description;  // one line
  char* error;
  size_t error_size;
#ifdef __cplusplus
  // Makes the driver. A failure says why there can be none (the vendor library is missing, …).
  // On success the caller owns the reference in *driver.
  halyard::Status (*create_driver)(const halyard::Span<const halyard::Option>* options,
                                   halyard::Driver** driver);
#else
  void (*create_driver)(void);
#endif
} HalyardPlugin;

// 0 on success. Anything else refuses the host; `plugin->error` then holds a sentence that says
// why.
typedef int (*HalyardPluginEntry)(const HalyardHost* host, HalyardPlugin* plugin);

#ifdef __cplusplus
}  // extern "C"

// Says `message` in plugin->error, cut to the room there is.
inline void halyard_plugin_say(HalyardPlugin* plugin, const char* message) {
  size_t i = 0;
  if (plugin->error == nullptr || plugin->error_size == 0) return;
  for (; message[i] != '\0' && i + 1 < plugin->error_size; ++i) plugin->error[i] = message[i];
  plugin->error[i] = '\0';
}

// Defines the entry point. `create` is a Status(const Span<const Option>*, Driver**). A host of
// another major gets the two numbers and nothing else: it then says what does not fit.
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
    plugin->create_driver = create;                                                             \
    return 0;                                                                                   \
  }
#endif
