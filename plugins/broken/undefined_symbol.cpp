// Calls a function that nobody has.
#include "hal/contract/plugin.h"
#include "hal/driver.h"

extern "C" int halyard_test_function_that_nobody_has();

extern "C" __attribute__((visibility("default"))) int halyard_plugin(const HalyardHost*,
                                                                     HalyardPlugin*) {
  return halyard_test_function_that_nobody_has();
}
