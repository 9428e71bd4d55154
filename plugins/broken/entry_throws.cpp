// Throws from the entry point.
#include <stdexcept>

#include "hal/contract/plugin.h"

extern "C" __attribute__((visibility("default"))) int halyard_plugin(const HalyardHost*,
                                                                     HalyardPlugin*) {
  throw std::runtime_error("the entry point does not feel well");
}
