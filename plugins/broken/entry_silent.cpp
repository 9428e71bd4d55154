// Refuses the host without a word.
#include "hal/contract/plugin.h"

extern "C" __attribute__((visibility("default"))) int halyard_plugin(const HalyardHost*,
                                                                     HalyardPlugin*) {
  return -5;
}
