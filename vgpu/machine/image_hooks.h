// Images are not built yet, and the runtime reports them all the same: what it says of gfx9 is
// written into it. Through its tools interface (runtime_hooks.cpp) what asks for an image is
// refused. Devices go on to report them: without, HIP 5.2.3 refuses hipMallocPitch.
#pragma once

// The header finds its neighbours beside itself only with this name.
#define AMD_INTERNAL_BUILD
#include <hsa/hsa_api_trace.h>

namespace halyard::vgpu::machine {

// Puts functions into the runtime's table. Once for each table, before the runtime is used.
void hide_images(HsaApiTable& table);

}  // namespace halyard::vgpu::machine
