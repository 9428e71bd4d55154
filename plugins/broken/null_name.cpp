// Has no name.
#include "hal/driver.h"
#include "plugins/plugin.h"

HALYARD_PLUGIN(nullptr, "0.0", "has no name", nullptr)
