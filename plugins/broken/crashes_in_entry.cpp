// Executes an instruction that there is not, in its entry point.
#include "hal/contract/plugin.h"

extern "C" __attribute__((visibility("default"))) int halyard_plugin(const HalyardHost*,
                                                                     HalyardPlugin*) {
  __builtin_trap();
}
