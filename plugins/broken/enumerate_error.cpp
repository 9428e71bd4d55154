// Cannot list its devices and says why.
#include "tiny_driver.h"

HALYARD_TINY_PLUGIN("enumerate_error", TinyDriver::Behaviour{.enumerate_fails = true})
