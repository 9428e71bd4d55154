// Refuses the host, with a sentence.
#include "hal/contract/plugin.h"

extern "C" __attribute__((visibility("default"))) int halyard_plugin(const HalyardHost*,
                                                                     HalyardPlugin* plugin) {
  halyard_plugin_say(plugin, "The plugin wants a licence that is not there (42).");
  return 3;
}
