// Crashes when it is asked for its devices, as the last of its steps.
#include "tiny_driver.h"

HALYARD_TINY_PLUGIN("crashes_in_enumerate", TinyDriver::Behaviour{.enumerate_crashes = true})
