// Not broken: a driver on a machine that has no device for it.
#include "tiny_driver.h"

HALYARD_TINY_PLUGIN("no_devices", TinyDriver::Behaviour{})
