// HIP waits for a GPU by looking at a signal without a pause (hip_context.cpp: SetActiveWait(true)
// for every device), because the GPU does not need the core that it looks on. The virtual GPU does:
// half of a process's time would go into the looks. The hint of an HSA wait says no more than how
// long it is expected to take, so hooks in the runtime's tools interface (runtime_hooks.cpp) let
// such waits sleep. The runtime then looks for its first 200 us, and sleeps until the event.
#pragma once

#include "vgpu/machine/api_table.h"

namespace halyard::vgpu::machine {

// Puts functions into the runtime's table. Once for each table, before the runtime is used.
void let_waits_sleep(HsaApiTable& table);

}  // namespace halyard::vgpu::machine
