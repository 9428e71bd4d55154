// Speaks an ABI that this host does not.
#include "hal/contract/plugin.h"

extern "C" __attribute__((visibility("default"))) int halyard_plugin(const HalyardHost*,
                                                                     HalyardPlugin* plugin) {
  plugin->abi_major = 42;
  plugin->abi_minor = 7;
  // What else a later major may put here: nothing of it may be looked at.
  plugin->name = reinterpret_cast<const char*>(1);
  return 0;
}
