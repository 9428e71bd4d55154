// The host's side of a page whose newest bytes only a GPU's cache has.
//
// Nothing tells of a load or a store of the host's. So such a page is taken from the process
// (PROT_NONE) when the dispatch that wrote it ends, and given back when its bytes are released, or
// when somebody touches it: the host's access comes as a signal, is looked at, and goes on. The
// GPU's own accesses give it back beforehand, or by the same signal without a finding.
//
// A system call that is handed such a page fails with EFAULT instead (read(2) into it, say).
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

// Has accesses of this process to taken pages of `model` looked at. Once in a process; `model`
// lives for ever.
void watch_host(Model& model);

}  // namespace halyard::vgpu::coherence
