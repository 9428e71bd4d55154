// How a GPU's L2 treats a page of memory. Pure functions.
//
// The page tables give each page a memory type (MTYPE). Which one follows from where the memory is
// and how it was allocated: Linux, amdgpu_amdkfd_gpuvm.c, get_pte_flags(); what each type means:
// LLVM AMDGPUUsage, "Memory Model" of GFX6-GFX9, of GFX90A and of GFX942; for gfx942 also Linux,
// gmc_v9_0.c, gmc_v9_0_get_coherence_flags(). The Infinity Cache of gfx942 is in front of memory,
// behind all L2s: it holds nothing that one of them could miss.
#pragma once

#include <cstdint>

namespace halyard::vgpu::coherence {

enum class Caching : uint8_t {
  // UC, and CC of gfx90a's own fine-grained memory: the L2 never holds what others could miss, nor
  // what they have changed. Fine-grained memory and kernel arguments; on gfx942 the host's memory
  // behind PCIe.
  kUncached,
  // NC: written back by a release at system scope, dropped by an acquire at system scope.
  kNonCoherent,
  // RW of gfx90a's own coarse-grained memory and of gfx942's own memory: written back by a release
  // at system scope, dropped by the probe that each write from outside sends.
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

// How a GPU's processor and its place treat memory.
struct CachingFacts {
  bool probes_own = false;          // its own memory is RW
  bool holds_fine_grained = false;  // also where it is fine-grained
  bool host_is_uncached = false;    // the host's memory is UC
  bool host_is_own = false;         // the host's memory is its own: an APU
};

constexpr Caching caching(const Placement& placement, uint32_t node, const CachingFacts& facts) {
  const bool is_own = placement.node == node || (placement.node == 0 && facts.host_is_own);
  if (placement.node == 0 && facts.host_is_uncached) return Caching::kUncached;
  if (!placement.coarse_grained && !(is_own && facts.holds_fine_grained)) return Caching::kUncached;
  return is_own && facts.probes_own ? Caching::kProbed : Caching::kNonCoherent;
}

}  // namespace halyard::vgpu::coherence
