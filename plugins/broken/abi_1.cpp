// Was built for the contract's first major version: answers as its HALYARD_PLUGIN did.
#include "hal/contract/driver.h"

extern "C" __attribute__((visibility("default"))) int halyard_plugin(const HalyardHost* host,
                                                                     HalyardPlugin* plugin) {
  plugin->abi_major = 1;
  plugin->abi_minor = 3;
  return host->abi_major == 1 ? 1 : 0;
}
