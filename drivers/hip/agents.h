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

// Whether the memory at `pointer`, which no host has, is the GPU's. `device` is what HIP says of it
// (hipPointerGetAttributes), and counts only if the HSA runtime says nothing: HIP 5.2.3 takes
// global variables of every device for the first one's (hip::DeviceVar sets no device).
bool owns_memory(const Hip& hip, const GpuFacts& gpu, const void* pointer, int device);

// OK if the HIP library, with the HSA runtime below it, exports and imports dma-bufs; else
// UNIMPLEMENTED with the reason. Once HIP runs.
Status check_has_dmabufs(const Hip& hip);

// Whether the GPU can map the dma-buf of a descriptor. HIP 5.7 and 6.4 free memory that is not
// theirs when they import one that it cannot map.
bool can_map_dmabuf(const Hip& hip, const GpuFacts& gpu, int descriptor);

// Device::read_clocks. UNIMPLEMENTED if there is no HSA runtime below HIP that tells.
Status read_clocks(const Hip& hip, const GpuFacts& gpu, ClockReading* reading);

}  // namespace halyard::hip
