// Works until it is asked for its devices.
#include "tiny_driver.h"

HALYARD_TINY_PLUGIN("enumerate_throws", TinyDriver::Behaviour{.enumerate_throws = true})
