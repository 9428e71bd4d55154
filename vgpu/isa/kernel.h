// The kernel object's facts and the state that a wave of the kernel starts with (LLVM's
// AMDGPUUsage, "Kernel Descriptor" and "Initial Kernel Execution State"; for amd_kernel_code_t,
// amd_kernel_code.h).
#pragma once

#include <cstdint>

#include "vgpu/isa/engine.h"
#include "vgpu/isa/target.h"
#include "vgpu/isa/wave.h"

namespace halyard::vgpu::isa {

struct Kernel {
  uint64_t entry = 0;
  bool legacy = false;  // amd_kernel_code_t
  uint32_t rsrc1 = 0;
  uint32_t rsrc2 = 0;
  uint32_t rsrc3 = 0;
  uint32_t properties = 0;

  // Kernel arguments that the packet processor puts into user SGPRs.
  static constexpr uint32_t kMaximumPreload = 16;
  uint32_t preload_count = 0;
  uint32_t preload[kMaximumPreload] = {};

  uint16_t vgprs = 0;  // arch VGPRs of a wave
  uint16_t agprs = 0;
  uint16_t sgprs = 0;
  uint32_t registers() const { return vgprs + agprs; }
};

// Of a dispatch: what its descriptor or its registers say. On failure `fault` says why.
bool find_kernel(const AddressSpace& memory, const Target& target, const Dispatch& dispatch,
                 Kernel& kernel, Fault& fault);
// Reads the descriptor at `object`, but no kernel arguments. On failure `fault` says why.
bool read_kernel(const AddressSpace& memory, const Target& target, uint64_t object, Kernel& kernel,
                 Fault& fault);

// Where a wave sits in its grid.
struct WavePlace {
  uint32_t group[3] = {};       // work-group id
  uint32_t extent[3] = {};      // work-items of this work-group in each dimension: less at the edge
  uint32_t wave = 0;            // number in the work-group
  uint32_t wave_count = 0;      // of the work-group
  uint32_t scratch_offset = 0;  // of the wave's part of the program's private memory
  uint64_t scratch_base = 0;    // for FLAT_SCRATCH: where the wave's private memory is
};

// Sets registers, EXEC, MODE and pc. Pointers (vgpr, agpr, lds, scratch) are set already; the VGPRs
// are zeroed here.
void start_wave(const Kernel& kernel, const Target& target, const Dispatch& dispatch,
                const WavePlace& place, Wave& wave);

}  // namespace halyard::vgpu::isa
