// The host's view of a page whose newest bytes are only in a GPU's cache.
//
// Nothing reports the host's loads and stores. So the model removes access to such a page
// (PROT_NONE) when the dispatch that wrote it ends. It restores access when the bytes are released,
// or when the page is accessed: the host's access raises a signal, is checked, and continues. The
// GPU's own accesses restore access beforehand, or by the same signal without a finding.
//
// A system call that gets such a page fails with EFAULT (for example read(2) into it).
#pragma once

#include <cstdint>

#include "vgpu/coherence/shadow.h"

namespace halyard::vgpu::coherence {

class Model;

// Pages may be taken if the GPU's memory manager mapped them: what the program registered is its
// own to protect.
inline bool may_guard(const ShadowPage& page) {
  return page.allocation.placement.host_visible && page.allocation.placement.own_mapping;
}

// Takes the page from the process; false if the system does not let it.
bool guard_page(ShadowPage& page);
// Gives it back, if it was taken.
void open_page(ShadowPage& page);

// Checks this process's accesses to protected pages of `model`. Call it once in a process; `model`
// lives forever.
void watch_host(Model& model);

}  // namespace halyard::vgpu::coherence
