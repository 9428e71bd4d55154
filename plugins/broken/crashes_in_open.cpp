// Ends the process that opens the first of its two devices.
#include "tiny_driver.h"

HALYARD_TINY_PLUGIN("crashes_in_open", (TinyDriver::Behaviour{.open_crashes = true, .devices = 2}))
