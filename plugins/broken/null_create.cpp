// Has no create_driver.
#include "hal/contract/plugin.h"

extern "C" __attribute__((visibility("default"))) int halyard_plugin(const HalyardHost*,
                                                                     HalyardPlugin* plugin) {
  plugin->abi_major = HALYARD_ABI_MAJOR;
  plugin->abi_minor = HALYARD_ABI_MINOR;
  plugin->name = "null_create";
  plugin->create_driver = nullptr;
  return 0;
}
