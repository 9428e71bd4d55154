// Images are not implemented, but the runtime reports them, because its facts of gfx9 are built in.
// Hooks in its tools interface (runtime_hooks.cpp) let image calls fail. Devices still report
// images: without them, HIP 5.2.3 refuses hipMallocPitch.
#pragma once

#include "vgpu/machine/api_table.h"

namespace halyard::vgpu::machine {

// Puts functions into the runtime's table. Once for each table, before the runtime is used.
void hide_images(HsaApiTable& table);

}  // namespace halyard::vgpu::machine
