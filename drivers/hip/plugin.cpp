// The plugin's one exported function.
#include "plugins/plugin.h"

#include "drivers/hip/driver.h"

HALYARD_PLUGIN(halyard::hip::kDriverName, halyard::hip::kDriverVersion,
               halyard::hip::kDriverDescription, &halyard::hip::DriverImpl::create)
