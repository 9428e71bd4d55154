// Never comes back from opening the first of its two devices.
#include "tiny_driver.h"

HALYARD_TINY_PLUGIN("hangs_in_open", (TinyDriver::Behaviour{.open_hangs = true, .devices = 2}))
