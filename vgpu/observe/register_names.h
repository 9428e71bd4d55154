// Registers as the assembler writes them.
#pragma once

#include <string>

#include "vgpu/observe/effects.h"

namespace halyard::vgpu::observe {

// "v3", "a3", "s3", "vcc_lo".
std::string register_name(RegisterFile file, unsigned index);

}  // namespace halyard::vgpu::observe
