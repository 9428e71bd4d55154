// Was built against a HalyardPlugin that had fewer fields.
#include <cstddef>

#include "hal/contract/plugin.h"

extern "C" __attribute__((visibility("default"))) int halyard_plugin(const HalyardHost*,
                                                                     HalyardPlugin* plugin) {
  plugin->struct_size = offsetof(HalyardPlugin, create_driver);
  plugin->abi_major = HALYARD_ABI_MAJOR;
  plugin->abi_minor = HALYARD_ABI_MINOR;
  plugin->name = "bad_struct";
  return 0;
}
