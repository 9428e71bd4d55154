// Calls a function that nobody has.
#include "hal/driver.h"
#include "plugins/plugin.h"

extern "C" int halyard_test_function_that_nobody_has();

extern "C" __attribute__((visibility("default"))) int halyard_plugin(const HalyardHost*,
                                                                     HalyardPlugin*) {
  return halyard_test_function_that_nobody_has();
}
