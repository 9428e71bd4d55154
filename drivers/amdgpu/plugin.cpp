// The plugin's one exported function.
#include "hal/contract/plugin.h"

#include "drivers/amdgpu/driver.h"

HALYARD_PLUGIN(halyard::amdgpu::kDriverName, halyard::amdgpu::kDriverVersion,
               halyard::amdgpu::kDriverDescription, &halyard::amdgpu::DriverImpl::create)
