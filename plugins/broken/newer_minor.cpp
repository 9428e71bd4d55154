// Not broken: newer than the host by some minor versions, which both sides can live with.
#include "tiny_driver.h"

extern "C" __attribute__((visibility("default"))) int halyard_plugin(const HalyardHost*,
                                                                     HalyardPlugin* plugin) {
  plugin->abi_major = HALYARD_ABI_MAJOR;
  plugin->abi_minor = HALYARD_ABI_MINOR + 9;
  plugin->name = "newer_minor";
  plugin->version = nullptr;
  plugin->description = nullptr;
  plugin->create_driver = [](HalyardOptions, HalyardDriver** driver) -> HalyardStatus* {
    *driver = (new TinyDriver({}))->contract();
    return nullptr;
  };
  return 0;
}
