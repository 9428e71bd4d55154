// How a GPU's L2 treats a page of memory. Pure functions.
//
// The page tables give each page a memory type (MTYPE). Which one follows from where the memory is
// and how it was allocated: Linux, amdgpu_amdkfd_gpuvm.c, get_pte_flags(); what each type means:
// LLVM AMDGPUUsage, "Memory Model" of GFX6-GFX9 and of GFX90A.
#pragma once

#include <cstdint>

namespace halyard::vgpu::coherence {

enum class Caching : uint8_t {
  // UC, and CC of gfx90a's own fine-grained memory: the L2 never holds what others could miss, nor
  // what they have changed. Fine-grained memory and kernel arguments.
  kUncached,
  // NC: written back by a release at system scope, dropped by an acquire at system scope.
  kNonCoherent,
  // RW of gfx90a's own coarse-grained memory: written back by a release at system scope, dropped
  // by the probe that each write from outside sends.
  kProbed,
};

// Where memory is, and how it was allocated.
struct Placement {
  uint32_t node = 0;  // whose memory: 0 for the host's
  bool coarse_grained = false;
  bool host_visible = false;  // the host may read and write it in place
  bool own_mapping = false;   // mapped by the GPU's memory manager, not by the program
  bool is_shared = false;     // another process may have it too, and use it by the same L2
};

// Whether the host accesses it through the PCI window, and only this process does.
constexpr bool has_window(const Placement& placement) {
  return placement.node != 0 && placement.host_visible && !placement.is_shared;
}

constexpr Caching caching(const Placement& placement, uint32_t node, bool is_gfx90a) {
  if (!placement.coarse_grained) return Caching::kUncached;
  return is_gfx90a && placement.node == node ? Caching::kProbed : Caching::kNonCoherent;
}

}  // namespace halyard::vgpu::coherence
