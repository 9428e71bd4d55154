// The plugin's one exported function.
#include "hal/contract/plugin.h"

#include "drivers/hip/driver.h"

HALYARD_PLUGIN(halyard::hip::kDriverName, halyard::hip::kDriverVersion,
               halyard::hip::kDriverDescription, &halyard::hip::DriverImpl::create)
