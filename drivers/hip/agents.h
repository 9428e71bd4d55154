// The HSA agents below HIP's devices, for what only the HSA runtime tells.
#pragma once

#include <optional>
#include <string>

#include "drivers/hip/facts.h"
#include "drivers/hip/hip.h"
#include "hal/device.h"

namespace halyard::hip {

// As GpuFacts::pci has it; empty if the runtime does not say.
std::string pci_of(const Hip& hip, hsa_agent_t agent);

// Device::read_clocks. UNIMPLEMENTED if there is no HSA runtime below HIP that tells.
Status read_clocks(const Hip& hip, const GpuFacts& gpu, ClockReading* reading);

}  // namespace halyard::hip
