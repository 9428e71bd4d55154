// Has no create_driver.
#include "plugins/plugin.h"

HALYARD_PLUGIN("null_create", "0.0", "has no create_driver", nullptr)
