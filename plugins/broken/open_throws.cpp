// Lists three devices. Opening the first throws, the second gives nothing, and the third says which
// options it was given.
#include "tiny_driver.h"

HALYARD_TINY_PLUGIN("open_throws", TinyDriver::Behaviour{.devices = 3})
