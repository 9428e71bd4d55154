// Throws from create_driver, and not even a std::exception. HALYARD_PLUGIN would have caught it.
#include "hal/contract/plugin.h"

extern "C" __attribute__((visibility("default"))) int halyard_plugin(const HalyardHost*,
                                                                     HalyardPlugin* plugin) {
  plugin->abi_major = HALYARD_ABI_MAJOR;
  plugin->abi_minor = HALYARD_ABI_MINOR;
  plugin->name = "create_throws";
  plugin->create_driver = [](HalyardOptions, HalyardDriver**) -> HalyardStatus* { throw 42; };
  return 0;
}
