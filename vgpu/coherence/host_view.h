// The host's view of memory: which of its loads and stores the check hears of.
//
// Nothing reports the host's accesses. So the model takes rights to a page from the process:
//
//   - all of them (PROT_NONE), when a dispatch ends and the page's newest bytes are only in a GPU's
//     cache, until they are released;
//   - the right to write (PROT_READ), from memory of a GPU that the host reaches through the PCI
//     window, so that the check learns whose code stores there.
//
// The host's access then raises a signal, is looked at, and continues. GPUs' own accesses restore
// the rights beforehand, or by the same signal without a look.
//
// A system call that gets such a page fails with EFAULT (for example read(2) into it).
#pragma once

#include <cstdint>

#include "vgpu/coherence/shadow.h"

namespace halyard::vgpu::coherence {

class Model;

// Pages may be taken if the GPU's memory manager mapped them: what the program registered is its
// own to protect.
inline bool may_take(const ShadowPage& page) {
  return page.allocation.placement.host_visible && page.allocation.placement.own_mapping;
}

// Changes the process's rights to a page, or to memory. False if the system does not let it.
bool set_rights(ShadowPage& page, HostRights rights);
bool set_rights(uint64_t begin, uint64_t size, HostRights rights);

// Checks this process's accesses to taken pages of `model`. Call it once in a process; `model`
// lives forever.
void watch_host(Model& model);

}  // namespace halyard::vgpu::coherence
