// Packing of a kernel's arguments into its kernarg segment, as the code object's metadata lays it
// out: the explicit ones from a Dispatch, the hidden ones from its shape and the queue.
//
// For drivers; not part of the ABI. A function's layout is worked out once, when the Function is
// made (ArgumentPlan), so that packing is a walk over a few words.
//
// Hidden arguments that Halyard cannot give (LLVM AMDGPUUsage, "Kernel Argument Metadata Map"):
//   hidden_multigrid_sync_arg  null: what HIP passes for a launch that is not cooperative.
//   hidden_printf_buffer       refused, unless the driver gives one (hal/hidden_buffers.h).
//   hidden_hostcall_buffer     likewise, or null where it is not used.
//   hidden_heap_v1             likewise.
//   hidden_default_queue       refused, or null where it is not used.
//   hidden_completion_action   likewise.
// LLVM lists each of the last four unless it has proved that the kernel does not use it. What tells
// otherwise: (1) the code object has none of the library functions that every host call and every
// device malloc goes through; CodeObject::read then reports the argument as kHiddenNone. (2) The
// kernel lists multigrid sync, default queue and completion action at once: the compiler proved
// nothing (-O0, a call through a pointer), so the list says nothing. A kernel that follows a null
// all the same faults, and the queue says so.
#pragma once

#include <cstdint>

#include "hal/dispatch.h"
#include "hal/executable.h"
#include "hal/types.h"

namespace halyard {

// The facts of the queue for hidden arguments; constant while it lives.
struct HiddenValues {
  uint64_t queue_address = 0;  // hidden_queue_ptr: the amd_queue_t that the packet goes to
  uint32_t private_base = 0;   // high half of the private aperture (amd_queue_t offset 68)
  uint32_t shared_base = 0;    // high half of the group aperture (amd_queue_t offset 64)
};

// The number of dimensions of the AQL packet and of hidden_grid_dims: 1, 2 or 3.
constexpr uint32_t grid_dimensions(const Dim3& grid) noexcept {
  return grid.z > 1 ? 3 : grid.y > 1 ? 2 : 1;
}

// LDS of a work-group, in bytes, for the packet's group segment size: static LDS, then
// Dispatch::dynamic_lds_bytes, then the LDS arguments, each with its alignment.
uint32_t lds_bytes(const Dispatch& dispatch) noexcept;

// Writes the kernarg segment, FunctionInfo::kernarg_size bytes, to `kernarg`: each byte at most
// once and in any order, without reading (the memory can be write-combined). Bytes that no argument
// covers stay unchanged. The dispatch has been validated. For an argument that names a binding
// slot, only the offset is packed: add the binding's address at ArgumentInfo::offset. Returns
// lds_bytes().
uint32_t pack_kernel_arguments(const Dispatch& dispatch, const HiddenValues& hidden,
                               void* kernarg) noexcept;

}  // namespace halyard
